import { DAY_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { TopLocations } from '@gantry/contract/traffic';
import { eq, sql } from 'drizzle-orm';
import { sortedName } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { always, type History } from '../platform/history.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { locationLimits, type Placement, readPlacements } from '../sensors/placements-store.ts';
import { countingOf, SENT } from './presence-store.ts';
import { type Segment, segmentsOf } from './segments.ts';
import {
  BINS,
  groupsWithin,
  inSegments,
  isOfMotor,
  isPlausible,
  type Place,
  passedIn,
  passedWithin,
} from './slots-store.ts';

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

interface TopRow extends Record<string, unknown> {
  id: string;
  name: string;
  speed_limit: number | null;
  volume: number;
  measured: number;
  mean_speed: number | null;
  share_over_limit: number | null;
  is_simple: boolean;
}

/** A location with traffic within the range. */
export type TopLocation = TopLocations['locations'][number] & {
  /**
   * Whether its limit did not change within the range, and all of its sensors are of one type. Otherwise the fraction
   * refers only to the last limit, and vehicles may have been counted by sensors of several types.
   */
  readonly isSimple: boolean;
};

/** The cells of motor vehicles. */
const MOTOR_CELLS = sql`SELECT id FROM traffic_cells WHERE ${isOfMotor(sql`vehicle_type`)}`;

/** All locations with traffic within the range, each compared with its limit at the end of the range. */
export async function listTopLocations(db: Executor, range: Interval): Promise<TopLocation[]> {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const rolledUp = inSegments(segments, sql`location_id = limited.id`).map(
    (condition) => sql`
      SELECT limited.id, held, measure, value
      FROM limited JOIN ${BINS} AS bins ON ${condition}
        LEFT JOIN counting ON counting.sensor_id = bins.sensor_id
        CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
      WHERE (bins.source = 0 OR bins.source = counting.source) AND cell IN (SELECT id FROM motor)`,
  );
  // Plan: traffic_bins_of_location for each location; a month is at most 31 days and some hours of each.
  const { rows } = await db.execute<TopRow>(sql`
    WITH history AS (
      SELECT location_id AS id, bool_or(since > ${moment(whole.from)}) AS changed,
        (array_agg(speed_limit ORDER BY since DESC))[1] AS held
      FROM location_limits WHERE since < ${moment(whole.until)} GROUP BY 1
    ), limited AS MATERIALIZED (
      SELECT locations.id, name, speed_limit, coalesce(changed, false) AS changed,
        ceil(CASE WHEN changed IS NULL THEN speed_limit ELSE held END) AS held
      FROM locations LEFT JOIN history ON history.id = locations.id
    ), sent AS MATERIALIZED (
      SELECT location_id, sensor_id FROM ${SENT} AS sent
    ), counting AS MATERIALIZED (
      ${countingOf(sql`SELECT sensor_id FROM sent GROUP BY 1`)}
    ), mixed AS MATERIALIZED (
      SELECT location_id FROM (
        TABLE sent UNION ALL SELECT location_id, id FROM sensors
      ) AS here JOIN counting USING (sensor_id)
      WHERE source IS NOT NULL GROUP BY 1 HAVING count(DISTINCT type) > 1
    ), motor AS MATERIALIZED (
      ${MOTOR_CELLS}
    ), passed AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT limited.id, held, one.measure, one.value
      FROM (${passedIn(groupsWithin(whole), passedWithin(whole))}) AS fresh JOIN counting USING (sensor_id, source)
        JOIN limited ON limited.id = location_id
        CROSS JOIN LATERAL (
          VALUES (coalesce(bin, -1)::int, (sign * vehicle)::bigint), (-2, sign * speed)
        ) AS one (measure, value)
      WHERE ${isOfMotor(sql`vehicle_type`)}
    ), summed AS (
      SELECT id, sum(value) FILTER (WHERE measure >= -1)::bigint AS volume,
        coalesce(sum(value) FILTER (WHERE ${isPlausible}), 0)::bigint AS measured,
        coalesce(sum(value) FILTER (WHERE measure = -2), 0) AS speed_sum,
        coalesce(sum(value) FILTER (WHERE ${isPlausible} AND measure > held), 0) AS over
      FROM passed GROUP BY id HAVING sum(value) FILTER (WHERE measure >= -1) > 0
    )
    SELECT id, name, speed_limit, volume, measured,
      NOT changed AND id NOT IN (SELECT location_id FROM mixed WHERE location_id IS NOT NULL) AS is_simple,
      round(speed_sum / nullif(measured, 0) / 1000, 3)::double precision AS mean_speed,
      CASE WHEN held IS NOT NULL THEN round(over / nullif(measured, 0), 4)::double precision END AS share_over_limit
    FROM summed JOIN limited USING (id)`);
  return rows.map((row) => ({
    locationId: row.id,
    locationName: row.name,
    volume: row.volume,
    measured: row.measured,
    meanSpeed: row.mean_speed,
    shareOverLimit: row.share_over_limit,
    speedLimit: row.speed_limit,
    isSimple: row.is_simple,
  }));
}

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
  readonly types: readonly LiveCounts[];
  readonly usual_measured: number;
  readonly usual_sum: number;
}

