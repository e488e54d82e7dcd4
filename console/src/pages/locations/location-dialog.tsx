import type { LocationInFull } from '@gantry/contract/locations';
import { pointDirections, speedUnitNames } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { changesOf, useSeen } from '../../shared/form/seen.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { CoordinateFields, readCoordinates } from '../../shared/places/coordinate-fields.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Field } from '../../ui/field.tsx';
import { ChoiceField } from '../../ui/select.tsx';

interface LocationDialogProps {
  /** The location to edit; absent for a new one. */
  readonly location?: LocationInFull;
  readonly onClose: () => void;
}

/** The form that creates a location or edits one. A new location is opened after it is saved. */
export function LocationDialog({ location: given, onClose }: LocationDialogProps) {
  const { before: location, refuseUnseen } = useSeen(given, () =>
    api.locations.getById.query({ id: given?.id ?? '' }),
  );
  const { t } = useTranslation(['locations', 'studies', 'common']);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  const form = useForm({
    keep: given ? `location ${given.id}` : 'new location',
    read,
    save: async (entered) => {
      if (!location) return api.locations.create.mutate(entered);
      const changes = changesOf(location, entered);
      await refuseUnseen(changes);
      return api.locations.update.mutate({ id: location.id, ...changes });
    },
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: service.locations.pathKey() });
      say(t('saved'));
      onClose();
      if (!location) void navigate({ to: '/locations/$locationId', params: { locationId: id } });
    },
  });
  return (
    <FormDialog title={location ? t('edit.title') : t('create.title')} form={form} onClose={onClose}>
      <Field
        label={t('fields.name')}
        name="name"
        defaultValue={location?.name}
        error={form.errorOf('name')}
        autoComplete="off"
        required
      />
      <Field
        label={t('fields.address')}
        name="address"
        defaultValue={location?.address}
        error={form.errorOf('address')}
      />
      <CoordinateFields coordinates={location?.coordinates ?? null} errorOf={form.errorOf} />
      <Field
        label={t('fields.speedLimit')}
        name="speedLimit"
        inputMode="decimal"
        defaultValue={location?.speedLimit ?? ''}
        error={form.errorOf('speedLimit')}
      />
      <RoadFields location={location} errorOf={form.errorOf} />
      <ChoiceField
        label={t('fields.speedUnits')}
        name="speedUnits"
        defaultValue={location?.speedUnits ?? ''}
        options={[
          { value: '', label: t('fields.serviceUnits') },
          ...speedUnitNames.map((value) => ({ value, label: t(`studies:units.${value}`) })),
        ]}
      />
      <Field
        label={t('fields.description')}
        name="description"
        lines={3}
        defaultValue={location?.description ?? ''}
        error={form.errorOf('description')}
      />
    </FormDialog>
  );
}

/** The fields that say where on the road the location is. */
function RoadFields({
  location,
  errorOf,
}: {
  readonly location: LocationInFull | undefined;
  readonly errorOf: (path: string) => string | undefined;
}) {
  const { t } = useTranslation('locations');
  const field = (name: 'road' | 'kilometre' | 'lanes') => ({
    label: t(`fields.${name}`),
    name,
    defaultValue: location?.[name] ?? '',
    error: errorOf(name),
  });
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field {...field('road')} autoComplete="off" />
      <Field {...field('kilometre')} inputMode="decimal" />
      <ChoiceField
        label={t('fields.direction')}
        name="direction"
        defaultValue={location?.direction ?? ''}
        options={[
          { value: '', label: t('unknown') },
          ...pointDirections.map((value) => ({
            value,
            label: value === 'BOTH' ? t('bothDirections') : value,
          })),
        ]}
      />
      <Field {...field('lanes')} inputMode="numeric" />
      <ChoiceField
        label={t('fields.hasShoulder')}
        name="hasShoulder"
        defaultValue={String(location?.hasShoulder ?? '')}
        options={[
          { value: '', label: t('unknown') },
          { value: 'true', label: t('yes') },
          { value: 'false', label: t('no') },
        ]}
      />
    </div>
  );
}

function read(entered: Entered) {
  const hasShoulder = entered.text('hasShoulder');
  return {
    name: entered.text('name'),
    address: entered.text('address'),
    coordinates: readCoordinates(entered),
    speedLimit: entered.numberOrNull('speedLimit'),
    road: entered.textOrNull('road'),
    kilometre: entered.numberOrNull('kilometre'),
    direction: entered.textOrNull('direction') as LocationInFull['direction'],
    lanes: entered.numberOrNull('lanes'),
    hasShoulder: hasShoulder === '' ? null : hasShoulder === 'true',
    speedUnits: entered.textOrNull('speedUnits') as LocationInFull['speedUnits'],
    description: entered.textOrNull('description'),
  };
}
