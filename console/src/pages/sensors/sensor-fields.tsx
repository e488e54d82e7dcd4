import type { Sensor } from '@gantry/contract/sensors';
import { pointDirections, sensorStatuses, sensorTypes } from '@gantry/contract/values';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDateField } from '../../shared/form/date-field.tsx';
import type { Entered } from '../../shared/form/form.ts';
import { LookUpField } from '../../shared/form/look-up-field.tsx';
import { CoordinateFields, readCoordinates } from '../../shared/places/coordinate-fields.tsx';
import { locationLookUp } from '../../shared/places/look-ups.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField, Select } from '../../ui/select.tsx';

type SensorType = Sensor['type'];
type SensorStatus = Sensor['status'];

/** Reads the fields that the forms for new and existing sensors share. */
export function readSensor(entered: Entered) {
  return {
    name: entered.text('name'),
    type: entered.text('type') as SensorType,
    eventsPerMin: entered.numberOrNull('eventsPerMin') ?? 20,
    ipAddress: entered.textOrNull('ipAddress'),
    coordinates: readCoordinates(entered),
    locationId: entered.textOrNull('locationId'),
    description: entered.textOrNull('description'),
    lane: readLane(entered.text('lane')),
    direction: entered.textOrNull('direction') as Sensor['direction'],
    make: entered.textOrNull('make'),
    model: entered.textOrNull('model'),
    serialNumber: entered.textOrNull('serialNumber'),
    warrantyUntil: entered.textOrNull('warrantyUntil'),
    certificatePlace: entered.textOrNull('certificatePlace'),
    tags: entered
      .text('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  };
}

/** A lane as the service returns it: a number, or a name. */
function readLane(text: string): Sensor['lane'] {
  if (text === '') return null;
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** The checkbox of `HeartbeatsField`, if the user changed it; otherwise an empty object. */
export function readHeartbeats(entered: Entered): { requiresHeartbeats?: boolean } {
  const requiresHeartbeats = entered.checked('requiresHeartbeats');
  return String(requiresHeartbeats) === entered.text('requiredHeartbeats') ? {} : { requiresHeartbeats };
}

interface FieldsProps {
  readonly sensor?: Sensor;
  readonly errorOf: (path: string) => string | undefined;
}

/** The form fields of a sensor. The status is offered only for an existing one. */
export function SensorFields({ sensor, errorOf }: FieldsProps) {
  const { t } = useTranslation(['sensors', 'common']);
  const [type, setType] = useState<SensorType>(sensor?.type ?? 'CAMERA');
  const field = (
    name:
      | 'name'
      | 'ipAddress'
      | 'description'
      | 'eventsPerMin'
      | 'lane'
      | 'make'
      | 'model'
      | 'serialNumber'
      | 'certificatePlace',
  ) => ({
    label: t(`fields.${name}`),
    name,
    error: errorOf(name),
    defaultValue: sensor?.[name] ?? '',
  });
  return (
    <>
      <Field {...field('name')} required autoComplete="off" />
      <Select
        label={t('fields.type')}
        name="type"
        value={type}
        error={errorOf('type')}
        options={sensorTypes.map((value) => ({ value, label: t(`common:sensorTypes.${value}`) }))}
        onChange={setType}
      />
      {sensor && <StatusFields status={sensor.status} errorOf={errorOf} />}
      <LookUpField
        label={t('fields.location')}
        name="locationId"
        defaultValue={sensor?.locationId ?? null}
        {...locationLookUp}
        error={errorOf('locationId')}
      />
      <CoordinateFields coordinates={sensor?.coordinates ?? null} errorOf={errorOf} />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field {...field('lane')} />
        <ChoiceField
          label={t('fields.direction')}
          name="direction"
          defaultValue={sensor?.direction ?? ''}
          options={[
            { value: '', label: t('unknown') },
            ...pointDirections.map((value) => ({
              value,
              label: value === 'BOTH' ? t('bothDirections') : value,
            })),
          ]}
        />
        <Field {...field('make')} />
        <Field {...field('model')} />
        <Field {...field('serialNumber')} />
        <FormDateField
          label={t('fields.warrantyUntil')}
          name="warrantyUntil"
          defaultValue={sensor?.warrantyUntil ?? ''}
          error={errorOf('warrantyUntil')}
        />
      </div>
      <Field {...field('certificatePlace')} hint={t('fields.certificatePlaceHint')} />
      <Field
        label={t('fields.tags')}
        name="tags"
        hint={t('fields.tagsHint')}
        defaultValue={sensor?.tags.join(', ') ?? ''}
        error={errorOf('tags')}
        autoComplete="off"
      />
      <Field {...field('ipAddress')} hint={t('fields.ipAddressHint')} dir="ltr" autoComplete="off" />
      <Field
        {...field('eventsPerMin')}
        defaultValue={sensor?.eventsPerMin ?? 20}
        inputMode="numeric"
        hint={t('fields.eventsPerMinHint')}
      />
      <HeartbeatsField {...(sensor && { sensorId: sensor.id })} />
      <Field {...field('description')} lines={3} />
    </>
  );
}

interface StatusFieldsProps {
  readonly status: SensorStatus;
  readonly errorOf: (path: string) => string | undefined;
}

/** The status, and, if the user changes it, why. */
function StatusFields({ status, errorOf }: StatusFieldsProps) {
  const { t } = useTranslation(['sensors', 'common']);
  const [value, setValue] = useState(status);
  return (
    <>
      <Select
        label={t('fields.status')}
        name="status"
        value={value}
        options={sensorStatuses.map((each) => ({ value: each, label: t(`common:sensorStatus.${each}`) }))}
        onChange={setValue}
      />
      {value !== status && (
        <Field
          label={t('fields.reason')}
          name="reason"
          maxLength={500}
          hint={t('fields.reasonHint')}
          error={errorOf('reason')}
        />
      )}
    </>
  );
}

/** The checkbox for whether only heartbeats count as liveness signals. @param sensorId absent for a new sensor */
function HeartbeatsField({ sensorId }: { readonly sensorId?: string }) {
  const { data, error } = useQuery({
    ...service.sensors.getSignsOfLife.queryOptions({ id: sensorId ?? '' }),
    enabled: sensorId !== undefined,
  });
  if (sensorId !== undefined && error) return <Failure error={error} />;
  if (sensorId !== undefined && !data) return null;
  return <HeartbeatsChoice initial={data?.requiresHeartbeats ?? false} />;
}

function HeartbeatsChoice({ initial }: { readonly initial: boolean }) {
  const { t } = useTranslation('sensors');
  // The value when the form was opened; a refetch may bring a change by another user.
  const [requiresHeartbeats] = useState(initial);
  return (
    <label className="flex items-start gap-2 pointer-coarse:min-h-11">
      {/* The original value, so that only a change is sent. */}
      <input type="hidden" name="requiredHeartbeats" value={String(requiresHeartbeats)} />
      <input
        type="checkbox"
        name="requiresHeartbeats"
        defaultChecked={requiresHeartbeats}
        className="mt-1 size-4 accent-accent"
      />
      <span>
        {t('fields.requiresHeartbeats')}
        <span className="block text-sm text-muted">{t('fields.requiresHeartbeatsHint')}</span>
      </span>
    </label>
  );
}
