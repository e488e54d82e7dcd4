import type { UpdateManyOutput } from '@gantry/contract/fleet';
import type { SensorStatus } from '@gantry/contract/sensors';
import { pointDirections, sensorStatuses } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../../shared/form/date-field.tsx';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { useNotices } from '../../../shared/notices/notices.tsx';
import { ChangeList } from '../../../shared/places/import-dialog.tsx';
import { locationLookUp } from '../../../shared/places/look-ups.ts';
import { api, service } from '../../../shared/service/service.ts';
import { Field } from '../../../ui/field.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import { ChoiceField } from '../../../ui/select.tsx';

type Input = Parameters<typeof api.sensors.updateMany.mutate>[0];

/** The fields that many sensors can be given, as the service names them in what would change. */
type Shared =
  | 'status'
  | 'location'
  | 'eventsPerMin'
  | 'requiresHeartbeats'
  | 'direction'
  | 'make'
  | 'model'
  | 'warrantyUntil'
  | 'tags';

/** The fields that can be emptied. */
const CLEARABLE = ['locationId', 'direction', 'make', 'model', 'warrantyUntil'] as const;

const tagsOf = (text: string): string[] | undefined => {
  const tags = text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
  return tags.length > 0 ? tags : undefined;
};

/** What the user entered: fields that were left empty stay as they are. */
function readMany(entered: Entered): Omit<Input, 'ids'> {
  const text = (name: string) => entered.text(name) || undefined;
  const choice = entered.text('requiresHeartbeats');
  const given = {
    status: text('status') as Input['status'],
    reason: text('reason'),
    locationId: text('locationId'),
    direction: text('direction') as Input['direction'],
    make: text('make'),
    model: text('model'),
    warrantyUntil: text('warrantyUntil'),
    eventsPerMin: entered.numberOrNull('eventsPerMin') ?? undefined,
    requiresHeartbeats: choice === '' ? undefined : choice === 'yes',
    addTags: tagsOf(entered.text('addTags')),
    removeTags: tagsOf(entered.text('removeTags')),
  };
  const emptied = CLEARABLE.filter((name) => entered.checked(`empty.${name}`));
  return { ...given, ...Object.fromEntries(emptied.map((name) => [name, null])) };
}

interface EditManyProps {
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** What a change would do, and the change. */
interface Previewed {
  readonly key: string;
  readonly plan: UpdateManyOutput;
}

/** Changes many sensors at once: first it shows what would change, then it changes that in one transaction, which can be undone. */
export function EditManyDialog({ ids, onClose, onDone }: EditManyProps) {
  const { t } = useTranslation('sensors');
  const client = useQueryClient();
  const { offerUndo, say } = useNotices();
  const [previewed, setPreviewed] = useState<Previewed | null>(null);
  const readAgain = () => void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
  const finish = ({ changed, former }: UpdateManyOutput) => {
    readAgain();
    const text = t('bulk.done', { count: changed });
    if (former.length === 0) say(text);
    else
      offerUndo(text, async () => {
        await api.sensors.restoreMany.mutate({ sensors: former });
        readAgain();
      });
    onClose();
    onDone();
  };
  const form = useForm({
    keep: 'many sensors',
    read: (entered): Input => ({ ids: [...ids], ...readMany(entered) }),
    // Only what was shown is changed: with another input, what that would change is shown first.
    save: async (input) => {
      const key = JSON.stringify(input);
      if (previewed?.key === key && previewed.plan.changed > 0)
        return { key, done: await api.sensors.updateMany.mutate(input) };
      return { key, plan: await api.sensors.updateMany.mutate({ ...input, dryRun: true }) };
    },
    onSuccess: ({ key, done, plan }) => {
      if (done) finish(done);
      else if (plan) setPreviewed({ key, plan });
    },
  });
  const count = previewed?.plan.changed ?? 0;
  return (
    <FormDialog
      title={t('bulk.title', { count: ids.length })}
      form={form}
      onClose={onClose}
      action={count > 0 ? t('bulk.apply', { count }) : t('bulk.preview')}
      width="wide"
    >
      <p className="text-sm text-muted">{t('bulk.text')}</p>
      {/* What was entered anew is shown anew. */}
      <div className="contents" onChange={() => setPreviewed(null)}>
        <ManyFields errorOf={form.errorOf} />
      </div>
      {previewed && <Preview plan={previewed.plan} />}
    </FormDialog>
  );
}

/** What would change, and of how many sensors nothing would. */
function Preview({ plan: { changed, same, rows } }: { readonly plan: UpdateManyOutput }) {
  const { t } = useTranslation(['sensors', 'common']);
  const shownValue = (field: string, value: string | null) => {
    if (value === null) return '–';
    if (field === 'status') return t(`common:sensorStatus.${value as SensorStatus}`);
    if (field === 'requiresHeartbeats')
      return t(value === 'yes' ? 'fields.onlyHeartbeats' : 'fields.alsoEvents');
    return value === 'BOTH' ? t('bothDirections') : value;
  };
  return (
    <section aria-label={t('bulk.preview')} className="flex flex-col gap-2 border-t pt-3">
      <p role="status">
        {t('bulk.changes', { count: changed })} · {t('bulk.same', { count: same })}
      </p>
      {rows.length > 0 && (
        <ScrolledTable
          label={t('files.changes')}
          head="bg-raised"
          className="max-h-64"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { header: t('fields.name'), cell: ({ name }) => <bdi>{name}</bdi> },
            {
              header: t('files.changes'),
              cell: ({ changes }) => (
                <ChangeList
                  changes={changes.map(({ field, from, to }) => ({
                    field: t(`fields.${field as Shared}`),
                    from: shownValue(field, from),
                    to: shownValue(field, to),
                  }))}
                />
              ),
            },
          ]}
        />
      )}
      {changed > rows.length && (
        <p className="text-sm text-muted">{t('bulk.more', { count: changed - rows.length })}</p>
      )}
    </section>
  );
}

