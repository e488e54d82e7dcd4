import type { Location } from '@gantry/contract/locations';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf } from '../map/look.ts';
import { type MapPoint, pointsOf } from '../map/point.ts';
import { levelLooks, levelText } from '../status/traffic-level.tsx';
import { useLiveTraffic } from './all-locations.ts';

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
