import type { DeviceFormat } from '@gantry/contract/connections';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Select } from '../../../ui/select.tsx';
import { MappingField, OptionFields, readOptions } from './option-fields.tsx';
import { OriginField } from './origin-field.tsx';
import { SecretsDialog } from './secrets.tsx';
import { useFormats } from './use-formats.ts';

/** Creates a connection for a device that reports in its own format, then shows what to enter in the device. */
export function ConnectDialog({
  sensorId,
  onClose,
}: {
  readonly sensorId: string;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation('connections');
  const client = useQueryClient();
  const { formats } = useFormats();
  const [format, setFormat] = useState<DeviceFormat>('hikvision');
  const form = useForm({
    keep: `new connection ${sensorId}`,
    read: (entered) => ({
      sensorId,
      format,
      ...(entered.text('timeZone') !== '' && { timeZone: entered.text('timeZone') }),
      options: readOptions(entered),
      origin: entered.text('origin') || undefined,
    }),
    save: (input) => api.connections.create.mutate(input),
    onSuccess: () => void client.invalidateQueries({ queryKey: service.connections.pathKey() }),
  });
  if (form.result) {
    return <SecretsDialog title={t('connect.done')} connection={form.result} onClose={onClose} />;
  }
  return (
    <FormDialog title={t('connect.title')} form={form} onClose={onClose} action={t('connect.action')}>
      <Select
        label={t('format')}
        name="format"
        value={format}
        options={formats.map(({ name, label }) => ({ value: name, label }))}
        onChange={setFormat}
      />
      <OriginField error={form.errorOf('origin')} />
      {format === 'mapped' && <MappingField errorOf={form.errorOf} />}
      <OptionFields
        hasTopics={formats.some(({ name, transports }) => name === format && transports.includes('mqtt'))}
        errorOf={form.errorOf}
      />
    </FormDialog>
  );
}
