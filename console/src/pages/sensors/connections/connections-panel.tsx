import type { DeviceFormat } from '@gantry/contract/connections';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useForm } from '../../../shared/form/form.ts';
import { FormDialog } from '../../../shared/form/form-dialog.tsx';
import { Failure } from '../../../shared/service/failure.tsx';
import { api, service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { Select } from '../../../ui/select.tsx';
import { MessageStatusBadge } from './message-status.tsx';
import { MappingField, OptionFields, readOptions } from './option-fields.tsx';
import { OriginField } from './origin-field.tsx';
import { SecretsDialog } from './secrets.tsx';
import { useFormats } from './use-formats.ts';

/** Refetch interval, in milliseconds. */
const AGAIN_MS = 5_000;

/** The connections of a sensor, with their formats and the time and status of the last message. */
export function ConnectionsPanel({ sensorId }: { readonly sensorId: string }) {
  const { t } = useTranslation('connections');
  const [connects, setConnects] = useState(false);
  const { labelOf } = useFormats();
  const { data, error, refetch } = useQuery({
    ...service.connections.getAll.queryOptions({ sensorId, take: 100 }),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Panel
      title={t('title')}
      actions={
        <Button icon="add" onClick={() => setConnects(true)}>
          {t('connect.open')}
        </Button>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {data?.connections.length === 0 && <p className="text-muted">{t('none')}</p>}
      <ul className="flex flex-col divide-y">
        {data?.connections.map(({ id, format, lastMessageAt, lastMessageStatus }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 first:pt-0 last:pb-0">
            <Link
              to="/sensors/$sensorId/connections/$connectionId"
              params={{ sensorId, connectionId: id }}
              className="min-w-0 grow py-1 font-medium text-accent underline pointer-coarse:py-2.5"
            >
              {labelOf(format)}
            </Link>
            {lastMessageStatus && <MessageStatusBadge status={lastMessageStatus} />}
            <span className="text-muted">
              {lastMessageAt ? <Moment at={lastMessageAt} /> : t('nothingYet')}
            </span>
          </li>
        ))}
      </ul>
      {connects && <ConnectDialog sensorId={sensorId} onClose={() => setConnects(false)} />}
    </Panel>
  );
}

/** Creates a connection for a device that reports in its own format, then shows what to enter in the device. */
function ConnectDialog({ sensorId, onClose }: { readonly sensorId: string; readonly onClose: () => void }) {
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
