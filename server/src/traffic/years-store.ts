import { HOUR_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { type MonthOfDays, madt, type YearOfHours } from './annual.ts';
import type { Place } from './slots-store.ts';

/** Raise this when figures follow from the same counts in another way: years stored by former versions are computed again. */
const RULES = 1;

/** The last hours are in no stored year, so what changes in them is not noted. */
export const isNoted = (time: SQL): SQL => sql`${time} < now() - interval '3 hours'`;

/** A local year. */
export interface LocalYear extends Interval {
  readonly year: number;
  readonly zone: string;
}

/** A place with what its figures depend on. */
export interface ConcernedPlace extends Pick<Place, 'kind' | 'id'> {
  readonly concerns: readonly string[];
}

/** Notes that counts of a time changed. @param sensorId null for all */
export async function noteYearChange(
  db: Executor,
  sensorId: string | null,
  { from, until }: Interval,
): Promise<void> {
  await db.execute(sql`
    INSERT INTO traffic_year_changes (concern, since, until)
    SELECT ${sensorId}::uuid, ${moment(from)}, ${moment(until)} WHERE ${isNoted(moment(from))}`);
}

/**
 * What concerns a stored year, as a condition on the row of a change. Usual volumes are those of the 60 days before, and a time
 * without a vehicle may start and end some days around it.
 */
const isConcerned = sql.raw(`(change.concern IS NULL OR change.concern = ANY (stored.concerns))
  AND change.until > stored.since - interval '70 days' AND change.since < stored.until + interval '5 days'`);

/** Which stored years of places are right: none of what they depend on changed, or waits to be counted or judged. */
function isRight({ year, zone, from, until }: LocalYear): SQL {
  const end = until + 5 * 24 * HOUR_MS;
  return sql`stored.year = ${year} AND timezone = ${zone} AND rules = ${RULES}
    AND stored.since = ${moment(from)} AND stored.until = ${moment(until)}
    AND NOT EXISTS (SELECT FROM traffic_year_changes AS change WHERE ${isConcerned})
    AND NOT EXISTS (
      SELECT FROM traffic_unjudged AS unjudged WHERE unjudged.sensor_id = ANY (stored.concerns)
        AND day > (${moment(from)}::timestamptz - interval '5 days')::date AND day < (${moment(until)}::timestamptz + interval '3 days')::date
    )
    AND NOT stored.concerns && ARRAY(
      SELECT DISTINCT sensor_id
      FROM traffic_unfolded AS pending, unnest(event_ids, sensor_ids) AS one (id, sensor_id)
      WHERE (first_id IS NULL OR first_id < ${firstIdAt(end)}::uuid) AND id < ${firstIdAt(end)}::uuid AND sensor_id IS NOT NULL
    )`;
}

interface YearRow extends Record<string, unknown> {
  hour_sums: string;
  hours: string;
  day_sums: string;
  days: string;
  starts: string;
  volumes: string;
  valid_ms: number;
}

/** The stored year of a place; null if it is not known. */
export async function findYear(
  db: Executor,
  placeId: string,
  wanted: LocalYear,
): Promise<YearOfHours | null> {
  // Plan: the primary key of traffic_years.
  const { rows } = await db.execute<YearRow>(sql`
    SELECT to_json(hour_sums)::text AS hour_sums, to_json(hours)::text AS hours, to_json(day_sums)::text AS day_sums,
      to_json(days)::text AS days, to_json(top_volumes)::text AS volumes, valid_ms,
      (SELECT coalesce(json_agg(extract(epoch FROM at) * 1000 ORDER BY n), '[]')::text FROM unnest(top_starts) WITH ORDINALITY AS one (at, n)) AS starts
    FROM traffic_years AS stored WHERE place_id = ${placeId}::uuid AND ${isRight(wanted)}`);
  const [row] = rows;
  if (!row) return null;
  const numbers = (text: string): number[] => JSON.parse(text);
  const [hourSums, hours] = [numbers(row.hour_sums), numbers(row.hours)];
  const [daySums, days] = [numbers(row.day_sums), numbers(row.days)];
  const volumes = numbers(row.volumes);
  return {
    months: MONTHS.map((month, n) => ({
      year: wanted.year,
      month,
      sums: hourSums.slice(168 * n, 168 * n + 168),
      hours: hours.slice(168 * n, 168 * n + 168),
      daySums: daySums.slice(7 * n, 7 * n + 7),
      days: days.slice(7 * n, 7 * n + 7),
    })),
    busiest: numbers(row.starts).map((start, n) => ({ start: new Date(start), volume: volumes[n] ?? 0 })),
    validMs: row.valid_ms,
  };
}

const MONTHS = Array.from({ length: 12 }, (_, n) => n + 1);

/** The months of a location in a year. */
export interface MonthsOfLocation {
  readonly locationId: string;
  readonly locationName: string;
  /** null if they are not stored. */
  readonly months: readonly MonthOfDays[] | null;
}

/** The stored months of locations with traffic in a year. @param ids only these; null for all */
export async function listMonthsOfLocations(
  db: Executor,
  wanted: LocalYear,
  ids: readonly string[] | null,
): Promise<MonthsOfLocation[]> {
  // Plan: traffic_places and traffic_years as a whole; a row of the first for each sensor, and one of the latter for each location and year.
  const { rows } = await db.execute<{
    id: string;
    name: string;
    means: string | null;
    sums: string;
    days: string;
  }>(sql`
    SELECT id, name, to_json(means)::text AS means, to_json(day_sums)::text AS sums, to_json(days)::text AS days
    FROM locations JOIN ${PLACES} AS places USING (id) LEFT JOIN traffic_years AS stored ON place_id = id AND ${isRight(wanted)}
    WHERE kind = 'location' AND first_slot < ${moment(wanted.until)} AND last_slot >= ${moment(wanted.from)}
      AND ${ids === null ? sql`true` : sql`id = ANY (${sql.param(ids)}::uuid[])`}
    ORDER BY id`);
  return rows.map(({ id, name, means, sums, days }) => {
    const [daySums, numbers] = [JSON.parse(sums) as number[], JSON.parse(days) as number[]];
    return {
      locationId: id,
      locationName: name,
      months:
        means === null
          ? null
          : (JSON.parse(means) as (number | null)[]).map((mean, n) => ({
              year: wanted.year,
              month: n + 1,
              mean,
              daySums: daySums.slice(7 * n, 7 * n + 7),
              days: numbers.slice(7 * n, 7 * n + 7),
            })),
    };
  });
}

/** The locations and points at which sensors may count, with the first and last slots of these, as a query. */
const COUNTED = sql`
  SELECT 'location' AS kind, location_id AS id, sensor_id FROM traffic_places
  UNION SELECT 'location', location_id, sensor_id FROM sensor_places
  UNION SELECT place.* FROM measuring_points AS points JOIN detector_assignments AS held ON point_id = points.id
    CROSS JOIN LATERAL (VALUES ('location', location_id, sensor_id), ('point', points.id, sensor_id)) AS place`;

const PLACES = sql`(
  SELECT kind, id, min(first_slot) AS first_slot, max(last_slot) AS last_slot, array_agg(DISTINCT sensor_id) AS sensor_ids
  FROM (${COUNTED}) AS counted JOIN traffic_places USING (sensor_id) GROUP BY 1, 2
)`;

/** What the figures of a place depend on: itself, its location and points, and all sensors that are or were there, or count for them. */
export async function readConcerns(
  db: Executor,
  { id, locationId = id }: Pick<Place, 'id' | 'locationId'>,
): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    WITH points AS (SELECT id FROM measuring_points WHERE location_id = ${locationId}::uuid)
    SELECT ${id}::uuid AS id UNION SELECT ${locationId}::uuid UNION SELECT id FROM points
    UNION SELECT sensor_id FROM detector_assignments WHERE point_id IN (SELECT id FROM points)
    UNION SELECT sensor_id FROM traffic_places WHERE location_id = ${locationId}::uuid
    UNION SELECT sensor_id FROM sensor_places WHERE location_id = ${locationId}::uuid
    UNION SELECT id FROM sensors WHERE location_id = ${locationId}::uuid`);
  return rows.map((row) => row.id);
}

/** A stored year. */
export interface StoredYear extends Pick<Place, 'kind' | 'id'>, LocalYear {}

/** All stored years that are right. */
export async function listYears(db: Executor): Promise<StoredYear[]> {
  const { rows } = await db.execute<StoredYear & Record<string, unknown>>(sql`
    SELECT place_kind AS kind, place_id AS id, year, timezone AS zone, (extract(epoch FROM since) * 1000)::float8 AS from,
      (extract(epoch FROM until) * 1000)::float8 AS until
    FROM traffic_years WHERE rules = ${RULES} ORDER BY place_id, year`);
  return rows;
}

/** Takes the turn to maintain stored years until the transaction ends. @returns false if another process has it */
export async function takeTurn(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${locks.trafficYears}) AS mine`,
  );
  return rows[0]?.mine === true;
}

