import type { Sensor, UpdateSensorInput } from '@gantry/contract/sensors';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { type Entered, useForm } from '../form/form.ts';
import { Failure } from '../service/failure.tsx';
import { api, service } from '../service/service.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useNotices } from '../undo/undo.tsx';
import { readSensor, SensorFields } from './sensor-fields.tsx';

/** Changes a sensor. */
export function EditSensorDialog({
  sensor,
  onClose,
}: {
  readonly sensor: Sensor;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(['sensors', 'common']);
  const client = useQueryClient();
  const { say } = useNotices();
  const form = useForm({
    read: (entered) => changesOf(sensor, entered),
    save: (input) => api.sensors.update.mutate(input),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
      say(t('edit.done'));
      onClose();
    },
  });
  return (
    <Dialog title={t('edit.title')} open onClose={onClose}>
      <form onSubmit={form.submit} className="flex flex-col gap-3">
        <SensorFields sensor={sensor} errorOf={form.errorOf} />
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

/** What differs from what the form began with: what others have changed meanwhile stays as it is. */
function changesOf(sensor: Sensor, entered: Entered): UpdateSensorInput {
  const all = { ...readSensor(entered), status: entered.text('status') as Sensor['status'] };
  const { latitude, longitude } = sensor.coordinates ?? {};
  const isSamePlace = all.coordinates?.latitude === latitude && all.coordinates?.longitude === longitude;
  return {
    id: sensor.id,
    ...(all.name !== sensor.name && { name: all.name }),
    ...(all.type !== sensor.type && { type: all.type }),
    ...(all.status !== sensor.status && { status: all.status }),
    ...(all.eventsPerMin !== sensor.eventsPerMin && { eventsPerMin: all.eventsPerMin }),
    ...(all.ipAddress !== sensor.ipAddress && { ipAddress: all.ipAddress }),
    ...(all.locationId !== sensor.locationId && { locationId: all.locationId }),
    ...(all.description !== sensor.description && { description: all.description }),
    ...(!isSamePlace && { coordinates: all.coordinates }),
  };
}
