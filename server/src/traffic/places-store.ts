import { DAY_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { SpeedUnits } from '@gantry/contract/values';
import { eq, type SQL, sql } from 'drizzle-orm';
import { sortedName } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { always, type History } from '../platform/history.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { locationLimits, type Placement, readPlacements } from '../sensors/placements-store.ts';
import { isPassageWaiting, passedWithin, source, waitingIn } from './passed-store.ts';
import { getAnyPoint } from './points-store.ts';
import { countingOf, SENT } from './presence-store.ts';
import { REJECTING } from './quality/rules.ts';
import type { Segment } from './segments.ts';
import { BINS, expectingPassages, inSegments, isOfMotor, type Place } from './slots-store.ts';

/** A place with its speed limits (km/h). */
export interface LimitedPlace extends Place {
  /** The present limit; for a query with `installedAt`, the last limit while the sensor stood there. */
  readonly speedLimit: number | null;
  /** All limits over time, on slots of five minutes: a change applies from the slot in which it was made. */
  readonly limits: History<number | null>;
}

/** The sensor, location or measuring point of a query. */
export interface WantedPlace {
  readonly sensorId?: string | undefined;
  readonly locationId?: string | undefined;
  readonly pointId?: string | undefined;
  /** Only what the sensor saw while it stood at this location; null for none that still exists. */
  readonly installedAt?: string | null | undefined;
  /** Whether the sensor may be a deleted one. */
  readonly mayBeDeleted?: boolean | undefined;
}

/**
 * The sensor, location or point of the query.
 * @throws AppError `notFound`
 */
export async function getPlace(
  db: Executor,
  { sensorId, locationId, pointId, installedAt, mayBeDeleted = false }: WantedPlace,
): Promise<LimitedPlace> {
  if (pointId !== undefined) {
    const point = await getAnyPoint(db, pointId);
    const location = await getPlace(db, { locationId: point.locationId });
    return point.id === location.id ? location : { ...location, kind: 'point', id: point.id };
  }
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
  return { kind: 'location', ...row, locationId: row.id, limits: onSlots(limits) };
}

/** The units that are entered for the location of a place; null for none. */
export async function readSpeedUnits(
  db: Executor,
  { sensorId, locationId, pointId }: WantedPlace,
): Promise<SpeedUnits | null> {
  const id = sensorId ?? locationId ?? pointId;
  if (id === undefined || !isUuid(id)) return null;
  // The id of a location is also that of its only point, if none is entered.
  const { rows } = await db.execute<{ speed_units: SpeedUnits | null }>(sql`
    SELECT speed_units FROM locations WHERE id = coalesce((SELECT location_id FROM sensors WHERE id = ${id}::uuid),
      (SELECT location_id FROM measuring_points WHERE id = ${id}::uuid), ${id}::uuid)`);
  return rows[0]?.speed_units ?? null;
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

/** Limits over time, each from the beginning of the slot in which it was changed. */
export function onSlots(limits: History<number | null>): History<number | null> {
  return limits.map(({ since, value }) => ({ since: slotOf(since), value }));
}

/** The sums of a vehicle that is not rolled up: vehicles, those with a speed, and their speeds. */
export const VALUES = sql.raw(
  'sign * vehicle, CASE WHEN bin IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0)',
);

/** What one type of sensors saw at a location; sums of speeds in metres per hour. */
export interface LiveCounts {
  readonly type: string;
  readonly n: number;
  readonly measured: number;
  readonly speed_sum: number;
  /** The share of its sensors that are ONLINE or saw anything. */
  readonly covered: number;
  /** Whether one of them is ONLINE. */
  readonly monitored: boolean;
  /** Whether none of them ever sent anything. */
  readonly silent: boolean;
}

/** The last minutes of a location. */
export interface LiveLocation extends Record<string, unknown> {
  readonly id: string;
  readonly name: string;
  readonly speed_limit: number | null;
  /** Those that are entered for it; null for none. */
  readonly units: SpeedUnits | null;
  readonly types: readonly LiveCounts[];
  /** Whether any counting sensor is ONLINE, also one that sends counts of intervals. */
  readonly working: boolean;
  readonly usual_measured: number;
  readonly usual_sum: number;
}

// Where sensors are assigned, these count, whatever their types.
const typeOfLive = sql.raw(
  `CASE WHEN location_id IN (SELECT location_id FROM assigned) THEN '' ELSE counting.type END`,
);
const isLive = sql.raw(
  `(location_id NOT IN (SELECT location_id FROM assigned) OR (location_id, sensor_id) IN (TABLE assigned))`,
);

const USUAL_MS = 7 * DAY_MS;

/** Days of sensors in `bins` of which nothing is rejected, by a stored flag or by a person. */
function isUndoubted(): SQL {
  const isThen = sql.raw(`since < bins.slot + interval '1 day' AND until > bins.slot`);
  return sql`NOT EXISTS (
      SELECT FROM traffic_flags WHERE traffic_flags.sensor_id = bins.sensor_id AND found_at > bins.slot - interval '4 days'
        AND rule = ANY (${sql.param(REJECTING)}::text[]) AND ${isThen}
    ) AND NOT EXISTS (
      SELECT FROM traffic_reviews WHERE decision = 'REJECT' AND place_id IN (bins.sensor_id, bins.location_id) AND ${isThen}
    )`;
}

interface LiveRow extends LiveLocation {
  readonly has_passages: boolean;
}

const readAsExpected = expectingPassages();

/**
 * The traffic of every location within a range of minutes, and its speeds during the seven days before, without days with rejected
 * data. Counts of intervals come too late for that.
 */
export async function readLive(db: Executor, range: Interval): Promise<LiveLocation[]> {
  const usual: Segment = { minutes: 1_440, from: range.from - USUAL_MS, until: range.until };
  const days = inSegments([usual], sql`location_id = locations.id AND ${isUndoubted()}`).map(
    (condition) => sql`
        SELECT locations.id, measured, speed_sum
        FROM locations JOIN ${BINS} AS bins ON ${condition} LEFT JOIN counting ON counting.sensor_id = bins.sensor_id
        WHERE speed_limit IS NULL AND (bins.source = 0 OR bins.source = counting.source)`,
  );
  // Plan: the unique index of traffic_bins for minutes, and traffic_bins_of_location for days.
  const statementFor = (hasPassages: boolean): SQL => sql`
    WITH sent AS MATERIALIZED (
      SELECT location_id, sensor_id FROM ${SENT} AS sent
    ), counting AS MATERIALIZED (
      ${countingOf(sql`SELECT sensor_id FROM sent UNION SELECT id FROM sensors`)}
    ), assigned AS MATERIALIZED (
      SELECT points.location_id, sensor_id
      FROM measuring_points AS points JOIN detector_assignments AS held ON point_id = points.id
      WHERE role = 'COUNT' AND coalesce(held.valid_from < ${moment(range.until)}, true)
        AND coalesce(held.valid_until > ${moment(range.from)}, true)
    ), passed (location_id, sensor_id, n, measured, speed_sum) AS MATERIALIZED (
      SELECT location_id, sensor_id, vehicles, measured, speed_sum FROM traffic_bins JOIN counting USING (sensor_id, source)
      WHERE minutes = 1 AND slot >= ${moment(range.from)} AND slot < ${moment(range.until)}
      UNION ALL
      SELECT location_id, sensor_id, ${VALUES}
      FROM (${waitingIn(range, sql`location_id IS NOT NULL`, passedWithin(range), hasPassages)}) AS fresh
        JOIN counting USING (sensor_id, source)
      WHERE ${isOfMotor}
    ), live AS (
      SELECT location_id, ${typeOfLive} AS type, coalesce(sum(n), 0)::bigint AS n, coalesce(sum(measured), 0)::bigint AS measured,
        coalesce(sum(speed_sum), 0)::bigint AS speed_sum
      FROM passed JOIN counting USING (sensor_id) WHERE ${isLive} GROUP BY 1, 2
    ), here AS (
      SELECT location_id, ${typeOfLive} AS type, bool_or(status = 'ONLINE') AS monitored, bool_and(silent) AS silent,
        avg((status = 'ONLINE' OR id IN (SELECT sensor_id FROM passed))::int)::float8 AS covered
      FROM sensors JOIN counting ON sensor_id = id
      WHERE location_id IS NOT NULL AND source <> ${source.COUNTED} AND ${isLive} GROUP BY 1, 2
    ), working AS (
      SELECT location_id, bool_or(status = 'ONLINE') AS working FROM sensors JOIN counting ON sensor_id = id
      WHERE location_id IS NOT NULL AND source IS NOT NULL AND ${isLive} GROUP BY 1
    ), by_type AS (
      SELECT location_id, json_agg(json_build_object('type', type, 'n', coalesce(n, 0), 'measured', coalesce(measured, 0),
        'speed_sum', coalesce(speed_sum, 0), 'covered', coalesce(covered, 1), 'monitored', coalesce(monitored, false),
        'silent', coalesce(silent, false))) AS types
      FROM live FULL JOIN here USING (location_id, type) GROUP BY 1
    ), usual AS (
      SELECT id, coalesce(sum(measured), 0) AS measured, coalesce(sum(speed_sum), 0) AS speed_sum
      FROM (
        ${sql.join(days, sql` UNION ALL `)}
      ) AS days GROUP BY 1
    )
    SELECT ${isPassageWaiting(range)} AS has_passages, id, name, speed_limit, speed_units AS units, coalesce(types, '[]') AS types,
      coalesce(working, false) AS working, coalesce(usual.measured, 0)::bigint AS usual_measured,
      coalesce(usual.speed_sum, 0)::bigint AS usual_sum
    FROM locations LEFT JOIN by_type ON by_type.location_id = id LEFT JOIN working ON working.location_id = id
      LEFT JOIN usual USING (id)
    ORDER BY ${sortedName(sql`name`)}, id`;
  return readAsExpected(async (hasPassages) => (await db.execute<LiveRow>(statementFor(hasPassages))).rows);
}
