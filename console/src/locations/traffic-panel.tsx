import type { Location } from '@gantry/contract/locations';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../service/failure.tsx';
import { service } from '../service/service.ts';
import { TrafficLevelBadge } from '../status/traffic-level.tsx';
import { useTime } from '../time/use-time.ts';
import { Panel } from '../ui/panel.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { useLiveTraffic } from './all-locations.ts';

const DAY_MS = 86_400_000;
const AGAIN_MS = 300_000;

/** The traffic at a location: in the last minutes, and by the hour in the last day. */
export function TrafficPanel({ location: { id } }: { readonly location: Location }) {
  const { t, i18n } = useTranslation('locations');
  const live = useLiveTraffic();
  const now = live.data?.locations.find(({ locationId }) => locationId === id);
  const speed = (value: number | null | undefined) =>
    value === null || value === undefined
      ? '–'
      : t('speed', { speed: value.toLocaleString(i18n.language, { maximumFractionDigits: 0 }) });
  return (
    <Panel title={t('traffic.title')}>
      {live.error && !live.data && <Failure error={live.error} onRetry={() => void live.refetch()} />}
      {now && (
        <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
          <Figure name={t('fields.level')}>
            <TrafficLevelBadge level={now.level} />
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
  const { t, i18n } = useTranslation('locations');
  const time = useTime();
  // The range stays while the page is shown; its end is in the future, so that new hours come in.
  const [range] = useState(() => ({
    startDate: new Date(Date.now() - DAY_MS).toISOString(),
    endDate: new Date(Date.now() + DAY_MS / 24).toISOString(),
  }));
  const { data } = useQuery({
    ...service.traffic.getFlow.queryOptions({ locationId, interval: '60min', ...range }),
    refetchInterval: AGAIN_MS,
  });
  const points = data?.points.filter(({ start }) => start.getTime() <= Date.now()) ?? [];
  const [first] = points;
  const most = Math.max(0, ...points.map(({ volume }) => volume ?? 0));
  return (
    <div dir="ltr">
      <Sparkline label={t('traffic.lastDay')} values={points.map(({ volume }) => volume)} />
      <p className="figures flex justify-between text-xs text-muted">
        <span>{first && time.minute(first.start)}</span>
        <bdi>{t('traffic.most', { most: most.toLocaleString(i18n.language) })}</bdi>
        <span>{time.minute(new Date())}</span>
      </p>
    </div>
  );
}
