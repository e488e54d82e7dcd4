import type { Location } from '@gantry/contract/locations';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../form/form.ts';
import { CoordinateFields, readCoordinates } from '../sensors/sensor-fields.tsx';
import { Failure } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { useNotices } from '../undo/undo.tsx';

interface LocationDialogProps {
  /** Absent: a new one. */
  readonly location?: Location;
  readonly onClose: () => void;
}

/** Makes a location, or changes one. */
export function LocationDialog({ location, onClose }: LocationDialogProps) {
  const { t } = useTranslation(['locations', 'common']);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { say } = useNotices();
  const form = useForm({
    read,
    save: (entered) =>
      location
        ? api.locations.update.mutate({ id: location.id, ...changesOf(location, entered) })
        : api.locations.create.mutate(entered),
    onSuccess: ({ id }) => {
      void client.invalidateQueries({ queryKey: service.locations.pathKey() });
      say(t('saved'));
      onClose();
      if (!location) void navigate({ to: '/locations/$locationId', params: { locationId: id } });
    },
  });
  return (
    <Dialog title={location ? t('edit.title') : t('create.title')} open onClose={onClose}>
      <form onSubmit={form.submit} className="flex flex-col gap-3">
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
        {form.failure && <Failure error={form.failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common:dialog.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={form.isSaving}>
            {t('common:dialog.save')}
          </Button>
        </div>
      </form>
    </Dialog>
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

/** What differs from what the form began with: what others have changed meanwhile stays as it is. */
function changesOf(location: Location, entered: ReturnType<typeof read>) {
  const { latitude, longitude } = location.coordinates ?? {};
  const { coordinates } = entered;
  const isSamePlace = coordinates?.latitude === latitude && coordinates?.longitude === longitude;
  return {
    ...(entered.name !== location.name && { name: entered.name }),
    ...(entered.address !== location.address && { address: entered.address }),
    ...(entered.speedLimit !== location.speedLimit && { speedLimit: entered.speedLimit }),
    ...(entered.description !== location.description && { description: entered.description }),
    ...(!isSamePlace && { coordinates }),
  };
}
