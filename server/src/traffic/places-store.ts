import { isUuid } from '@gantry/contract/id';
import { eq } from 'drizzle-orm';
import { locations, sensors } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
import { notFound } from '../error.ts';
import type { Place } from './rollups-store.ts';

/** A place with the speed limit (km/h) that counts there now. */
export interface LimitedPlace extends Place {
  readonly speedLimit: number | null;
}

/**
 * The sensor or the location that is asked for.
 * @throws AppError `notFound`
 */
export const getPlace = async (
  db: Executor,
  { sensorId, locationId }: { sensorId?: string | undefined; locationId?: string | undefined },
): Promise<LimitedPlace> => {
  if (sensorId !== undefined) {
    const [row] = isUuid(sensorId)
      ? await db
          .select({ id: sensors.id, speedLimit: locations.speedLimit })
          .from(sensors)
          .leftJoin(locations, eq(locations.id, sensors.locationId))
          .where(eq(sensors.id, sensorId))
      : [];
    if (!row) throw notFound('Sensor');
    return { kind: 'sensor', ...row };
  }
  const [row] =
    locationId !== undefined && isUuid(locationId)
      ? await db
          .select({ id: locations.id, speedLimit: locations.speedLimit })
          .from(locations)
          .where(eq(locations.id, locationId))
      : [];
  if (!row) throw notFound('Location');
  return { kind: 'location', ...row };
};