/** Removes stored years that a change concerns, together with all changes. The caller has the turn. */
export async function removeChangedYears(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    WITH change AS MATERIALIZED (DELETE FROM traffic_year_changes RETURNING concern, since, until)
    DELETE FROM traffic_years AS stored WHERE rules <> ${RULES} OR EXISTS (SELECT FROM change WHERE ${isConcerned})`);
}

/** Removes all stored years, which are stored again soon. @returns their number */
export async function removeAllYears(tx: Transaction): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.trafficYears})`);
  return (await tx.execute(sql`DELETE FROM traffic_years`)).rowCount ?? 0;
}

/** A place with a year of it that is not stored. */
export interface MissingYear extends Pick<Place, 'kind' | 'id'> {
  readonly year: number;
}

/**
 * Finds a location or point with a year that is over and is not stored, although its days are judged.
 * @param before Unix milliseconds: years that end before
 */
export async function findMissingYear(
  db: Executor,
  zone: string,
  before: number,
): Promise<MissingYear | null> {
  const startOf = (year: SQL): SQL => sql`(make_date(${year}, 1, 1)::timestamp AT TIME ZONE ${zone})`;
  // Plan: traffic_places as a whole, with a look at traffic_years for each of its years.
  const { rows } = await db.execute<{ kind: Place['kind']; id: string; year: number }>(sql`
    SELECT kind, id, series.year FROM ${PLACES} AS places CROSS JOIN LATERAL generate_series(
      extract(year FROM first_slot AT TIME ZONE ${zone})::int, extract(year FROM last_slot AT TIME ZONE ${zone})::int
    ) AS series (year)
    WHERE ${startOf(sql`series.year + 1`)} < ${moment(before)} AND (kind = 'point' OR id IN (SELECT id FROM locations))
      AND NOT EXISTS (SELECT FROM traffic_years AS stored WHERE place_id = id AND stored.year = series.year AND timezone = ${zone})
      AND NOT EXISTS (
        SELECT FROM traffic_unjudged AS unjudged WHERE unjudged.sensor_id = ANY (sensor_ids)
          AND day > (${startOf(sql`series.year`)} - interval '5 days')::date AND day < (${startOf(sql`series.year + 1`)} + interval '3 days')::date
      )
      AND NOT EXISTS (SELECT FROM traffic_year_failures AS failed WHERE place_id = id AND failed.year = series.year AND due_at > now())
    ORDER BY series.year DESC, kind, id LIMIT 1`);
  return rows[0] ?? null;
}

