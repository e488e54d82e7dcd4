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
import { type Segment, segmentsOf } from './segments.ts';
import { groupsWithin, inSegments, type Place, passedIn, passedWithin } from './slots-store.ts';

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
  mean_speed: number | null;
  share_over_limit: number | null;
  changed: boolean;
}

/** A location with traffic within the range. */
export type TopLocation = TopLocations['locations'][number] & {
  /** Whether its limit changed within the range; then the fraction refers only to the last limit. */
  readonly isLimitChanged: boolean;
};

/** All locations with traffic within the range, each compared with its limit at the end of the range. */
export async function listTopLocations(db: Executor, range: Interval): Promise<TopLocation[]> {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const rolledUp = inSegments(segments, sql`place_id = limited.id AND vehicle_type IS NULL`).map(
    (condition) => sql`
      SELECT limited.id, n, measured, speed_sum,
        (SELECT sum(count) FROM unnest(bins, counts) AS histogram (bin, count) WHERE bin > held) AS over
      FROM limited JOIN traffic_rollups ON ${condition}`,
  );
  // Plan: the unique index of traffic_rollups for each location; a month is at most 31 days and some hours of each.
  const { rows } = await db.execute<TopRow>(sql`
    WITH history AS (
      SELECT location_id AS id, bool_or(since > ${moment(whole.from)}) AS changed,
        (array_agg(speed_limit ORDER BY since DESC))[1] AS held
      FROM location_limits WHERE since < ${moment(whole.until)} GROUP BY 1
    ), limited AS MATERIALIZED (
      SELECT locations.id, name, speed_limit, coalesce(changed, false) AS changed,
        ceil(CASE WHEN changed IS NULL THEN speed_limit ELSE held END) AS held
      FROM locations LEFT JOIN history ON history.id = locations.id
    ), passed AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT limited.id, sign * vehicle, CASE WHEN speed IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0),
        CASE WHEN bin > held THEN sign END
      FROM (${passedIn(groupsWithin(whole), passedWithin(whole))}) AS fresh JOIN limited ON limited.id = location_id
    ), summed AS (
      SELECT id, sum(n)::bigint AS volume, sum(measured) AS measured, sum(speed_sum) AS speed_sum,
        coalesce(sum(over), 0) AS over
      FROM passed GROUP BY id HAVING sum(n) > 0
    )
    SELECT id, name, speed_limit, changed, volume,
      round(speed_sum / nullif(measured, 0) / 1000, 3)::double precision AS mean_speed,
      CASE WHEN held IS NOT NULL THEN round(over / nullif(measured, 0), 4)::double precision END AS share_over_limit
    FROM summed JOIN limited USING (id)`);
  return rows.map((row) => ({
    locationId: row.id,
    locationName: row.name,
    volume: row.volume,
    meanSpeed: row.mean_speed,
    shareOverLimit: row.share_over_limit,
    speedLimit: row.speed_limit,
    isLimitChanged: row.changed,
  }));
}

/** The last minutes of a location; sums of speeds in metres per hour. */
interface LiveRow extends Record<string, unknown> {
  readonly id: string;
  readonly name: string;
  readonly speed_limit: number | null;
  readonly monitored: boolean;
  readonly n: number;
  readonly measured: number;
  readonly speed_sum: number;
  readonly usual_measured: number;
  readonly usual_sum: number;
}

const USUAL_MS = 7 * DAY_MS;

/** The traffic of every location within a range of minutes, and during the seven days before. */
export async function readLive(db: Executor, range: Interval): Promise<LiveRow[]> {
  const usual: Segment = { minutes: 1_440, from: range.from - USUAL_MS, until: range.until };
  const days = inSegments([usual], sql`place_id = locations.id AND vehicle_type IS NULL`).map(
    (condition) => sql`
        SELECT place_id, measured, speed_sum FROM locations JOIN traffic_rollups ON ${condition}
        WHERE speed_limit IS NULL`,
  );
  // Plan: the unique index of traffic_rollups for minutes, and for days of each location.
  const { rows } = await db.execute<LiveRow>(sql`
    WITH passed AS (
      SELECT place_id, n, measured, speed_sum FROM traffic_rollups
      WHERE minutes = 1 AND slot >= ${moment(range.from)} AND slot < ${moment(range.until)}
      UNION ALL
      SELECT location_id, sign * vehicle, CASE WHEN speed IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0)
      FROM (${passedIn(groupsWithin(range), sql`location_id IS NOT NULL AND ${passedWithin(range)}`)}) AS fresh
    ), live AS (
      SELECT place_id, sum(n) AS n, sum(measured) AS measured, sum(speed_sum) AS speed_sum FROM passed GROUP BY 1
    ), usual AS (
      SELECT place_id, sum(measured) AS measured, sum(speed_sum) AS speed_sum
      FROM (
        ${sql.join(days, sql` UNION ALL `)}
      ) AS days GROUP BY 1
    ), monitored AS (
      SELECT DISTINCT location_id FROM sensors WHERE status = 'ONLINE' AND location_id IS NOT NULL
    )
    SELECT id, name, speed_limit, monitored.location_id IS NOT NULL AS monitored, coalesce(live.n, 0)::bigint AS n,
      coalesce(live.measured, 0)::bigint AS measured, coalesce(live.speed_sum, 0)::bigint AS speed_sum,
      coalesce(usual.measured, 0)::bigint AS usual_measured, coalesce(usual.speed_sum, 0)::bigint AS usual_sum
    FROM locations LEFT JOIN live ON live.place_id = id LEFT JOIN usual ON usual.place_id = id
      LEFT JOIN monitored ON monitored.location_id = id
    ORDER BY ${sortedName(sql`name`)}, id`);
  return rows;
}
