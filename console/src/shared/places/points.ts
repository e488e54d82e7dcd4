import type { Location } from '@gantry/contract/locations';
import type { LocatedSensor } from '@gantry/contract/sensors';
import type { LiveTraffic } from '@gantry/contract/traffic';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf, type MapPoint, type Placed, pointsOf } from '../map/point.ts';
import { api, service } from '../service/service.ts';
import { levelLooks, levelText, statusLooks } from '../status/badges.tsx';

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

/** The points of locations on the map, coloured by level of traffic. Locations without coordinates are left out. */
export function useLocationPoints(locations: readonly Location[]): readonly MapPoint[] {
  const { t } = useTranslation('common');
  const { data } = useLiveTraffic();
  return useMemo(() => {
    const levels = new Map(data?.locations.map((each) => [each.locationId, each]));
    return pointsOf(locations, ({ id }) => {
      const now = levels.get(id) ?? { level: 'NO_DATA' as const };
      return lookOf(levelLooks[now.level].tone, t(`trafficLevel.${levelText(now)}`));
    });
  }, [locations, data, t]);
}

type PlacedSensor = Placed & Pick<LocatedSensor, 'status'>;

/** The points of sensors on the map, coloured by status. Sensors without coordinates are left out. */
export function useSensorPoints(sensors: readonly PlacedSensor[]): readonly MapPoint[] {
  const { t } = useTranslation('common');
  return useMemo(
    () => pointsOf(sensors, ({ status }) => lookOf(statusLooks[status].tone, t(`sensorStatus.${status}`))),
    [sensors, t],
  );
}
