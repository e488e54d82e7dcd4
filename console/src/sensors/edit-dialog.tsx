import type { Sensor, UpdateSensorInput } from '@gantry/contract/sensors';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { changesOf } from '../form/changes.ts';
import { useForm } from '../form/form.ts';
import { FormDialog } from '../form/form-dialog.tsx';
import { api, service } from '../service/service.ts';
import { useNotices } from '../undo/undo.tsx';
import { readHeartbeats, readSensor, SensorFields } from './sensor-fields.tsx';

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
  // As it was when the form was opened; its status may change meanwhile.
  const [before] = useState(sensor);
  const form = useForm({
    read: (entered) => ({
      id: before.id,
      ...changesOf(before, { ...readSensor(entered), status: entered.text('status') as Sensor['status'] }),
      ...(entered.text('requiredHeartbeats') && readHeartbeats(entered)),
    }),
    save: (input: UpdateSensorInput) => api.sensors.update.mutate(input),
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
