import { directions, eventTypes, relativeDirections, severities } from '@gantry/contract/values';
import type { Webhook, WebhookFilter } from '@gantry/contract/webhooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../../shared/events/codes.ts';
import { type Entered, useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { changesOf, useSeen } from '../../../shared/form/seen.ts';
import { OnceSecret } from '../../../shared/notices/copy-button.tsx';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { PlateReasonFields, readPlateReason } from '../../../shared/service/plates.tsx';
import { api } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { refreshWebhooks, useKindName, webhookKinds } from './kinds.ts';

interface WebhookDialogProps {
  /** The webhook to change; absent: a new one. */
  readonly webhook?: Webhook;
  readonly onClose: () => void;
  readonly onSaved: (webhook: { id: string } & Webhook & Unwatched) => void;
}
interface Unwatched {
  readonly pending: number;
  readonly dead: number;
  readonly lastDelivery: null;
}

const unwatched: Unwatched = { pending: 0, dead: 0, lastDelivery: null };

function read(entered: Entered) {
  return {
    url: entered.text('url'),
    description: entered.textOrNull('description'),
    kinds: webhookKinds.filter((kind) => entered.checked(`kind ${kind}`)),
    filter: readFilter(entered),
    ...readPlateReason(entered),
  };
}

/** The webhook with its kinds in the order of the form, in which they are compared. */
function inOrder(webhook: Webhook): Webhook {
  return { ...webhook, kinds: webhookKinds.filter((kind) => webhook.kinds.includes(kind)) };
}

/** A dialog that creates a webhook and shows its secret once, or changes a webhook. */
export function WebhookDialog({ webhook: given, onClose, onSaved }: WebhookDialogProps) {
  const { before: webhook, refuseUnseen } = useSeen<Webhook>(given && inOrder(given), async () =>
    inOrder(await api.webhooks.getById.query({ id: given?.id ?? '' })),
  );
  const { t } = useTranslation(['administration', 'common']);
  const kindName = useKindName();
  const form = useForm({
    keep: given ? `webhook ${given.id}` : 'new webhook',
    read,
    save: async ({ reason, purpose, caseNumber, ...input }) => {
      const why = { reason, purpose, caseNumber };
      if (webhook) {
        const changes = changesOf(webhook, input);
        await refuseUnseen(changes);
        return {
          ...(await api.webhooks.update.mutate({ id: webhook.id, ...changes, ...why })),
          isNew: false,
        };
      }
      const { description, ...others } = input;
      const created = await api.webhooks.create.mutate({
        ...others,
        ...(description !== null && { description }),
        ...why,
      });
      return { ...created, isNew: true };
    },
    onSuccess: (saved) => {
      void refreshWebhooks();
      if (!saved.isNew) onSaved({ ...saved, ...unwatched });
    },
  });
  const { result } = form;
  if (result?.isNew) {
    return (
      <Dialog title={t('webhooks.created')} open>
        <p>{t('webhooks.secretText')}</p>
        {result.secret !== undefined && <OnceSecret secret={result.secret} label={t('webhooks.secret')} />}
        <Button kind="primary" onClick={() => onSaved({ ...result, ...unwatched })}>
          {t('webhooks.show')}
        </Button>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={webhook ? t('webhooks.edit') : t('webhooks.create')}
      form={form}
      onClose={onClose}
      action={webhook ? undefined : t('webhooks.create')}
      width="wide"
    >
      <Field
        label={t('webhooks.url')}
        hint={t('webhooks.urlHint')}
        name="url"
        type="url"
        dir="ltr"
        placeholder="https://"
        defaultValue={webhook?.url}
        error={form.errorOf('url')}
        required
        autoFocus
      />
      <Field
        label={t('webhooks.description')}
        name="description"
        defaultValue={webhook?.description ?? ''}
        error={form.errorOf('description')}
      />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm text-muted">{t('webhooks.kinds')}</legend>
        {webhookKinds.map((kind) => (
          <label key={kind} className="flex min-h-7 items-center gap-2 pointer-coarse:min-h-11">
            <input
              type="checkbox"
              name={`kind ${kind}`}
              defaultChecked={webhook?.kinds.includes(kind) ?? false}
              className="size-4 accent-accent"
            />
            {kindName(kind)} <code className="text-sm text-muted">{kind}</code>
          </label>
        ))}
      </fieldset>
      <FilterFields filter={webhook?.filter ?? {}} errorOf={form.errorOf} />
    </FormDialog>
  );
}

const texts = [
  ...(['violationType', 'vehicleType', 'licensePlateNumber', 'locationName'] as const),
  ...(['plateRegion', 'lane'] as const),
];
const numbers = ['minConfidence', 'minSpeed', 'maxSpeed'] as const;
const all = ['eventType', 'minSeverity', 'sensorId', 'direction', ...texts] as const;

/** Reads the values of `FilterFields` from the form: only the conditions that are set. */
function readFilter(entered: Entered): WebhookFilter {
  const set = all.map((name) => [name, entered.text(`filter.${name}`)]).filter(([, value]) => value !== '');
  const given = numbers
    .map((name) => [name, entered.numberOrNull(`filter.${name}`)])
    .filter(([, value]) => value !== null);
  return Object.fromEntries([...set, ...given]) as WebhookFilter;
}

interface FilterFieldsProps {
  readonly filter: WebhookFilter;
  readonly errorOf: (path: string) => string | undefined;
}

/** The filter conditions of a webhook, and the reason if one is a plate. An empty condition matches everything. */
function FilterFields({ filter, errorOf }: FilterFieldsProps) {
  const { t } = useTranslation(['administration', 'events', 'common']);
  const [eventType, setEventType] = useState<string>(filter.eventType ?? '');
  const [severity, setSeverity] = useState<string>(filter.minSeverity ?? '');
  const [hasPlate, setHasPlate] = useState(filter.licensePlateNumber !== undefined);
  const [direction, setDirection] = useState(String(filter.direction ?? ''));
  const names = useCodeNames();
  const any = { value: '', label: t('common:filters.any') };
  return (
    <fieldset className="grid gap-3 sm:grid-cols-2">
      <legend className="mb-1 text-sm text-muted">{t('webhooks.filter')}</legend>
      <Select
        label={t('events:fields.eventType')}
        name="filter.eventType"
        value={eventType}
        options={[any, ...eventTypes.map((value) => ({ value, label: t(`events:types.${value}`) }))]}
        onChange={setEventType}
      />
      <Select
        label={t('webhooks.minSeverity')}
        name="filter.minSeverity"
        value={severity}
        options={[any, ...severities.map((value) => ({ value, label: t(`common:severity.${value}`) }))]}
        onChange={setSeverity}
      />
      {[...texts, ...numbers].map((name) => (
        <Field
          key={name}
          label={t(`webhooks.${name}`)}
          name={`filter.${name}`}
          defaultValue={filter[name]}
          error={errorOf(`filter.${name}`)}
          {...(name === 'licensePlateNumber' && {
            hint: t('webhooks.plateHint'),
            onChange: ({ target }) => setHasPlate(target.value.trim() !== ''),
          })}
        />
      ))}
      <Select
        label={t('events:fields.direction')}
        name="filter.direction"
        value={direction}
        options={[
          any,
          ...[...directions, ...relativeDirections].map((value) => ({
            value,
            label: names.direction(value),
          })),
        ]}
        onChange={setDirection}
      />
      {hasPlate && <PlateReasonFields errorOf={errorOf} />}
      <LookUpField
        label={t('webhooks.sensor')}
        name="filter.sensorId"
        defaultValue={filter.sensorId ?? null}
        {...sensorLookUp}
      />
    </fieldset>
  );
}
