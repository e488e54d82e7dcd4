import type { LocatedSensor } from '@gantry/contract/sensors';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf } from '../map/look.ts';
import type { MapPoint } from '../map/point.ts';
import { statusLooks } from '../status/sensor-status.tsx';

type Placed = Pick<LocatedSensor, 'id' | 'name' | 'status' | 'coordinates'>;

/** Sensors as points of the map, without those whose place is not known. */
export function useSensorPoints(sensors: readonly Placed[]): readonly MapPoint[] {
  const { t } = useTranslation('common');
  return useMemo(
    () =>
      sensors.flatMap(({ id, name, status, coordinates }) =>
        coordinates
          ? {
              id,
              label: name,
              latitude: coordinates.latitude,
              longitude: coordinates.longitude,
              look: lookOf(statusLooks[status].tone, t(`sensorStatus.${status}`)),
            }
          : [],
      ),
    [sensors, t],
  );
}
