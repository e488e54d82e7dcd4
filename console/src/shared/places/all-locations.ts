import type { LiveTraffic } from '@gantry/contract/traffic';
import { useQuery } from '@tanstack/react-query';
import { api, service } from '../service/service.ts';

const TAKE = 100;
/** The interval between refetches of the traffic, in milliseconds. The service counts it in slots of five minutes. */
const TRAFFIC_MS = 15_000;

/** Loads all locations, for maps. Lists load them page by page. */
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

/** The current traffic at every location. */
export function useLiveTraffic(enabled = true) {
  return useQuery({ enabled, ...service.traffic.getLive.queryOptions(), refetchInterval: TRAFFIC_MS });
}
