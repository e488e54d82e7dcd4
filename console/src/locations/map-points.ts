import type { Location } from '@gantry/contract/locations';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf } from '../map/look.ts';
import { type MapPoint, pointsOf } from '../map/point.ts';
import { levelLooks } from '../status/traffic-level.tsx';
import { useLiveTraffic } from './all-locations.ts';

/** The points of locations on the map, coloured by level of traffic. Locations without coordinates are left out. */
export function useLocationPoints(locations: readonly Location[]): readonly MapPoint[] {
  const { t } = useTranslation('locations');
  const { data } = useLiveTraffic();
  return useMemo(() => {
    const levels = new Map(data?.locations.map(({ locationId, level }) => [locationId, level]));
    return pointsOf(locations, ({ id }) => {
      const level = levels.get(id) ?? 'NO_DATA';
      return lookOf(levelLooks[level].tone, t(`levels.${level}`));
    });
  }, [locations, data, t]);
}
