import type { LiveTraffic } from '@gantry/contract/traffic';
import { useQuery } from '@tanstack/react-query';
import { api, service } from '../service/service.ts';

const TAKE = 100;
/** How often the traffic is asked for again, in milliseconds. It is counted in slots of five minutes. */
const TRAFFIC_MS = 15_000;

/** All locations, for maps; lists read them page by page. */
export function useAllLocations(enabled = true) {
  return useQuery({
    enabled,
    queryKey: [...service.locations.getAll.queryKey(), 'all'],
    queryFn: async ({ signal }) => {
      const load = (skip: number) => api.locations.getAll.query({ skip, take: TAKE }, { signal });
      const first = await load(0);
      const starts = Array.from({ length: first.pageCount }, (_, page) => page * TAKE).slice(1);
      const rest = await Promise.all(starts.map(load));
      return [first, ...rest].flatMap(({ locations }) => locations);
    },
    staleTime: 60_000,
  });
}

export type TrafficNow = LiveTraffic['locations'][number];

/** The traffic of every location at the moment. */
export function useLiveTraffic(enabled = true) {
  return useQuery({ enabled, ...service.traffic.getLive.queryOptions(), refetchInterval: TRAFFIC_MS });
}
