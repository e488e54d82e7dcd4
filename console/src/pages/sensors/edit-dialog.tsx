import type { Sensor } from '@gantry/contract/sensors';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { changesOf } from '../../shared/form/changes.ts';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { useSeen } from '../../shared/form/seen.ts';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { readHeartbeats, readSensor, SensorFields } from './sensor-fields.tsx';

/** The form that edits a sensor. Only the fields that the user changed are sent. */
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
  const { refuseUnseen, before = sensor } = useSeen(sensor, () =>
    api.sensors.getById.query({ id: sensor.id }),
  );
  const form = useForm({
    keep: `sensor ${sensor.id}`,
    read: (entered) => ({
      ...changesOf(before, { ...readSensor(entered), status: entered.text('status') as Sensor['status'] }),
      ...(entered.text('requiredHeartbeats') && readHeartbeats(entered)),
    }),
    save: async (changes) => {
      // The service also changes the status by itself, so a different status does not indicate an edit by another user.
      const { status: _, ...byPeople } = changes;
      await refuseUnseen(byPeople);
      return api.sensors.update.mutate({ id: before.id, ...changes });
    },
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: service.sensors.pathKey() });
      say(t('edit.done'));
      onClose();
    },
  });
  return (
    <FormDialog title={t('edit.title')} form={form} onClose={onClose}>
      <SensorFields sensor={before} errorOf={form.errorOf} />
    </FormDialog>
  );
}
