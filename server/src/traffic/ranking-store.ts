import type { TopLocations } from '@gantry/contract/traffic';
import type { SpeedUnits } from '@gantry/contract/values';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { keptSince, waitingIn } from './passed-store.ts';
import { hasCrossingPeriods } from './periods-store.ts';
import { VALUES } from './places-store.ts';
import { countingOf, SENT } from './presence-store.ts';
import { type Segment, segmentsOf } from './segments.ts';
import { BINS, inSegments, isOfMotor, isPlausible, longerUntil } from './slots-store.ts';
import type { Judged, Speeds } from './speeds.ts';

// Sums over locations, from which they are ranked.

interface TopRow extends Record<string, unknown> {
  id: string;
  name: string;
  speed_limit: number | null;
  units: SpeedUnits | null;
  volume: number;
  measured: number;
  mean_speed: number | null;
  changed: boolean;
  mixed: boolean;
}

/** A location with traffic within the range, without the share of vehicles above its limit. */
export type TopLocation = Omit<TopLocations['locations'][number], 'shareOverLimit' | 'units'> & {
  /** Those that are entered for it; null for none. */
  readonly units: SpeedUnits | null;
  /** Whether its limit changed within the range. */
  readonly isLimitChanged: boolean;
  /** Whether sensors of several types were there, which may have counted the same vehicles, any were assigned to its points, moves were entered afterwards, or counts of intervals cross hours. */
  readonly isMixed: boolean;
};

/** All locations with traffic within the range. */
export async function listTopLocations(db: Executor, range: Interval): Promise<TopLocation[]> {
  const segments = segmentsOf(range);
  const whole = wholeOf(segments, range);
  const rolledUp = inSegments(segments, sql`location_id = locations.id`).map(
    (condition) => sql`
      SELECT locations.id, vehicles, measured, speed_sum
      FROM locations JOIN ${BINS} AS bins ON ${condition} LEFT JOIN counting ON counting.sensor_id = bins.sensor_id
      WHERE bins.source = 0 OR bins.source = counting.source`,
  );
  // Plan: traffic_bins_of_location for each location; a month is at most 31 days and some hours of each.
  const { rows } = await db.execute<TopRow>(sql`
    WITH sent AS MATERIALIZED (
      SELECT location_id, sensor_id FROM ${SENT} AS sent
    ), counting AS MATERIALIZED (
      ${countingOf(sql`SELECT sensor_id FROM sent GROUP BY 1`)}
    ), mixed AS MATERIALIZED (
      SELECT location_id FROM (
        TABLE sent UNION ALL SELECT location_id, id FROM sensors
      ) AS here JOIN counting USING (sensor_id)
      WHERE source IS NOT NULL AND location_id IS NOT NULL GROUP BY 1 HAVING count(DISTINCT type) > 1
    ), assigned AS MATERIALIZED (
      SELECT DISTINCT location_id FROM measuring_points AS points JOIN detector_assignments AS held ON point_id = points.id
      WHERE role = 'COUNT' AND coalesce(held.valid_from < ${moment(whole.until)}, true)
        AND coalesce(held.valid_until > ${moment(whole.from)}, true)
      UNION SELECT location_id FROM (
        SELECT location_id, sensor_id FROM sensor_places UNION ALL SELECT location_id, sensor_id FROM traffic_places
      ) AS known WHERE sensor_id IN (
        SELECT sensor_id FROM sensor_places
        WHERE entered_at > ${moment(whole.from)} AND since < ${moment(whole.until)}
      )
      UNION SELECT location_id FROM traffic_places AS place WHERE periods AND ${hasCrossingPeriods(sql`place.sensor_id`, segments)}
    ), passed (id, vehicles, measured, speed_sum) AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT location_id, ${VALUES}
      FROM (${waitingIn(whole, sql`true`)}) AS fresh JOIN counting USING (sensor_id, source)
      WHERE ${isOfMotor}
    ), summed AS (
      SELECT id, sum(vehicles)::bigint AS volume, sum(measured)::bigint AS measured, sum(speed_sum) AS speed_sum
      FROM passed GROUP BY id HAVING sum(vehicles) > 0
    )
    SELECT id, name, speed_limit, speed_units AS units, coalesce(volume, 0) AS volume, coalesce(measured, 0) AS measured,
      id IN (SELECT location_id FROM mixed UNION SELECT location_id FROM assigned) AS mixed,
      EXISTS (
        SELECT FROM location_limits WHERE location_id = id AND since > ${moment(whole.from)} AND since < ${moment(whole.until)}
      ) AS changed,
      round(speed_sum / nullif(measured, 0) / 1000, 3)::double precision AS mean_speed
    FROM locations LEFT JOIN summed USING (id) WHERE summed.id IS NOT NULL OR id IN (SELECT location_id FROM assigned)`);
  return rows.map((row) => ({
    locationId: row.id,
    locationName: row.name,
    volume: row.volume,
    measured: row.measured,
    meanSpeed: row.mean_speed,
    speedLimit: row.speed_limit,
    units: row.units,
    isLimitChanged: row.changed,
    isMixed: row.mixed,
  }));
}

