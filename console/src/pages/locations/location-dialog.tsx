import type { Location } from '@gantry/contract/locations';
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

interface LocationDialogProps {
  /** The location to edit; absent for a new one. */
  readonly location?: Location;
  readonly onClose: () => void;
}

/** The form that creates a location or edits one. A new location is opened after it is saved. */
export function LocationDialog({ location: given, onClose }: LocationDialogProps) {
  const { before: location, refuseUnseen } = useSeen(given, () =>
    api.locations.getById.query({ id: given?.id ?? '' }),
  );
  const { t } = useTranslation(['locations', 'common']);
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

function read(entered: Entered) {
  return {
    name: entered.text('name'),
    address: entered.text('address'),
    coordinates: readCoordinates(entered),
    speedLimit: entered.numberOrNull('speedLimit'),
    description: entered.textOrNull('description'),
  };
}
