import type { FlowInput } from '@gantry/contract/traffic';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { service } from '../../shared/service/service.ts';
import type { SpeedUnits } from '../../shared/status/speed.ts';
import type { Subject } from './comparison.ts';
import { distributionIn, flowIn, weekIn } from './units.ts';

interface Options {
  /** The units of all speeds; by default those of the place. */
  readonly units?: SpeedUnits | undefined;
  readonly interval: FlowInput['interval'];
  readonly vehicleType: string | undefined;
}

/** The queries for the charts of a place. They are disabled while `subject` is null. */
export function usePlaceTraffic(subject: Subject | null, { interval, vehicleType, units: named }: Options) {
  const input = {
    ...(subject?.place ?? {}),
    ...(subject?.days ?? { startDate: '', endDate: '' }),
    ...(vehicleType !== undefined && { vehicleType }),
  };
  const options = { enabled: subject !== null, placeholderData: keepPreviousData, staleTime: 60_000 };
  const flow = useQuery({ ...service.traffic.getFlow.queryOptions({ ...input, interval }), ...options });
  const speeds = useQuery({
    ...service.traffic.getSpeedDistribution.queryOptions({ ...input, binWidth: 1 }),
    ...options,
  });
  const week = useQuery({ ...service.traffic.getHourOfWeek.queryOptions(input), ...options });
  const all = [flow, speeds, week];
  const units = named ?? flow.data?.units ?? 'KMH';
  const shown = useMemo(
    () => ({
      flow: flow.data ? flowIn(flow.data, units) : null,
      speeds: speeds.data ? distributionIn(speeds.data, units) : null,
      week: week.data ? weekIn(week.data, units) : null,
    }),
    [flow.data, speeds.data, week.data, units],
  );
  return {
    units,
    // Without a subject, `keepPreviousData` would still return the data of a comparison that was switched off.
    ...(subject ? shown : { flow: null, speeds: null, week: null }),
    error: all.find(({ error }) => error)?.error ?? null,
    /** Whether any of the data still belongs to the previous place, days or options. */
    isOutdated: all.some(({ isPlaceholderData }) => isPlaceholderData),
    isFetching: all.some(({ isFetching }) => isFetching),
    refetch: () => {
      for (const query of all) void query.refetch();
    },
  };
}
