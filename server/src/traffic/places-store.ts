import { isUuid } from '@gantry/contract/id';
import { eq } from 'drizzle-orm';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { always, type History } from '../platform/history.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { locationLimits, type Placement, readPlacements } from '../sensors/placements-store.ts';
import type { Place } from './rollups-store.ts';

/** A place with its speed limits (km/h). */
export interface LimitedPlace extends Place {
  /** The present limit; for a query with `installedAt`, the last limit while the sensor stood there. */
  readonly speedLimit: number | null;
  /** All limits over time, on slots of five minutes: a change applies from the slot in which it was made. */
  readonly limits: History<number | null>;
}

/** The sensor or location of a query. */
export interface WantedPlace {
  readonly sensorId?: string | undefined;
  readonly locationId?: string | undefined;
  /** Only what the sensor saw while it stood at this location; null for none that still exists. */
  readonly installedAt?: string | null | undefined;
  /** Whether the sensor may be a deleted one. */
  readonly mayBeDeleted?: boolean | undefined;
}

/**
 * The sensor or location of the query.
 * @throws AppError `notFound`
 */
export async function getPlace(
  db: Executor,
  { sensorId, locationId, installedAt, mayBeDeleted = false }: WantedPlace,
): Promise<LimitedPlace> {
  if (sensorId !== undefined) {
    const [found] = isUuid(sensorId)
      ? await db
          .select({ id: sensors.id, locationId: sensors.locationId, speedLimit: locations.speedLimit })
          .from(sensors)
          .leftJoin(locations, eq(locations.id, sensors.locationId))
          .where(eq(sensors.id, sensorId))
      : [];
    const row = found ?? (mayBeDeleted ? { id: sensorId, locationId: null, speedLimit: null } : null);
    if (!row) throw notFound('Sensor');
    const placements = await readPlacements(db, row.id, row.locationId);
    const limits = placements.map(({ since, value }) => ({ since, value: value.speedLimit }));
    const place = { kind: 'sensor', id: row.id, limits: onSlots(limits) } as const;
    if (installedAt === undefined) return { ...place, speedLimit: row.speedLimit };
    const last = placements.findLast(({ value }) => isAt(value, installedAt));
    return {
      ...place,
      speedLimit: last?.value.speedLimit ?? null,
      spans: spansAt(placements, installedAt),
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

/** Whether a placement is at a location, or (null) at none that still exists. */
function isAt({ locationId, locationName }: Placement, wanted: string | null): boolean {
  return wanted === null ? locationName === null : locationId === wanted;
}

/**
 * When a sensor stood at a location, or (null) at none that still exists, in whole slots, of which none counts for two
 * places.
 */
function spansAt(placements: History<Placement>, locationId: string | null): Interval[] {
  const spans: { from: number; until: number }[] = [];
  for (const [n, { since, value }] of placements.entries()) {
    if (!isAt(value, locationId)) continue;
    const until = placements[n + 1]?.since ?? Number.POSITIVE_INFINITY;
    const last = spans.at(-1);
    // A change of the limit does not divide its stay.
    if (last?.until === since) last.until = until;
    else spans.push({ from: since, until });
  }
  return spans.map(({ from, until }) => ({
    from: Math.ceil(from / SLOT_MS) * SLOT_MS,
    until: slotOf(until),
  }));
}

function onSlots(limits: History<number | null>): History<number | null> {
  return limits.map(({ since, value }) => ({ since: slotOf(since), value }));
}
