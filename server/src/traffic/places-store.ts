import { isUuid } from '@gantry/contract/id';
import { eq } from 'drizzle-orm';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { always, type History } from '../platform/history.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import type { Standing } from '../sensors/standings.ts';
import { locationLimits, readStandings } from '../sensors/standings-store.ts';
import type { Place } from './rollups-store.ts';

/** A place with its speed limits (km/h). */
export interface LimitedPlace extends Place {
  /** The present limit. */
  readonly speedLimit: number | null;
  /** All limits over time, on slots of five minutes: a change applies from the slot in which it was made. */
  readonly limits: History<number | null>;
}

/** The sensor or location of a query. */
export interface WantedPlace {
  readonly sensorId?: string | undefined;
  readonly locationId?: string | undefined;
  /** Whether to leave out what the sensor saw while it stood at a location, because it counts there. */
  readonly withoutLocations?: boolean | undefined;
}

/**
 * The sensor or location of the query.
 * @throws AppError `notFound`
 */
export async function getPlace(
  db: Executor,
  { sensorId, locationId, withoutLocations = false }: WantedPlace,
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
    return {
      kind: 'sensor',
      id: row.id,
      speedLimit: row.speedLimit,
      limits: onSlots(limits),
      ...(withoutLocations && { spans: spansWithoutLocation(standings) }),
    };
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

/** When a sensor stood at no location that still exists, in whole slots, of which none counts for two places. */
function spansWithoutLocation(standings: History<Standing>): Interval[] {
  return standings.flatMap(({ since, value }, n) => {
    if (value.locationName !== null) return [];
    const until = standings[n + 1]?.since ?? Number.POSITIVE_INFINITY;
    return [{ from: Math.ceil(since / SLOT_MS) * SLOT_MS, until: slotOf(until) }];
  });
}

function onSlots(limits: History<number | null>): History<number | null> {
  return limits.map(({ since, value }) => ({ since: slotOf(since), value }));
}
