import type { Sensor } from '@gantry/contract/sensors';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Command, firstEventCommand } from '../../shared/events/first-event.tsx';
import { useForm } from '../../shared/form/form.ts';
import { FormDialog } from '../../shared/form/form-dialog.tsx';
import { changesOf, useSeen } from '../../shared/form/seen.ts';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { api, service } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { readHeartbeats, readSensor, SensorFields } from './sensor-fields.tsx';

/** The form that registers a sensor. It then shows, once, the command for the first event, which contains the key. */
export function CreateSensorDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation(['sensors', 'common']);
  const client = useQueryClient();
  const form = useForm({
    keep: 'new sensor',
    read: (entered) => ({
      ...readSensor(entered),
      ...readHeartbeats(entered),
      deviceId: entered.text('deviceId'),
    }),
    save: (input) => api.sensors.create.mutate(input),
    onSuccess: () => void client.invalidateQueries({ queryKey: service.sensors.pathKey() }),
  });
  const created = form.result;
  if (created) {
    return (
      <Dialog title={t('create.done')} open width="wide">
        <p>
          <bdi className="font-semibold">{created.name}</bdi> · {t('create.doneText')}
        </p>
        <Command text={firstEventCommand(created.apiKey)} />
        <p className="text-sm text-muted">{t('create.keyText')}</p>
        <div className="flex flex-wrap justify-end gap-2">
          <CopyButton label={t('key.copy')} text={created.apiKey} />
          <Link
            to="/sensors/$sensorId"
            params={{ sensorId: created.id }}
            className="inline-flex min-h-8 items-center rounded-md border border-line-strong px-3 hover:bg-hover pointer-coarse:min-h-11"
          >
            {t('open')}
          </Link>
          <Button kind="primary" onClick={onClose}>
            {t('common:dialog.close')}
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog title={t('create.title')} form={form} onClose={onClose} action={t('create.action')}>
      <Field
        label={t('fields.deviceId')}
        name="deviceId"
        hint={t('fields.deviceIdHint')}
        error={form.errorOf('deviceId')}
        autoComplete="off"
        required
      />
      <SensorFields errorOf={form.errorOf} />
    </FormDialog>
  );
}

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
      ...(entered.text('reason') && { reason: entered.text('reason') }),
    }),
    save: async (changes) => {
      // The service also changes the status by itself, so a different status does not indicate an edit by another user.
      const { status: _, reason: __, ...byPeople } = changes;
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
