import { HOUR_MS } from '@gantry/contract/durations';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useHasFeature } from '../../shared/service/features.ts';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/may.ts';
import { useNow } from '../../shared/time/use-time.ts';
import { useCounts } from './use-counts.ts';

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
  const since = new Date(Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS);
  const startDate = since.toISOString();
  const { data, error } = useQuery({
    ...service.reports.getAnalytics.queryOptions({ startDate, interval: 'hour' }),
    enabled: may && !isPending,
    refetchInterval: AGAIN_MS,
    staleTime: AGAIN_MS,
    placeholderData: keepPreviousData,
  });
  return { since, total: may ? data?.totals.events.value : null, perHour: data?.series, error };
}