/**
 * Notes that a year could not be stored. It is tried again after a minute, then after twice as long each time, up to a day.
 * @returns how often it failed
 */
export async function deferYear(db: Executor, { id, year }: MissingYear): Promise<number> {
  const { rows } = await db.execute<{ attempts: number }>(sql`
    INSERT INTO traffic_year_failures AS known (place_id, year, attempts, due_at)
    VALUES (${id}::uuid, ${year}, 1, now() + interval '1 minute')
    ON CONFLICT (place_id, year) DO UPDATE SET attempts = least(known.attempts + 1, 1000),
      due_at = now() + least(interval '1 minute' * 2 ^ least(known.attempts, 11), interval '1 day')
    RETURNING attempts`);
  return rows[0]?.attempts ?? 1;
}

/** Stores a year of a place. The caller has the turn. */
export async function putYear(
  tx: Transaction,
  { kind, id, concerns }: ConcernedPlace,
  { year, zone, from, until }: LocalYear,
  { months, busiest, validMs }: YearOfHours,
): Promise<void> {
  const list = (numbers: readonly (number | null)[]) => sql.param(numbers);
  await tx.execute(sql`DELETE FROM traffic_year_failures WHERE place_id = ${id}::uuid AND year = ${year}`);
  await tx.execute(sql`
    INSERT INTO traffic_years (place_id, year, place_kind, timezone, rules, since, until, concerns, means, day_sums, days,
      hour_sums, hours, top_starts, top_volumes, valid_ms)
    VALUES (${id}::uuid, ${year}, ${kind}, ${zone}, ${RULES}, ${moment(from)}, ${moment(until)}, ${sql.param(concerns)}::uuid[],
      ${list(months.map(madt))}::float8[], ${list(months.flatMap(({ daySums }) => daySums))}::bigint[],
      ${list(months.flatMap(({ days }) => days))}::smallint[], ${list(months.flatMap(({ sums }) => sums))}::bigint[],
      ${list(months.flatMap(({ hours }) => hours))}::smallint[],
      ${sql.param(busiest.map(({ start }) => start.toISOString()))}::timestamptz[],
      ${list(busiest.map(({ volume }) => volume))}::bigint[], ${validMs})
    ON CONFLICT (place_id, year) DO UPDATE SET (place_kind, timezone, rules, since, until, concerns, means, day_sums, days,
      hour_sums, hours, top_starts, top_volumes, valid_ms) = (excluded.place_kind, excluded.timezone, excluded.rules, excluded.since,
      excluded.until, excluded.concerns, excluded.means, excluded.day_sums, excluded.days, excluded.hour_sums, excluded.hours,
      excluded.top_starts, excluded.top_volumes, excluded.valid_ms)`);
}
