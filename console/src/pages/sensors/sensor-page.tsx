import type { Sensor } from '@gantry/contract/sensors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmDialog } from '../../shared/form/form-dialog.tsx';
import { useNotices } from '../../shared/notices/notices.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { backLook } from '../../ui/back-look.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ConnectionsPanel } from './connections/connections-panel.tsx';
import { DetailsPanel } from './details-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import { KeyPanel } from './key-panel.tsx';
import { LastMessagePanel } from './last-message-panel.tsx';
import { PlacePanel } from './place-panel.tsx';
import { EditSensorDialog } from './sensor-dialogs.tsx';

/** The page of one sensor: status history, latest event, details, place, and, for users who manage sensors, its key. */
export function SensorPage() {
  const { sensorId } = useParams({ from: '/shell/sensors/$sensorId' });
  const { data, error, refetch } = useQuery(service.sensors.getById.queryOptions({ id: sensorId }));
  if (error && !data) {
    return (
      <div className="p-4">
        <Failure error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return data ? <SensorView key={data.id} sensor={data} /> : <Skeleton rows={8} />;
}

function SensorView({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation('sensors');
  const mayManage = useMay('manageSensors');
  const { id, name, status, lastHeartbeat } = sensor;
  return (
    <>
      <PageHeader
        subject={name}
        title={
          <>
            <Link to="/sensors" aria-label={t('back')} className={backLook}>
              <Icon name="previous" size={20} />
            </Link>
            <bdi className="line-clamp-2 inline">{name}</bdi>
          </>
        }
        note={<SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />}
      >
        <LinkButton icon="events" to="/events" search={{ sensorId: id }}>
          {t('events')}
        </LinkButton>
        {mayManage && <Commands sensor={sensor} />}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3">
        <div className="grid items-start gap-3 lg:grid-cols-[3fr_2fr]">
          <div className="grid min-w-0 gap-3">
            <HistoryPanel id={id} />
            <LastMessagePanel sensorId={id} />
            {mayManage && <ConnectionsPanel sensorId={id} />}
          </div>
          <div className="grid min-w-0 gap-3">
            <DetailsPanel sensor={sensor} />
            {mayManage && <KeyPanel sensor={sensor} />}
            <PlacePanel sensor={sensor} />
          </div>
        </div>
      </div>
    </>
  );
}

function Commands({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation(['sensors', 'common']);
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'edit' | 'delete' | null>(null);
  const close = () => setAsked(null);
  useShortcuts([{ keys: 'e', label: t('edit.title'), scope: 'page', run: () => setAsked('edit') }]);
  return (
    <>
      <PingButton id={sensor.id} />
      <Button icon="edit" onClick={() => setAsked('edit')}>
        {t('edit.action')}
      </Button>
      <Button kind="danger" icon="delete" onClick={() => setAsked('delete')}>
        {t('common:dialog.delete')}
      </Button>
      {asked === 'edit' && <EditSensorDialog sensor={sensor} onClose={close} />}
      {asked === 'delete' && (
        <ConfirmDialog
          title={t('delete.title')}
          action={t('common:dialog.delete')}
          run={() => api.sensors.delete.mutate({ id: sensor.id })}
          onDone={() => void navigate({ to: '/sensors' })}
          onClose={close}
        >
          <p>
            <bdi className="font-semibold">{sensor.name}</bdi>
          </p>
          <p>{t('delete.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Has the service ping the sensor, and shows whether it answered, and the latency. */
function PingButton({ id }: { readonly id: string }) {
  const { t, i18n } = useTranslation('sensors');
  const { sayFailure } = useNotices();
  const client = useQueryClient();
  const ping = useMutation({
    mutationFn: () => api.sensors.ping.mutate({ id }),
    onSuccess: () => void client.invalidateQueries({ queryKey: service.sensors.getById.queryKey({ id }) }),
    onError: sayFailure,
  });
  const latency = ping.data?.latencyMs?.toLocaleString(i18n.language, { maximumFractionDigits: 1 });
  return (
    <>
      <span role="status" className="figures">
        {ping.data?.reachable && (
          <Badge tone="calm" icon="good">
            {t('ping.answered', { latency })}
          </Badge>
        )}
        {ping.data && !ping.data.reachable && (
          <Badge tone="high" icon="offline">
            {t('ping.silent')}
          </Badge>
        )}
      </span>
      <Button icon="activity" disabled={ping.isPending} onClick={() => ping.mutate()}>
        {ping.isPending ? t('ping.running') : t('ping.action')}
      </Button>
    </>
  );
}
