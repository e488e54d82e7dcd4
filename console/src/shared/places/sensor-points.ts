import type { LocatedSensor } from '@gantry/contract/sensors';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { lookOf } from '../map/look.ts';
import { type MapPoint, type Placed, pointsOf } from '../map/point.ts';
import { statusLooks } from '../status/sensor-status.tsx';

type PlacedSensor = Placed & Pick<LocatedSensor, 'status'>;

/** The points of sensors on the map, coloured by status. Sensors without coordinates are left out. */
export function useSensorPoints(sensors: readonly PlacedSensor[]): readonly MapPoint[] {
  const { t } = useTranslation('common');
  return useMemo(
    () => pointsOf(sensors, ({ status }) => lookOf(statusLooks[status].tone, t(`sensorStatus.${status}`))),
    [sensors, t],
  );
}
