import type { AlarmTarget, Policy, PolicyStep } from '@gantry/contract/alarms';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { ChoiceField, Select } from '../../../ui/select.tsx';
import { Chosen } from './chosen.tsx';
import { idOf, type Targets, targetOf } from './targets.ts';

type Steps = readonly PolicyStep[];

function read(entered: Entered, steps: Steps) {
  const number = (name: string) => entered.numberOrNull(name) ?? Number.NaN;
  return {
    name: entered.text('name'),
    steps: steps.map(({ to }, n) => ({
      to,
      afterMinutes: n === 0 ? 0 : number(`steps.${n}.afterMinutes`),
      whileNot: (entered.textOrNull(`steps.${n}.whileNot`) ?? 'ACKNOWLEDGED') as PolicyStep['whileNot'],
    })),
    groupWaitSeconds: number('groupWaitSeconds'),
    groupIntervalSeconds: number('groupIntervalSeconds'),
    repeatMinutes: number('repeatMinutes'),
    notifyClear: entered.checked('notifyClear'),
  };
}

interface PolicyDialogProps {
  /** The policy to change; absent: a new one. */
  readonly policy?: Policy | undefined;
  readonly targets: Targets;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** A dialog that adds or changes a policy: who is told of alarms, in steps. */
export function PolicyDialog({ policy, targets, onClose, onSaved }: PolicyDialogProps) {
  const { t } = useTranslation('administration');
  const [chosen, setSteps] = useState<Steps | null>(policy?.steps ?? null);
  // Where there is one channel with recipients, it is the one that is meant, also if it is read only now.
  const steps = chosen ?? [newStep(0, targets.only ? [targets.only] : [])];
  const form = useForm({
    keep: null,
    read: (entered) => read(entered, steps),
    save: (input) =>
      policy ? api.policies.update.mutate({ id: policy.id, ...input }) : api.policies.create.mutate(input),
    onSuccess: onSaved,
  });
  const { errorOf } = form;
  const last = steps.at(-1);
  return (
    <FormDialog
      title={policy ? t('policies.edit') : t('policies.create')}
      form={form}
      onClose={onClose}
      width="wide"
    >
      <Field
        label={t('channels.name')}
        name="name"
        defaultValue={policy?.name}
        error={errorOf('name')}
        maxLength={100}
        required
      />
      {steps.map((step, n) => (
        <StepFields
          // biome-ignore lint/suspicious/noArrayIndexKey: steps are only added and removed at the end
          key={n}
          {...{ n, step, targets, errorOf }}
          onChange={(to) => setSteps(steps.map((each, at) => (at === n ? { ...each, to } : each)))}
        />
      ))}
      <div className="flex gap-2">
        <Button icon="add" onClick={() => setSteps([...steps, newStep((last?.afterMinutes ?? 0) + 10, [])])}>
          {t('policies.addStep')}
        </Button>
        {steps.length > 1 && (
          <Button icon="less" onClick={() => setSteps(steps.slice(0, -1))}>
            {t('policies.removeStep')}
          </Button>
        )}
      </div>
      {errorOf('steps') && <p className="text-sm text-critical">{errorOf('steps')}</p>}
      <details className="rounded-md border p-3">
        <summary className="cursor-pointer pointer-coarse:min-h-11">{t('policies.more')}</summary>
        <div className="mt-3 grid gap-3 sm:grid-cols-3">
          {(
            [
              ['groupWaitSeconds', policy?.groupWaitSeconds ?? 10],
              ['groupIntervalSeconds', policy?.groupIntervalSeconds ?? 300],
              ['repeatMinutes', policy?.repeatMinutes ?? 240],
            ] as const
          ).map(([name, value]) => (
            <Field
              key={name}
              label={t(`policies.${name}`)}
              name={name}
              inputMode="numeric"
              dir="ltr"
              defaultValue={value}
              error={errorOf(name)}
              required
            />
          ))}
        </div>
      </details>
      <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
        <input
          type="checkbox"
          name="notifyClear"
          defaultChecked={policy?.notifyClear ?? true}
          className="size-4 accent-accent"
        />
        {t('policies.notifyClear')}
      </label>
    </FormDialog>
  );
}

function newStep(afterMinutes: number, to: AlarmTarget[]): PolicyStep {
  return { afterMinutes, to, whileNot: 'ACKNOWLEDGED' };
}

interface StepFieldsProps {
  readonly n: number;
  readonly step: PolicyStep;
  readonly targets: Targets;
  readonly onChange: (to: AlarmTarget[]) => void;
  readonly errorOf: (path: string) => string | undefined;
}

function StepFields({ n, step, targets, onChange, errorOf }: StepFieldsProps) {
  const { t } = useTranslation('administration');
  const { to, afterMinutes, whileNot } = step;
  return (
    <fieldset className="flex flex-col gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm text-muted">
        {n === 0 ? t('policies.first') : t('policies.step', { n: n + 1 })}
      </legend>
      {n > 0 && (
        <div className="grid gap-3 sm:grid-cols-2">
          <Field
            label={t('policies.afterMinutes')}
            name={`steps.${n}.afterMinutes`}
            inputMode="numeric"
            dir="ltr"
            defaultValue={afterMinutes}
            error={errorOf(`steps.${n}.afterMinutes`)}
            required
          />
          <ChoiceField
            label={t('policies.whileNot')}
            name={`steps.${n}.whileNot`}
            defaultValue={whileNot}
            options={(['ACKNOWLEDGED', 'CLEARED'] as const).map((value) => ({
              value,
              label: t(`policies.whileNots.${value}`),
            }))}
          />
        </div>
      )}
      <Chosen
        label={t('policies.told')}
        items={to.map((target) => ({ id: idOf(target), name: targets.nameOf(target) }))}
        onRemove={(id) => onChange(to.filter((target) => idOf(target) !== id))}
        error={errorOf(`steps.${n}.to`)}
      >
        <Select
          label={t('policies.addTarget')}
          hideLabel
          value=""
          options={[
            { value: '', label: t('policies.addTarget') },
            ...targets.options.filter(({ value }) => !to.some((target) => idOf(target) === value)),
          ]}
          onChange={(id) => id !== '' && onChange([...to, targetOf(id)])}
        />
      </Chosen>
    </fieldset>
  );
}
