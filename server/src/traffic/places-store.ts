import { isUuid } from '@gantry/contract/id';
import { eq } from 'drizzle-orm';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { always, type History } from '../platform/history.ts';
import { locationLimits, readStandings } from '../sensors/standings-store.ts';
import type { Place } from './rollups-store.ts';

/** A place with its speed limits (km/h). */
export interface LimitedPlace extends Place {
  /** The present limit. */
  readonly speedLimit: number | null;
  /** All limits over time, on slots of five minutes: a change applies from the slot in which it was made. */
  readonly limits: History<number | null>;
}

const SLOT_MS = 300_000;

/**
 * The sensor or location of the query.
 * @throws AppError `notFound`
 */
export async function getPlace(
  db: Executor,
  { sensorId, locationId }: { sensorId?: string | undefined; locationId?: string | undefined },
): Promise<LimitedPlace> {
  if (sensorId !== undefined) {
    const [row] = isUuid(sensorId)
      ? await db
          .select({ id: sensors.id, locationId: sensors.locationId, speedLimit: locations.speedLimit })
          .from(sensors)
          .leftJoin(locations, eq(locations.id, sensors.locationId))
          .where(eq(sensors.id, sensorId))
      : [];
    if (!row) throw notFound('Sensor');
    const standings = await readStandings(db, row.id, row.locationId);
    const limits = standings.map(({ since, value }) => ({ since, value: value.speedLimit }));
    return { kind: 'sensor', id: row.id, speedLimit: row.speedLimit, limits: onSlots(limits) };
  }
  const [row] =
    locationId !== undefined && isUuid(locationId)
      ? await db
          .select({ id: locations.id, speedLimit: locations.speedLimit })
          .from(locations)
          .where(eq(locations.id, locationId))
      : [];
  if (!row) throw notFound('Location');
  const limits = (await locationLimits.read(db, [row.id])).get(row.id) ?? always(row.speedLimit);
  return { kind: 'location', ...row, limits: onSlots(limits) };
}

function onSlots(limits: History<number | null>): History<number | null> {
  return limits.map(({ since, value }) => ({ since: Math.floor(since / SLOT_MS) * SLOT_MS, value }));
}
