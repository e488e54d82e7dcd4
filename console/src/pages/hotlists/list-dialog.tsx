import { hotlistImportModes, hotlistTolerances, hotlistVerifications } from '@gantry/contract/hit-values';
import type { Hotlist, HotlistSource } from '@gantry/contract/hotlists';
import { roles, severities } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { changesOf, useSeen } from '../../shared/form/seen.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField, Select } from '../../ui/select.tsx';

const sourceTypes = ['NONE', 'FOLDER', 'URL'] as const;

function read(entered: Entered) {
  return {
    name: entered.text('name'),
    purpose: entered.textOrNull('purpose'),
    priority: entered.text('priority') as Hotlist['priority'],
    ownerId: entered.text('ownerId') || undefined,
    covert: entered.checked('covert'),
    visibleTo: roles.filter((role) => entered.checked(`visibleTo ${role}`)),
    verification: entered.text('verification') as Hotlist['verification'],
    minConfidence: entered.numberOrNull('minConfidence'),
    tolerance: entered.text('tolerance') as Hotlist['tolerance'],
    maxDifferences: entered.numberOrNull('maxDifferences') ?? 1,
    repeatMinutes: entered.numberOrNull('repeatMinutes') ?? 0,
    hitDays: entered.numberOrNull('hitDays'),
    staleAfterHours: entered.numberOrNull('staleAfterHours'),
    source: readSource(entered),
    isActive: entered.checked('isActive'),
  };
}

function readSource(entered: Entered): HotlistSource | null {
  const type = entered.text('source.type');
  const mode = entered.text('source.mode') as HotlistSource['mode'];
  if (type !== 'FOLDER' && type !== 'URL') return null;
  const publicKey = entered.textOrNull('source.publicKey') ?? undefined;
  if (type === 'FOLDER') return { type, mode, publicKey };
  const everyMinutes = entered.numberOrNull('source.everyMinutes') ?? 60;
  return { type, mode, url: entered.text('source.url'), everyMinutes, publicKey };
}

/** The fields of a list that the form compares: `ownerId` as it is sent. */
function factsOf(list: Hotlist) {
  return {
    ...list,
    ownerId: list.owner.id,
    visibleTo: roles.filter((role) => list.visibleTo.includes(role)),
  };
}

interface ListDialogProps {
  /** The list to change; absent: a new one. */
  readonly list?: Hotlist;
  readonly onClose: () => void;
  readonly onSaved: (list: Hotlist) => void;
}

/** The settings of a list. */
export function ListDialog({ list: given, onClose, onSaved }: ListDialogProps) {
  const { t } = useTranslation(['hotlists', 'common']);
  const client = useQueryClient();
  const { before: list, refuseUnseen } = useSeen(given && factsOf(given), async () =>
    factsOf(await api.hotlists.getById.query({ id: given?.id ?? '' })),
  );
  const form = useForm({
    keep: given ? `hotlist ${given.id}` : 'new hotlist',
    read,
    save: async (input) => {
      if (!list) return api.hotlists.create.mutate(input);
      // Without the right to name another owner, the form has no field for it.
      const changes = changesOf(list, { ...input, ownerId: input.ownerId ?? list.ownerId });
      await refuseUnseen(changes);
      return api.hotlists.update.mutate({ id: list.id, ...changes });
    },
    onSuccess: async (saved) => {
      await client.invalidateQueries({ queryKey: service.hotlists.pathKey() });
      onSaved(saved);
    },
  });
  return (
    <FormDialog
      title={t(list ? 'settings.title' : 'new')}
      form={form}
      onClose={onClose}
      action={list ? undefined : t('create')}
      width="wide"
    >
      <Field
        label={t('fields.name')}
        name="name"
        maxLength={100}
        defaultValue={list?.name}
        error={form.errorOf('name')}
        required
        autoFocus
      />
      <Field
        label={t('fields.purpose')}
        name="purpose"
        lines={2}
        maxLength={1_000}
        defaultValue={list?.purpose ?? ''}
        error={form.errorOf('purpose')}
      />
      <RuleFields list={list} errorOf={form.errorOf} />
      <AccessFields list={list} errorOf={form.errorOf} />
      <SourceFields source={list?.source ?? null} errorOf={form.errorOf} />
      <Check name="isActive" label={t('fields.isActive')} isChecked={list?.isActive ?? true} />
    </FormDialog>
  );
}

interface FieldsProps {
  readonly list: Hotlist | undefined;
  readonly errorOf: (path: string) => string | undefined;
}

