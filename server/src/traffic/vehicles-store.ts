import { type SQL, sql } from 'drizzle-orm';
import { idWithinAny } from '../events/counts/totals.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../platform/time.ts';
import { MAX_SPEED, ORIGIN, storedVehicles } from './passed-store.ts';
import { type Counting, isOfMotor, isRead, type Kind, numbersOf, type Read } from './slots-store.ts';

// Single vehicles whose events are still stored.

interface Vehicle extends Kind {
  /** Of five minutes, in Unix milliseconds. */
  readonly slot: number;
  readonly sensorId: string;
}

/** A vehicle with a plausible speed; with its channel if it was asked for. */
export interface SingleVehicle extends Vehicle {
  /** km/h */
  readonly speed: number;
}

/** A vehicle with the time at which it passed, and its channel. */
export interface Passage extends Vehicle {
  /** Unix milliseconds. */
  readonly at: number;
  /** The time behind the vehicle ahead, in seconds; null if the sensor does not report it. */
  readonly headway: number | null;
  /** How long it was on the detector, in milliseconds; null if the sensor does not report it. */
  readonly occupied: number | null;
}

interface VehiclesRow extends Record<string, unknown> {
  slots: string | null;
  sensors: string[];
  types: string[];
  classes: string[];
  directions?: string[];
  lanes?: string[];
  movements?: string[];
  event_types?: string[];
  motors: boolean[];
  speeds?: string;
  times?: string;
  headways?: string;
  occupied?: string;
}

/** What is read of vehicles besides their kind. */
interface Wanted {
  readonly condition: SQL;
  /** The most vehicles that are read. */
  readonly limit?: number;
  /** Expressions on `passed`, each of which gives an array as a text. */
  readonly columns: SQL;
  /** Whether to read their directions, lanes, movements and types of events. */
  readonly isByChannel: boolean;
}

/** Vehicles, and the row with the arrays of what was wanted, in the same order. */
async function readKindsOf(
  db: Executor,
  read: Read,
  counting: readonly Counting[],
  range: Interval,
  { condition, limit, columns, isByChannel }: Wanted,
): Promise<{ vehicles: Vehicle[]; row: VehiclesRow } | null> {
  if (counting.length === 0) return null;
  const { spans = [ENDLESS] } = read;
  const channels = sql`, array_agg(direction) AS directions, array_agg(lane) AS lanes, array_agg(movement) AS movements,
      array_agg(event_type) AS event_types`;
  const ids = counting.map(({ sensorId }) => sensorId);
  const sources = counting.map((each) => each.source);
  const here = 'locationId' in read ? isRead(read) : sql`true`;
  const { rows } = await db.execute<VehiclesRow>(sql`
    SELECT array_agg(date_part('epoch', date_bin('5 minutes', at, ${ORIGIN}))::bigint)::text AS slots,
      array_agg(sensor_id) AS sensors, array_agg(vehicle_type) AS types, array_agg(vehicle_class) AS classes,
      array_agg(${isOfMotor}) AS motors, ${columns}${isByChannel ? channels : sql``}
    FROM (
      SELECT at, sensor_id, coalesce(vehicle_type, '') AS vehicle_type, coalesce(vehicle_class, '') AS vehicle_class,
        coalesce(direction, '') AS direction, coalesce(lane, '') AS lane, coalesce(movement, '') AS movement,
        event_type, speed, headway, occupancy_ms, source
      FROM (${storedVehicles(sql`sensor_id = ANY (${sql.param(ids)}::uuid[]) AND ${here}`, range, ['headway', 'occupancy_ms'])}) AS stored
      WHERE ${condition} AND ${sql.join([sql`true`, ...idWithinAny(spans)], sql` AND `)}
      ${limit === undefined ? sql`` : sql`LIMIT ${limit}`}
    ) AS passed
    JOIN unnest(${sql.param(ids)}::uuid[], ${sql.param(sources)}::smallint[]) AS one (sensor_id, source) USING (sensor_id, source)`);
  const [row] = rows;
  if (!row?.slots) return null;
  const vehicles = numbersOf(row.slots).map((seconds, n) => ({
    slot: seconds * 1_000,
    sensorId: row.sensors[n] ?? '',
    vehicleType: row.types[n] ?? '',
    vehicleClass: row.classes[n] ?? '',
    direction: row.directions?.[n] ?? '',
    lane: row.lanes?.[n] ?? '',
    movement: row.movements?.[n] ?? '',
    eventType: row.event_types?.[n] ?? '',
    isMotor: row.motors[n] ?? true,
  }));
  return { vehicles, row };
}

/**
 * Each vehicle whose event is still stored, by its speed.
 * @param counting as for `readCounts`
 * @param isByChannel whether to read their directions, lanes, movements and types of events
 */
export async function readVehicles(
  db: Executor,
  read: Read,
  counting: readonly Counting[],
  range: Interval,
  isByChannel = false,
): Promise<SingleVehicle[]> {
  const found = await readKindsOf(db, read, counting, range, {
    condition: sql`speed > 0 AND speed <= ${MAX_SPEED}`,
    columns: sql`array_agg(speed)::text AS speeds`,
    isByChannel,
  });
  if (!found) return [];
  const speeds = numbersOf(found.row.speeds ?? '{}');
  return found.vehicles.map((vehicle, n) => ({ ...vehicle, speed: speeds[n] ?? 0 }));
}

/** Of more vehicles, the times at which they passed are not read. */
export const MAX_PASSED = 500_000;

/**
 * Each vehicle whose event is still stored, with the time at which it passed; of more than `MAX_PASSED`, one more than that.
 * @param counting as for `readCounts`
 */
export async function readPassed(
  db: Executor,
  read: Read,
  counting: readonly Counting[],
  range: Interval,
): Promise<Passage[]> {
  const found = await readKindsOf(db, read, counting, range, {
    condition: sql`true`,
    limit: MAX_PASSED + 1,
    // Seconds and milliseconds are never negative.
    columns: sql`array_agg((date_part('epoch', at) * 1000)::bigint)::text AS times,
        array_agg(coalesce(headway, -1)::float8)::text AS headways, array_agg(coalesce(occupancy_ms, -1))::text AS occupied`,
    isByChannel: true,
  });
  if (!found) return [];
  const { vehicles, row } = found;
  const [times, headways, occupied] = [row.times, row.headways, row.occupied].map((array = '{}') =>
    numbersOf(array),
  );
  const known = (value = -1): number | null => (value < 0 ? null : value);
  return vehicles.map((vehicle, n) => ({
    ...vehicle,
    at: times?.[n] ?? vehicle.slot,
    headway: known(headways?.[n]),
    occupied: known(occupied?.[n]),
  }));
}
