import { eventTypes, severities } from '@gantry/contract/values';
import type { WebhookFilter } from '@gantry/contract/webhooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { LookUpField } from '../../../shared/form/look-up-field.tsx';
import { sensorLookUp } from '../../../shared/places/look-ups.ts';
import { PlateReasonField } from '../../../shared/service/plates.tsx';
import { Field } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';

const texts = ['violationType', 'vehicleType', 'licensePlateNumber', 'locationName'] as const;
const all = ['eventType', 'minSeverity', 'sensorId', ...texts] as const;

/** Reads the values of `FilterFields` from the form: only the conditions that are set. */
export function readFilter(entered: Entered): WebhookFilter {
  const set = all.map((name) => [name, entered.text(`filter.${name}`)]).filter(([, value]) => value !== '');
  return Object.fromEntries(set) as WebhookFilter;
}

interface FilterFieldsProps {
  readonly filter: WebhookFilter;
  readonly errorOf: (path: string) => string | undefined;
}

/** The filter conditions of a webhook, and the reason if one is a plate. An empty condition matches everything. */
export function FilterFields({ filter, errorOf }: FilterFieldsProps) {
  const { t } = useTranslation(['administration', 'events', 'common']);
  const [eventType, setEventType] = useState<string>(filter.eventType ?? '');
  const [severity, setSeverity] = useState<string>(filter.minSeverity ?? '');
  const [hasPlate, setHasPlate] = useState(filter.licensePlateNumber !== undefined);
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
      {texts.map((name) => (
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
      {hasPlate && <PlateReasonField error={errorOf('reason')} />}
      <LookUpField
        label={t('webhooks.sensor')}
        name="filter.sensorId"
        defaultValue={filter.sensorId ?? null}
        {...sensorLookUp}
      />
    </fieldset>
  );
}