/** Which reads hit the list, and who has to look at them. */
function RuleFields({ list, errorOf }: FieldsProps) {
  const { t } = useTranslation(['hotlists', 'common']);
  const number = (
    name: 'maxDifferences' | 'repeatMinutes' | 'minConfidence' | 'hitDays' | 'staleAfterHours',
  ) => ({
    label: t(`fields.${name}`),
    name,
    inputMode: 'numeric' as const,
    error: errorOf(name),
  });
  return (
    <fieldset className="grid items-start gap-3 sm:grid-cols-2">
      <legend className="sr-only">{t('settings.rules')}</legend>
      <ChoiceField
        label={t('fields.priority')}
        name="priority"
        defaultValue={list?.priority ?? 'MEDIUM'}
        options={severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))}
      />
      <Field
        {...number('repeatMinutes')}
        hint={t('settings.repeatHint')}
        defaultValue={list?.repeatMinutes ?? 10}
      />
      <ChoiceField
        label={t('fields.verification')}
        name="verification"
        defaultValue={list?.verification ?? 'ALWAYS'}
        options={hotlistVerifications.map((value) => ({ value, label: t(`verifications.${value}`) }))}
      />
      <Field
        {...number('minConfidence')}
        hint={t('settings.confidenceHint')}
        defaultValue={list?.minConfidence ?? ''}
      />
      <ChoiceField
        label={t('fields.tolerance')}
        name="tolerance"
        defaultValue={list?.tolerance ?? 'EXACT'}
        options={hotlistTolerances.map((value) => ({ value, label: t(`tolerances.${value}`) }))}
      />
      <Field
        {...number('maxDifferences')}
        hint={t('settings.differencesHint')}
        defaultValue={list?.maxDifferences ?? 1}
      />
      <Field {...number('hitDays')} hint={t('settings.forever')} defaultValue={list?.hitDays ?? ''} />
      <Field
        {...number('staleAfterHours')}
        hint={t('settings.never')}
        defaultValue={list?.staleAfterHours ?? ''}
      />
    </fieldset>
  );
}

/** Who sees the list and its hits. */
function AccessFields({ list, errorOf }: FieldsProps) {
  const { t } = useTranslation(['hotlists', 'common']);
  const mayFindUsers = useMay('manageUsers');
  const [isCovert, setCovert] = useState(list?.covert ?? false);
  const find = async (search: string) => {
    const { users } = await api.users.getAll.query({ search, take: 20, sortBy: 'firstName' });
    return users.map(({ id, firstName, lastName, email }) => ({
      value: id,
      label: `${firstName} ${lastName} · ${email}`,
    }));
  };
  const nameOf = async (id: string) => {
    const { firstName, lastName } = await api.users.getById.query({ id });
    return `${firstName} ${lastName}`;
  };
  return (
    <div className="flex flex-col gap-2">
      {mayFindUsers && (
        <LookUpField
          label={t('fields.owner')}
          name="ownerId"
          defaultValue={list?.owner.id ?? null}
          error={errorOf('ownerId')}
          {...{ find, nameOf }}
        />
      )}
      <Check name="covert" label={t('fields.covert')} isChecked={isCovert} onChange={setCovert} />
      {errorOf('visibleTo') && <p className="text-sm text-critical">{errorOf('visibleTo')}</p>}
      {/* Also in the form while it is hidden: the choice is kept. */}
      <fieldset hidden={!isCovert} className="ms-6 flex flex-wrap gap-x-4">
        <legend className="text-sm text-muted">{t('settings.visibleTo')}</legend>
        {roles.map((role) => (
          <Check
            key={role}
            name={`visibleTo ${role}`}
            label={t(`common:roles.${role}`)}
            isChecked={list?.visibleTo.includes(role) ?? false}
          />
        ))}
      </fieldset>
    </div>
  );
}

/** Where files of the list come from by themselves. */
function SourceFields({
  source,
  errorOf,
}: {
  readonly source: HotlistSource | null;
  readonly errorOf: FieldsProps['errorOf'];
}) {
  const { t } = useTranslation('hotlists');
  const [type, setType] = useState<(typeof sourceTypes)[number]>(source?.type ?? 'NONE');
  const address = source?.type === 'URL' ? source : null;
  return (
    <fieldset className="grid items-start gap-3 sm:grid-cols-2">
      <legend className="sr-only">{t('settings.source')}</legend>
      <Select
        label={t('settings.source')}
        name="source.type"
        value={type}
        options={sourceTypes.map((value) => ({ value, label: t(`sources.${value}`) }))}
        onChange={setType}
      />
      {type !== 'NONE' && (
        <ChoiceField
          label={t('import.mode')}
          name="source.mode"
          defaultValue={source?.mode ?? 'COMPLETE'}
          options={hotlistImportModes.map((value) => ({ value, label: t(`import.modes.${value}`) }))}
        />
      )}
      {type === 'URL' && (
        <>
          <Field
            label={t('settings.url')}
            name="source.url"
            type="url"
            dir="ltr"
            placeholder="https://"
            defaultValue={address?.url}
            error={errorOf('source.url')}
            required
          />
          <Field
            label={t('settings.everyMinutes')}
            name="source.everyMinutes"
            inputMode="numeric"
            defaultValue={address?.everyMinutes ?? 60}
            error={errorOf('source.everyMinutes')}
          />
        </>
      )}
      {type === 'FOLDER' && <p className="text-sm text-muted sm:col-span-2">{t('settings.folderHint')}</p>}
      {type !== 'NONE' && (
        <Field
          label={t('settings.publicKey')}
          name="source.publicKey"
          hint={t('settings.publicKeyHint')}
          lines={3}
          dir="ltr"
          className="sm:col-span-2"
          maxLength={1_000}
          defaultValue={source?.publicKey ?? ''}
          error={errorOf('source.publicKey')}
        />
      )}
    </fieldset>
  );
}

interface CheckProps {
  readonly name: string;
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange?: (isChecked: boolean) => void;
}

function Check({ name, label, isChecked, onChange }: CheckProps) {
  return (
    <label className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        name={name}
        defaultChecked={isChecked}
        onChange={({ target }) => onChange?.(target.checked)}
        className="size-4 accent-accent"
      />
      {label}
    </label>
  );
}
