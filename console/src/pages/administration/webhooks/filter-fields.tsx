import { eventTypes, severities } from '@gantry/contract/values';
import type { WebhookFilter } from '@gantry/contract/webhooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Entered } from '../../../shared/form/form.ts';
import { LookUp } from '../../../shared/form/look-up.tsx';
import { PlateReasonField } from '../../../shared/service/plates.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Button } from '../../../ui/button.tsx';
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
      <SensorField initial={filter.sensorId ?? ''} />
    </fieldset>
  );
}

function SensorField({ initial }: { readonly initial: string }) {
  const { t } = useTranslation(['administration', 'common']);
  const [id, setId] = useState(initial);
  const { data } = useQuery({ ...service.sensors.getById.queryOptions({ id }), enabled: id !== '' });
  return (
    <div className="flex flex-col gap-1">
      <input type="hidden" name="filter.sensorId" value={id} />
      {id === '' ? (
        <LookUp
          label={t('webhooks.sensor')}
          find={async (search) => {
            const { sensors } = await api.sensors.getAll.query({
              search,
              take: 20,
              sortBy: 'name',
              sortOrder: 'asc',
            });
            return sensors.map((sensor) => ({ value: sensor.id, label: sensor.name }));
          }}
          onChoose={setId}
        />
      ) : (
        <>
          <span className="text-sm text-muted">{t('webhooks.sensor')}</span>
          <span className="flex min-h-8 items-center gap-2">
            <bdi className="one-line">{data?.name ?? id}</bdi>
            <Button
              kind="quiet"
              icon="close"
              iconOnly
              aria-label={t('common:filters.remove', { name: t('webhooks.sensor') })}
              onClick={() => setId('')}
            />
          </span>
        </>
      )}
    </div>
  );
}
