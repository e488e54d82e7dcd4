import { HOUR_MS } from '@gantry/contract/durations';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useHasFeature } from '../service/features.ts';
import { service } from '../service/service.ts';
import { useMay } from '../session/may.ts';
import { useNow } from '../time/use-time.ts';
import { useCounts } from './use-counts.ts';

const AGAIN_MS = 120_000;

/**
 * Events of this hour and the 23 before it, hour by hour. This is the most expensive query of the page, so it runs last and
 * rarely: calls that are made together are answered together.
 * @returns `since` when the first of these hours began; `total` undefined until it is known, and null where the role may not see it or the service does not count it
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