/** The share of vehicles above the limit of locations at the end of a range; null without a limit or a speed. */
export async function readSharesOverLimit(
  db: Executor,
  ids: readonly string[],
  range: Interval,
): Promise<ReadonlyMap<string, number | null>> {
  const segments = segmentsOf(range);
  const whole = wholeOf(segments, range);
  const rolledUp = inSegments(segments, sql`location_id = limited.id`).map(
    (condition) => sql`
      SELECT limited.id, sum(value::float8) AS measured, sum(value::float8) FILTER (WHERE measure > held) AS over
      FROM limited JOIN ${BINS} AS bins ON ${condition} LEFT JOIN counting ON counting.sensor_id = bins.sensor_id
        CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
      WHERE (bins.source = 0 OR bins.source = counting.source) AND ${isPlausible}
        AND cell <> ALL (ARRAY(SELECT id FROM traffic_cells WHERE NOT is_motor))
      GROUP BY 1`,
  );
  // Plan: traffic_bins_of_location for each location.
  const { rows } = await db.execute<{ id: string; share: number | null }>(sql`
    WITH limited AS MATERIALIZED (
      SELECT id, ceil(coalesce(held.speed_limit, CASE WHEN held.since IS NULL THEN locations.speed_limit END)) AS held
      FROM locations LEFT JOIN LATERAL (
        SELECT since, speed_limit FROM location_limits
        WHERE location_id = id AND since < ${moment(whole.until)} ORDER BY since DESC LIMIT 1
      ) AS held ON true
      WHERE id = ANY (${sql.param(ids)}::uuid[])
    ), counting AS MATERIALIZED (
      ${countingOf(sql`SELECT sensor_id FROM ${SENT} AS sent WHERE location_id = ANY (${sql.param(ids)}::uuid[]) GROUP BY 1`)}
    ), passed AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT limited.id, sign, CASE WHEN bin > held THEN sign END
      FROM (${waitingIn(whole, sql`true`)}) AS fresh JOIN counting USING (sensor_id, source)
        JOIN limited ON limited.id = location_id
      WHERE bin IS NOT NULL AND ${isOfMotor}
    )
    SELECT id, CASE WHEN held IS NOT NULL
      THEN round((coalesce(sum(over), 0) / nullif(sum(measured), 0))::numeric, 4)::double precision END AS share
    FROM passed JOIN limited USING (id) GROUP BY id, held`);
  return new Map(rows.map(({ id, share }) => [id, share]));
}

function wholeOf(segments: readonly Segment[], { from, until }: Interval): Interval {
  return { from: segments[0]?.from ?? from, until: segments.at(-1)?.until ?? until };
}

/** A part of what a sensor counted at a location, in slots that are all kept. */
export interface KeptPart extends Segment {
  readonly locationId: string;
  /** The location itself for counts from before sources were known. */
  readonly sensorId: string;
  readonly source: number;
  /** The limit then, in whole km/h; null for none. */
  readonly limit: number | null;
}

/**
 * These parts, as a query of their own columns and those of `traffic_bins`.
 * @param columns of `bins`
 */
