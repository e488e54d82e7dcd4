import { settableTimes, stepKinds } from '@gantry/contract/incident-states';
import type { Incident } from '@gantry/contract/incidents';
import type { PlanStep } from '@gantry/contract/plan-steps';
import type { Plan } from '@gantry/contract/plans';
import { incidentTypes, severities } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField } from '../../../ui/select.tsx';

interface PlanDialogProps {
  /** null for a new one. */
  readonly plan: Plan | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A step in the form: its key stays, so that steps that are done stay done in later versions. */
interface Draft {
  readonly key: string;
  readonly step: PlanStep | null;
}

function newKey(drafts: readonly Draft[]): string {
  for (let n = drafts.length + 1; ; n++)
    if (!drafts.some(({ key }) => key === `step-${n}`)) return `step-${n}`;
}

/** A form for a response plan and its steps. */
export function PlanDialog({ plan, onClose, onSaved }: PlanDialogProps) {
  const { t } = useTranslation(['administration', 'common']);
  const [drafts, setDrafts] = useState<readonly Draft[]>(
    plan?.steps.map((step) => ({ key: step.key, step })) ?? [{ key: 'step-1', step: null }],
  );
  const form = useForm({
    keep: `plan ${plan?.id ?? ''}`,
    read: (entered) => ({
      name: entered.text('name'),
      incidentTypes: incidentTypes.filter((type) => entered.checked(`type.${type}`)),
      minSeverity: entered.text('minSeverity') as Incident['severity'],
      roads: entered
        .text('roads')
        .split(/[,،]/)
        .map((road) => road.trim())
        .filter((road) => road !== ''),
      isEnabled: entered.checked('isEnabled'),
      steps: drafts.map(({ key }, at) => readStep(entered, key, at)),
    }),
    save: async (fields) => {
      if (plan === null) await api.plans.create.mutate(fields);
      else await api.plans.update.mutate({ id: plan.id, expectedVersion: plan.version, ...fields });
    },
    onSuccess: onSaved,
  });
  return (
    <FormDialog
      title={plan === null ? t('plans.create') : t('plans.edit', { name: plan.name })}
      form={form}
      onClose={onClose}
      width="wide"
    >
      <Field
        label={t('plans.name')}
        name="name"
        defaultValue={plan?.name}
        maxLength={100}
        required
        autoFocus
        error={form.errorOf('name')}
      />
      <fieldset className="flex flex-wrap gap-x-4 gap-y-1">
        <legend className="text-sm text-muted">{t('plans.types')}</legend>
        {incidentTypes.map((type) => (
          <Check
            key={type}
            name={`type.${type}`}
            label={t(`common:incidentTypes.${type}`)}
            isChecked={plan?.incidentTypes.includes(type) ?? false}
          />
        ))}
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-2">
        <ChoiceField
          label={t('plans.minSeverity')}
          name="minSeverity"
          defaultValue={plan?.minSeverity ?? 'LOW'}
          options={severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))}
        />
        <Field
          label={t('plans.roads')}
          name="roads"
          defaultValue={plan?.roads.join(', ') ?? ''}
          hint={t('plans.roadsHint')}
          error={form.errorOf('roads')}
        />
      </div>
      <Check name="isEnabled" label={t('plans.enabled')} isChecked={plan?.isEnabled ?? true} />
      <ol className="flex flex-col gap-3">
        {drafts.map((draft, at) => (
          <StepFields
            key={draft.key}
            draft={draft}
            at={at}
            errorOf={form.errorOf}
            onRemove={
              drafts.length > 1 ? () => setDrafts(drafts.filter(({ key }) => key !== draft.key)) : null
            }
          />
        ))}
      </ol>
      <Button
        icon="add"
        className="self-start"
        onClick={() => setDrafts([...drafts, { key: newKey(drafts), step: null }])}
      >
        {t('plans.addStep')}
      </Button>
    </FormDialog>
  );
}

function readStep(entered: Entered, key: string, at: number): PlanStep {
  const field = (name: string) => `steps.${at}.${name}`;
  const kind = entered.text(field('kind')) as PlanStep['kind'];
  return {
    key,
    text: entered.text(field('text')),
    kind,
    agencyId: entered.textOrNull(field('agencyId')),
    // Only such steps set a time; what is chosen for another one has no effect.
    sets: kind === 'RECORD_TIME' ? (entered.textOrNull(field('sets')) as PlanStep['sets']) : null,
    required: entered.checked(field('required')),
    dueMinutes: entered.numberOrNull(field('dueMinutes')),
  };
}

interface CheckProps {
  readonly name: string;
  readonly label: string;
  readonly isChecked: boolean;
}

function Check({ name, label, isChecked }: CheckProps) {
  return (
    <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
      <input type="checkbox" name={name} defaultChecked={isChecked} className="size-4 accent-accent" />
      {label}
    </label>
  );
}

interface StepFieldsProps {
  readonly draft: Draft;
  readonly at: number;
  readonly errorOf: (path: string) => string | undefined;
  readonly onRemove: (() => void) | null;
}

function StepFields({ draft: { step }, at, errorOf, onRemove }: StepFieldsProps) {
  const { t } = useTranslation('administration');
  const { data } = useQuery(service.agencies.getAll.queryOptions({}));
  const field = (name: string) => ({ name: `steps.${at}.${name}`, error: errorOf(`steps.${at}.${name}`) });
  const choice = (name: string) => `steps.${at}.${name}`;
  const wrong = errorOf(choice('agencyId')) ?? errorOf(choice('sets'));
  return (
    <li aria-label={t('plans.step', { n: at + 1 })} className="flex flex-col gap-2 rounded-md border p-2">
      <div className="flex items-end gap-2">
        <Field
          {...field('text')}
          label={`${at + 1}. ${t('plans.text')}`}
          defaultValue={step?.text}
          maxLength={500}
          required
          className="grow"
        />
        {onRemove && (
          <Button
            kind="quiet"
            icon="delete"
            iconOnly
            aria-label={t('plans.removeStep', { n: at + 1 })}
            onClick={onRemove}
          />
        )}
      </div>
      <div className="grid gap-2 sm:grid-cols-4">
        <ChoiceField
          label={t('plans.kind')}
          name={choice('kind')}
          defaultValue={step?.kind ?? 'DO'}
          options={stepKinds.map((value) => ({ value, label: t(`plans.kinds.${value}`) }))}
        />
        <ChoiceField
          label={t('plans.agency')}
          name={choice('agencyId')}
          defaultValue={step?.agencyId ?? ''}
          options={[
            { value: '', label: t('plans.noAgency') },
            ...(data?.agencies ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <ChoiceField
          label={t('plans.sets')}
          name={choice('sets')}
          defaultValue={step?.sets ?? ''}
          options={[
            { value: '', label: t('plans.noAgency') },
            ...settableTimes.map((value) => ({ value, label: t(`plans.times.${value}`) })),
          ]}
        />
        <Field
          {...field('dueMinutes')}
          label={t('plans.dueMinutes')}
          defaultValue={step?.dueMinutes ?? ''}
          inputMode="numeric"
        />
      </div>
      <Check name={choice('required')} label={t('plans.required')} isChecked={step?.required ?? false} />
      {wrong !== undefined && <p className="text-sm text-critical">{wrong}</p>}
    </li>
  );
}
