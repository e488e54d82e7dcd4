import type { FlowInput } from '@gantry/contract/traffic';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { service } from '../service/service.ts';
import type { Subject } from './comparison.ts';

interface Options {
  readonly interval: FlowInput['interval'];
  readonly vehicleType: string | undefined;
}

/** Everything that is shown of a place; nothing is asked for when there is none. */
export function usePlaceTraffic(subject: Subject | null, { interval, vehicleType }: Options) {
  const input = {
    ...(subject?.place ?? {}),
    ...(subject?.days ?? { startDate: '', endDate: '' }),
    ...(vehicleType !== undefined && { vehicleType }),
  };
  const options = { enabled: subject !== null, placeholderData: keepPreviousData, staleTime: 60_000 };
  const flow = useQuery({ ...service.traffic.getFlow.queryOptions({ ...input, interval }), ...options });
  const speeds = useQuery({ ...service.traffic.getSpeedDistribution.queryOptions(input), ...options });
  const week = useQuery({ ...service.traffic.getHourOfWeek.queryOptions(input), ...options });
  const all = [flow, speeds, week];
  return {
    // What was kept of a comparison that is over is not shown any more.
    flow: (subject && flow.data) || null,
    speeds: (subject && speeds.data) || null,
    week: (subject && week.data) || null,
    error: all.find(({ error }) => error)?.error ?? null,
    /** Whether something is still that of the place and the days before. */
    isOutdated: all.some(({ isPlaceholderData }) => isPlaceholderData),
    isFetching: all.some(({ isFetching }) => isFetching),
    refetch: () => {
      for (const query of all) void query.refetch();
    },
  };
}