const USUAL_MS = 7 * DAY_MS;

/** The traffic of every location within a range of minutes, and its speeds during the seven days before. */
export async function readLive(db: Executor, range: Interval): Promise<LiveLocation[]> {
  const usual: Segment = { minutes: 1_440, from: range.from - USUAL_MS, until: range.until };
  const days = inSegments([usual], sql`location_id = locations.id`).map(
    (condition) => sql`
        SELECT locations.id, measure, value
        FROM locations JOIN ${BINS} AS bins ON ${condition} LEFT JOIN counting ON counting.sensor_id = bins.sensor_id
          CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
        WHERE speed_limit IS NULL AND (bins.source = 0 OR bins.source = counting.source)
          AND cell IN (SELECT id FROM motor)`,
  );
  // Plan: the unique index of traffic_bins for minutes, and traffic_bins_of_location for days.
  const { rows } = await db.execute<LiveLocation>(sql`
    WITH sent AS MATERIALIZED (
      SELECT location_id, sensor_id FROM ${SENT} AS sent
    ), counting AS MATERIALIZED (
      ${countingOf(sql`SELECT sensor_id FROM sent UNION SELECT id FROM sensors`)}
    ), motor AS MATERIALIZED (
      ${MOTOR_CELLS}
    ), passed AS MATERIALIZED (
      SELECT location_id, sensor_id, measure, value
      FROM traffic_bins JOIN counting USING (sensor_id, source)
        CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
      WHERE minutes = 1 AND slot >= ${moment(range.from)} AND slot < ${moment(range.until)} AND cell IN (SELECT id FROM motor)
      UNION ALL
      SELECT location_id, sensor_id, one.measure, one.value
      FROM (${passedIn(groupsWithin(range), sql`location_id IS NOT NULL AND ${passedWithin(range)}`)}) AS fresh
        JOIN counting USING (sensor_id, source)
        CROSS JOIN LATERAL (
          VALUES (coalesce(bin, -1)::int, (sign * vehicle)::bigint), (-2, sign * speed)
        ) AS one (measure, value)
      WHERE ${isOfMotor(sql`vehicle_type`)}
    ), live AS (
      SELECT location_id, type, coalesce(sum(value) FILTER (WHERE measure >= -1), 0)::bigint AS n,
        coalesce(sum(value) FILTER (WHERE ${isPlausible}), 0)::bigint AS measured,
        coalesce(sum(value) FILTER (WHERE measure = -2), 0)::bigint AS speed_sum
      FROM passed JOIN counting USING (sensor_id) GROUP BY 1, 2
    ), here AS (
      SELECT location_id, counting.type, bool_or(status = 'ONLINE') AS monitored, bool_and(silent) AS silent,
        avg((status = 'ONLINE' OR id IN (SELECT sensor_id FROM passed))::int)::float8 AS covered
      FROM sensors JOIN counting ON sensor_id = id WHERE location_id IS NOT NULL AND source IS NOT NULL GROUP BY 1, 2
    ), by_type AS (
      SELECT location_id, json_agg(json_build_object('type', type, 'n', coalesce(n, 0), 'measured', coalesce(measured, 0),
        'speed_sum', coalesce(speed_sum, 0), 'covered', coalesce(covered, 1), 'monitored', coalesce(monitored, false),
        'silent', coalesce(silent, false))) AS types
      FROM live FULL JOIN here USING (location_id, type) GROUP BY 1
    ), usual AS (
      SELECT id, coalesce(sum(value) FILTER (WHERE ${isPlausible}), 0) AS measured,
        coalesce(sum(value) FILTER (WHERE measure = -2), 0) AS speed_sum
      FROM (
        ${sql.join(days, sql` UNION ALL `)}
      ) AS days GROUP BY 1
    )
    SELECT id, name, speed_limit, coalesce(types, '[]') AS types,
      coalesce(usual.measured, 0)::bigint AS usual_measured, coalesce(usual.speed_sum, 0)::bigint AS usual_sum
    FROM locations LEFT JOIN by_type ON by_type.location_id = id LEFT JOIN usual USING (id)
    ORDER BY ${sortedName(sql`name`)}, id`);
  return rows;
}
