import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SensorStatusBadge } from '../../shared/status/sensor-status.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** The panel with the sensors at a location. */
export function SensorsHere({ locationId }: { readonly locationId: string }) {
  const { t } = useTranslation(['locations', 'sensors', 'common']);
  const { data, error, refetch } = useQuery({
    ...service.sensors.getAllSensors.queryOptions(),
    select: (all) => all.filter(({ location }) => location?.id === locationId),
  });
  return (
    <Panel title={t('sensors:title')} isFull>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={2} />}
      {data?.length === 0 && <p className="p-3 text-muted">{t('noSensors')}</p>}
      <ul className="flex flex-col">
        {data?.map(({ id, name, type, status, lastHeartbeat }) => (
          <li
            key={id}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b px-3 py-2 last:border-b-0 pointer-coarse:min-h-11"
          >
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId: id }}
              className="one-line min-w-0 grow hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>
            <span className="text-muted">{t(`common:sensorTypes.${type}`)}</span>
            <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
