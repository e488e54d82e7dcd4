import { HOUR_MS } from '@gantry/contract/durations';
import type { Location } from '@gantry/contract/locations';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { useLiveTraffic } from '../../shared/places/points.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SensorStatusBadge, SeverityBadge, TrafficLevelBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { startOfHour } from '../../shared/time/format.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useNow, useServiceTime, useTime } from '../../shared/time/use-time.ts';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';

const TRAFFIC_MS = 300_000;

/** The panel with the current traffic at a location, and the hourly volume of the last 24 hours. */
export function TrafficPanel({ location: { id } }: { readonly location: Location }) {
  const { t, i18n } = useTranslation(['locations', 'common']);
  const live = useLiveTraffic();
  const now = live.data?.locations.find(({ locationId }) => locationId === id);
  const speedText = useSpeedText();
  const speed = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : speedText(value, 0, now?.units);
  return (
    <Panel title={t('traffic.title')}>
      {live.error && !live.data && <Failure error={live.error} onRetry={() => void live.refetch()} />}
      {now && (
        <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
          <Figure name={t('fields.level')}>
            <TrafficLevelBadge level={now.level} volume={now.volume} />
          </Figure>
          <Figure name={t('fields.meanSpeed')}>{speed(now.meanSpeed)}</Figure>
          <Figure name={t('fields.limit')}>{speed(now.speedLimit)}</Figure>
          <Figure name={t('traffic.volume')}>{now.volume?.toLocaleString(i18n.language) ?? '–'}</Figure>
        </dl>
      )}
      <LastDay locationId={id} />
    </Panel>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="figures font-semibold">{children}</dd>
    </div>
  );
}

function LastDay({ locationId }: { readonly locationId: string }) {
  const { t, i18n } = useTranslation(['locations', 'common']);
  const time = useTime();
  const now = useNow(60_000);
  // The range advances every hour. It ends at the next full hour, so that it includes the current one.
  const hour = startOfHour(now, useServiceTime());
  const range = {
    startDate: new Date(hour - 23 * HOUR_MS).toISOString(),
    endDate: new Date(hour + HOUR_MS).toISOString(),
  };
  const { data } = useQuery({
    ...service.traffic.getFlow.queryOptions({ locationId, interval: '60min', ...range }),
    refetchInterval: TRAFFIC_MS,
    placeholderData: keepPreviousData,
  });
  const points = data?.points.filter(({ start }) => start.getTime() <= now) ?? [];
  const [first] = points;
  const most = Math.max(0, ...points.map(({ volume }) => volume ?? 0));
  return (
    <div dir="ltr">
      <Sparkline label={t('traffic.lastDay')} values={points.map(({ volume }) => volume)} />
      <p className="figures flex justify-between text-xs text-muted">
        <span>{first && time.minute(first.start)}</span>
        <bdi>{t('traffic.most', { most: most.toLocaleString(i18n.language) })}</bdi>
        <span>{time.minute(new Date(now))}</span>
      </p>
    </div>
  );
}

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

const SHOWN = 10;
const EVENTS_MS = 15_000;

/** The panel with the latest events at a location. */
export function EventsHere({ name }: { readonly name: string }) {
  const { t } = useTranslation(['locations', 'events']);
  const names = useCodeNames();
  const speedText = useSpeedText();
  const { data, error, refetch } = useQuery({
    ...service.events.getAll.queryOptions({ locationName: name, take: SHOWN }),
    refetchInterval: EVENTS_MS,
  });
  return (
    <Panel
      title={t('latest.title')}
      isFull
      actions={
        <Link to="/events" search={{ locationName: name }} className="text-accent underline">
          {t('latest.all')}
        </Link>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={SHOWN} />}
      {data?.events.length === 0 && <p className="p-3 text-muted">{t('latest.none')}</p>}
      <ul>
        {data?.events.map(
          ({ id, timestamp, eventType, violationType, licensePlateNumber, vehicleSpeed, severity }) => (
            <li key={id} className="border-b last:border-b-0">
              <Link
                to="/events"
                search={{ locationName: name, event: id }}
                className="flex min-h-9 items-center gap-3 px-3 hover:bg-hover pointer-coarse:min-h-11"
              >
                <Moment at={timestamp} className="text-muted" />
                <span className="one-line min-w-0 grow">
                  <bdi>
                    {violationType === null ? t(`events:types.${eventType}`) : names.violation(violationType)}
                  </bdi>
                  {licensePlateNumber && (
                    <span className="ms-2 font-mono">
                      <bdi>{licensePlateNumber}</bdi>
                    </span>
                  )}
                </span>
                {vehicleSpeed !== null && (
                  <span className="figures whitespace-nowrap text-muted">{speedText(vehicleSpeed)}</span>
                )}
                {severity && <SeverityBadge severity={severity} filled={false} />}
              </Link>
            </li>
          ),
        )}
      </ul>
    </Panel>
  );
}
