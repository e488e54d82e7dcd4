import { HOUR_MS } from '@gantry/contract/durations';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { isFeatureOff, useHasFeature } from '../../shared/service/features.ts';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { startOfHour } from '../../shared/time/format.ts';
import { useNow, useServiceTime } from '../../shared/time/use-time.ts';

/** The states of incidents that are neither resolved nor closed. */
export const OPEN = ['OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS'] as const;

/**
 * What the figures of the page count. The queries are batched in one request.
 * @returns `alerts` is null if the user may not see them, or the watchlist is disabled; `urgent` is the priority of the
 *   most urgent one
 */
export function useCounts() {
  const mayAlerts = useMay('manageIncidents');
  const all = useQuery(service.sensors.getAll.queryOptions({ take: 1 }));
  const offline = useQuery(service.sensors.getAll.queryOptions({ status: 'OFFLINE', take: 1 }));
  const failing = useQuery(service.sensors.getAll.queryOptions({ status: 'ERROR', take: 1 }));
  const alerts = useQuery({
    ...service.watchlist.getAlerts.queryOptions({ acknowledged: false, sortBy: 'priority', take: 1 }),
    enabled: mayAlerts,
  });
  const hasAlerts = mayAlerts && !isFeatureOff(alerts.error, 'watchlist');
  const answers = [all, offline, failing, ...(hasAlerts ? [alerts] : [])];
  return {
    sensors: all.data?.total,
    offline: offline.data?.total,
    failing: failing.data?.total,
    alerts: hasAlerts ? alerts.data?.total : null,
    urgent: alerts.data?.alerts[0]?.priority,
    isPending: answers.some(({ isPending }) => isPending),
    error: answers.find(({ error, data }) => error && !data)?.error ?? null,
  };
}

/** Whether the user may see incidents and the feature is enabled. */
export function useHasIncidents(): boolean {
  const hasFeature = useHasFeature('incidents');
  return useMay('manageIncidents') && hasFeature;
}

const AGAIN_MS = 120_000;

/**
 * The events of the current hour and the 23 hours before it, per hour. This is the most expensive query of the page, so
 * it is refetched rarely, and starts after the others: calls made at the same time share one response.
 * @returns `since` is the start of the first hour; `total` is undefined until it is loaded, and null if the role may
 *   not see it or analytics is disabled
 */
export function useLastDay() {
  const hasFeature = useHasFeature('analytics');
  const may = useMay('viewReports') && hasFeature;
  const { isPending } = useCounts();
  const now = useNow(AGAIN_MS);
  const since = new Date(startOfHour(now, useServiceTime()) - 23 * HOUR_MS);
  const startDate = since.toISOString();
  const { data, error } = useQuery({
    ...service.reports.getAnalytics.queryOptions({ startDate, interval: 'hour', repeatPlates: false }),
    enabled: may && !isPending,
    refetchInterval: AGAIN_MS,
    staleTime: AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  return { since, total: may ? data?.totals.events.value : null, perHour: data?.series, error };
}