function ManyFields({ errorOf }: { readonly errorOf: (path: string) => string | undefined }) {
  const { t } = useTranslation(['sensors', 'common']);
  const [status, setStatus] = useState('');
  const keep = { value: '', label: t('bulk.keep') };
  const field = (name: 'make' | 'model') => ({
    label: t(`fields.${name}`),
    name,
    maxLength: 100,
    error: errorOf(name),
  });
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <div
          className="contents"
          onChange={({ target }) => {
            if (target instanceof HTMLSelectElement && target.name === 'status') setStatus(target.value);
          }}
        >
          <ChoiceField
            label={t('fields.status')}
            name="status"
            defaultValue=""
            options={[
              keep,
              ...sensorStatuses.map((value) => ({ value, label: t(`common:sensorStatus.${value}`) })),
            ]}
          />
        </div>
        {status !== '' && (
          <Field
            label={t('fields.reason')}
            name="reason"
            maxLength={500}
            hint={t('fields.reasonHint')}
            error={errorOf('reason')}
          />
        )}
        <Field
          label={t('bulk.addTags')}
          name="addTags"
          hint={t('fields.tagsHint')}
          error={errorOf('addTags')}
        />
        <Field label={t('bulk.removeTags')} name="removeTags" error={errorOf('removeTags')} />
        <LookUpField
          label={t('fields.location')}
          name="locationId"
          defaultValue={null}
          {...locationLookUp}
          error={errorOf('locationId')}
        />
        <ChoiceField
          label={t('fields.direction')}
          name="direction"
          defaultValue=""
          options={[
            keep,
            ...pointDirections.map((value) => ({
              value,
              label: value === 'BOTH' ? t('bothDirections') : value,
            })),
          ]}
        />
        <Field {...field('make')} />
        <Field {...field('model')} />
        <FormDateField
          label={t('fields.warrantyUntil')}
          name="warrantyUntil"
          error={errorOf('warrantyUntil')}
        />
        <Field
          label={t('fields.eventsPerMin')}
          name="eventsPerMin"
          inputMode="numeric"
          error={errorOf('eventsPerMin')}
        />
        <ChoiceField
          label={t('fields.requiresHeartbeats')}
          name="requiresHeartbeats"
          defaultValue=""
          options={[
            keep,
            { value: 'yes', label: t('fields.onlyHeartbeats') },
            { value: 'no', label: t('fields.alsoEvents') },
          ]}
        />
      </div>
      <fieldset className="flex flex-wrap gap-x-4">
        <legend className="mb-1 text-sm text-muted">{t('bulk.empty')}</legend>
        {CLEARABLE.map((name) => (
          <label key={name} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
            <input type="checkbox" name={`empty.${name}`} className="size-4 accent-accent" />
            {t(`fields.${name === 'locationId' ? 'location' : name}`)}
          </label>
        ))}
      </fieldset>
    </>
  );
}
