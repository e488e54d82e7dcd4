import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../../shared/service/failure.tsx';
import { service } from '../../../shared/service/service.ts';
import { Moment } from '../../../shared/time/moment.tsx';
import { Button } from '../../../ui/button.tsx';
import { Panel } from '../../../ui/panel.tsx';
import { ConnectDialog } from './connect-dialog.tsx';
import { MessageStatusBadge } from './message-status.tsx';
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
