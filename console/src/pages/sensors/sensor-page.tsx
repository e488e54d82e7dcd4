import type { Sensor } from '@gantry/contract/sensors';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../shared/notices/notices.tsx';
import { EditAndDelete, Loaded, ResourcePage } from '../../shared/page/resource-page.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { BackLink, LinkButton } from '../../ui/links.tsx';
import { CertificatesPanel } from './certificates/certificates-panel.tsx';
import { ConnectionsPanel } from './connections/connections-panel.tsx';
import { FaultsPanel } from './faults/faults-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import { KeyPanel } from './key-panel.tsx';
import { DetailsPanel, LastMessagePanel, PlacePanel } from './panels.tsx';
import { EditSensorDialog } from './sensor-dialogs.tsx';

/** The page of one sensor: status history, latest event, details, place, and, for users who manage sensors, its key. */
export function SensorPage() {
  const { sensorId } = useParams({ from: '/shell/sensors/$sensorId' });
  const query = useQuery(service.sensors.getById.queryOptions({ id: sensorId }));
  return <Loaded query={query}>{(sensor) => <SensorView key={sensor.id} sensor={sensor} />}</Loaded>;
}

function SensorView({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation('sensors');
  const mayManage = useMay('manageSensors');
  const { id, name, status, lastHeartbeat } = sensor;
  return (
    <ResourcePage
      name={name}
      back={<BackLink to="/sensors" aria-label={t('back')} />}
      note={<SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />}
      commands={
        <>
          <LinkButton icon="events" to="/events" search={{ sensorId: id }}>
            {t('events')}
          </LinkButton>
          {mayManage && (
            <LinkButton icon="maintenance" to="/works" search={{ sensors: [id] }}>
              {t('maintenance')}
            </LinkButton>
          )}
          {mayManage && <Commands sensor={sensor} />}
        </>
      }
      main={
        <>
          <FaultsPanel sensorId={id} />
          <CertificatesPanel sensorId={id} />
          <HistoryPanel id={id} />
          <LastMessagePanel sensorId={id} />
          {mayManage && <ConnectionsPanel sensorId={id} />}
        </>
      }
      side={
        <>
          <DetailsPanel sensor={sensor} />
          {mayManage && <KeyPanel sensor={sensor} />}
          <PlacePanel sensor={sensor} />
        </>
      }
    />
  );
}

function Commands({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation('sensors');
  const navigate = useNavigate();
  return (
    <>
      <PingButton id={sensor.id} />
      <EditAndDelete
        name={sensor.name}
        texts={{
          edit: t('edit.action'),
          editTitle: t('edit.title'),
          deleteTitle: t('delete.title'),
          deleteText: t('delete.text'),
        }}
        editDialog={(close) => <EditSensorDialog sensor={sensor} onClose={close} />}
        remove={() => api.sensors.delete.mutate({ id: sensor.id })}
        onRemoved={() => void navigate({ to: '/sensors' })}
      />
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
