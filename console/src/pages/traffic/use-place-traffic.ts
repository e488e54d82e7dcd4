import type { FlowInput } from '@gantry/contract/traffic';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { service } from '../../shared/service/service.ts';
import type { Subject } from './comparison.ts';

interface Options {
  readonly interval: FlowInput['interval'];
  readonly vehicleType: string | undefined;
}

/** The queries for the charts of a place. They are disabled while `subject` is null. */
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
    // Without a subject, `keepPreviousData` would still return the data of a comparison that was switched off.
    flow: (subject && flow.data) || null,
    speeds: (subject && speeds.data) || null,
    week: (subject && week.data) || null,
    error: all.find(({ error }) => error)?.error ?? null,
    /** Whether any of the data still belongs to the previous place, days or options. */
    isOutdated: all.some(({ isPlaceholderData }) => isPlaceholderData),
    isFetching: all.some(({ isFetching }) => isFetching),
    refetch: () => {
      for (const query of all) void query.refetch();
    },
  };
}
