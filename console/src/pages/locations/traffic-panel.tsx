import { HOUR_MS } from '@gantry/contract/durations';
import type { Location } from '@gantry/contract/locations';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useLiveTraffic } from '../../shared/places/all-locations.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useSpeedText } from '../../shared/status/speed.ts';
import { TrafficLevelBadge } from '../../shared/status/traffic-level.tsx';
import { useNow, useTime } from '../../shared/time/use-time.ts';
import { Panel } from '../../ui/panel.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';

const AGAIN_MS = 300_000;

/** The panel with the current traffic at a location, and the hourly volume of the last 24 hours. */
export function TrafficPanel({ location: { id } }: { readonly location: Location }) {
  const { t, i18n } = useTranslation(['locations', 'common']);
  const live = useLiveTraffic();
  const now = live.data?.locations.find(({ locationId }) => locationId === id);
  const speedText = useSpeedText();
  const speed = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : speedText(value);
  return (
    <Panel title={t('traffic.title')}>
      {live.error && !live.data && <Failure error={live.error} onRetry={() => void live.refetch()} />}
      {now && (
        <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
          <Figure name={t('fields.level')}>
            <TrafficLevelBadge level={now.level} volume={now.volume} />
          </Figure>
          <Figure name={t('fields.meanSpeed')}>{speed(now.meanSpeed)}</Figure>
          <Figure name={t('fields.speedLimit')}>{speed(now.speedLimit)}</Figure>
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
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
  const range = {
    startDate: new Date(hour - 23 * HOUR_MS).toISOString(),
    endDate: new Date(hour + HOUR_MS).toISOString(),
  };
  const { data } = useQuery({
    ...service.traffic.getFlow.queryOptions({ locationId, interval: '60min', ...range }),
    refetchInterval: AGAIN_MS,
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