function binsOfParts(columns: SQL): SQL {
  // Plan: the unique index of traffic_bins for each part.
  const rows = (minutes: SQL, condition: SQL): SQL => sql`
    SELECT parts.location_id, held, ${columns}
    FROM parts JOIN ${BINS} AS bins ON bins.minutes = ${minutes} AND bins.sensor_id = parts.sensor_id
      AND bins.location_id = parts.location_id AND bins.source = parts.source
      AND bins.slot >= parts.since AND bins.slot < parts.until
    WHERE bins.slot >= ${keptSince} AND ${condition}`;
  return sql`
    ${rows(sql`parts.minutes`, sql`bins.slot < ${longerUntil}`)}
    UNION ALL
    ${rows(sql`5`, sql`bins.slot >= ${longerUntil} AND parts.until > ${longerUntil}`)}`;
}

/** The table `parts`, and what is not rolled up of them, as `fresh`. */
function withParts(parts: readonly KeptPart[]): SQL {
  const list = (of: (part: KeptPart) => string | number | null) => sql.param(parts.map(of));
  const times = (of: (part: KeptPart) => number) => list((part) => new Date(of(part)).toISOString());
  const whole = {
    from: Math.min(...parts.map(({ from }) => from)),
    until: Math.max(...parts.map(({ until }) => until)),
  };
  return sql`
    parts AS MATERIALIZED (
      SELECT * FROM unnest(${list(({ locationId }) => locationId)}::uuid[], ${list(({ sensorId }) => sensorId)}::uuid[],
          ${list(({ source }) => source)}::smallint[], ${list(({ minutes }) => minutes)}::smallint[],
          ${times(({ from }) => from)}::timestamptz[], ${times(({ until }) => until)}::timestamptz[],
          ${list(({ limit }) => limit)}::float8[])
        AS one (location_id, sensor_id, source, minutes, since, until, held)
    ), fresh AS MATERIALIZED (
      SELECT parts.location_id, held, vehicle, sign, bin, speed
      FROM (${waitingIn(whole, sql`true`)}) AS waiting JOIN parts USING (location_id, sensor_id, source)
      WHERE slot >= since AND slot < parts.until AND ${isOfMotor}
    )`;
}

/** The motor vehicles of parts by location, without their histogram. */
export async function sumParts(
  db: Executor,
  parts: readonly KeptPart[],
): Promise<ReadonlyMap<string, Omit<Speeds, 'histogram'>>> {
  if (parts.length === 0) return new Map();
  const { rows } = await db.execute<{ id: string; volume: number; measured: number; speeds: number }>(sql`
    WITH ${withParts(parts)}
    SELECT location_id AS id, sum(vehicles)::bigint AS volume, sum(measured)::bigint AS measured, sum(speed_sum)::bigint AS speeds
    FROM (
      ${binsOfParts(sql`vehicles, measured, speed_sum`)}
      UNION ALL
      SELECT location_id, held, ${VALUES} FROM fresh
    ) AS passed GROUP BY 1`);
  return new Map(rows.map(({ id, speeds, ...sums }) => [id, { ...sums, speedSum: speeds }]));
}

/** The speeds of parts by location, compared with the limits of their times. */
export async function judgeParts(
  db: Executor,
  parts: readonly KeptPart[],
): Promise<ReadonlyMap<string, Judged>> {
  const limited = parts.filter(({ limit }) => limit !== null);
  if (limited.length === 0) return new Map();
  const { rows } = await db.execute<Judged & { id: string } & Record<string, unknown>>(sql`
    WITH ${withParts(limited)}
    SELECT location_id AS id, coalesce(sum(measured), 0)::float8 AS measured, coalesce(sum(over), 0)::float8 AS over
    FROM (
      SELECT location_id, sum(value::float8) AS measured, sum(value::float8) FILTER (WHERE measure > held) AS over
      FROM (${binsOfParts(sql`cells, measures, sums`)}) AS bins CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
      WHERE ${isPlausible} AND cell <> ALL (ARRAY(SELECT id FROM traffic_cells WHERE NOT is_motor)) GROUP BY 1
      UNION ALL
      SELECT location_id, sign, CASE WHEN bin > held THEN sign END FROM fresh WHERE bin IS NOT NULL
    ) AS passed GROUP BY 1`);
  return new Map(rows.map(({ id, measured, over }) => [id, { measured, over }]));
}
