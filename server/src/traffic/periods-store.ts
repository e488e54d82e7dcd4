import { MINUTE_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import type { CountedSpan } from './counting.ts';
import { KIND, keptSince, ORIGIN, source } from './passed-store.ts';
import { addBins, KEY, PACKED, shareOf } from './roll-up-store.ts';
import type { Segment } from './segments.ts';
import {
  BINS,
  BRIEF_SUMS,
  inSegments,
  isOfMotor,
  isRead,
  longerUntil,
  measure,
  type Read,
} from './slots-store.ts';
import { isNoted } from './years-store.ts';

/** What a period counts: '' for none. */
export interface Channel {
  readonly direction: string;
  readonly lane: string;
  /** `LEG` or `LEG:TURN`. */
  readonly movement: string;
}

/** A period as it is stored. */
export interface StoredPeriod extends Channel {
  /** Unix milliseconds. */
  readonly start: number;
  readonly seconds: number;
  readonly locationId: string | null;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Waits for the roll-up, which adds to the same counts. */
export async function lockTraffic(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
}

interface FoundRow extends Record<string, unknown> {
  start: number;
  seconds: number;
  location_id: string | null;
  content: Record<string, unknown>;
}

/**
 * For each period, the stored one of its channel that starts last before its end. Stored ones do not overlap, so it is the
 * only one that may have its key or overlap it.
 * @returns by the position of the period
 */
export async function findLastBefore(
  tx: Transaction,
  sensorId: string,
  periods: readonly StoredPeriod[],
): Promise<ReadonlyMap<number, StoredPeriod>> {
  // Plan: the primary key of traffic_periods for each period.
  const { rows } = await tx.execute<FoundRow & { n: number }>(sql`
    SELECT n::int, (extract(epoch FROM stored.start) * 1000)::float8 AS start, stored.seconds, stored.location_id, stored.content
    FROM unnest(${textsOf(periods, ({ direction }) => direction)}, ${textsOf(periods, ({ lane }) => lane)},
        ${textsOf(periods, ({ movement }) => movement)}, ${timesOf(periods, endOf)})
      WITH ORDINALITY AS one (direction, lane, movement, until, n)
    CROSS JOIN LATERAL (
      SELECT * FROM traffic_periods
      WHERE sensor_id = ${sensorId}::uuid AND traffic_periods.direction = one.direction
        AND traffic_periods.lane = one.lane AND traffic_periods.movement = one.movement AND start < one.until
      ORDER BY start DESC LIMIT 1
    ) AS stored`);
  return new Map(
    rows.map(({ n, start, seconds, location_id: locationId, content }) => {
      const { direction, lane, movement } = periods[n - 1] as StoredPeriod;
      return [n - 1, { direction, lane, movement, start, seconds, locationId, content }];
    }),
  );
}

/** The end of a period in Unix milliseconds. */
export function endOf({ start, seconds }: Pick<StoredPeriod, 'start' | 'seconds'>): number {
  return start + seconds * 1_000;
}

/**
 * Stores periods of different keys, which overlap no stored ones; those that have the key of a stored one replace its
 * content, which is kept.
 */
export async function putPeriods(
  tx: Transaction,
  sensorId: string,
  periods: readonly StoredPeriod[],
): Promise<void> {
  const incoming = sql`
    SELECT * FROM unnest(${textsOf(periods, ({ direction }) => direction)}, ${textsOf(periods, ({ lane }) => lane)},
        ${textsOf(periods, ({ movement }) => movement)}, ${timesOf(periods, ({ start }) => start)},
        ${sql.param(periods.map(({ seconds }) => seconds))}::int[], ${sql.param(periods.map(({ locationId }) => locationId))}::uuid[],
        ${sql.param(periods.map(({ content }) => JSON.stringify(content)))}::jsonb[])
      AS one (direction, lane, movement, start, seconds, location_id, content)`;
  await tx.execute(sql`
    WITH incoming AS MATERIALIZED (${incoming}), kept AS (
      INSERT INTO traffic_period_revisions (sensor_id, direction, lane, movement, start, revision, content, stored_at)
      SELECT sensor_id, direction, lane, movement, start, revision, former.content, stored_at
      FROM incoming JOIN traffic_periods AS former USING (direction, lane, movement, start)
      WHERE sensor_id = ${sensorId}::uuid
    )
    INSERT INTO traffic_periods AS former (sensor_id, direction, lane, movement, start, seconds, location_id, content)
    SELECT ${sensorId}::uuid, direction, lane, movement, start, seconds, location_id, content FROM incoming
    ON CONFLICT (sensor_id, direction, lane, movement, start) DO UPDATE SET
      location_id = excluded.location_id, content = excluded.content, revision = former.revision + 1, stored_at = now()`);
}

/** A sum of a period, for the packed counts. */
export interface PeriodSum {
  readonly period: StoredPeriod;
  /** As `SCHEME:CODE`; '' for none. */
  readonly vehicleClass: string;
  readonly measure: number;
  readonly value: number;
  /** The totals of the period, in one of its sums; otherwise 0. */
  readonly vehicles: number;
  readonly measured: number;
  /** In metres per hour. */
  readonly speedSum: number;
}

/** The lengths of slots. */
export const LEVELS = sql`(VALUES (5), (15), (60), (1440)) AS level (minutes)`;

/** Whether a period with start, seconds and until is in a slot of so many minutes, as `addPeriodSums` says, as a condition. */
export const isInSlot = sql`(seconds <= 3600
  AND until <= date_bin(make_interval(mins => minutes), start, ${ORIGIN}) + make_interval(mins => minutes)
  AND (minutes = 5 OR start < ${longerUntil} OR until > date_bin('5 minutes', start, ${ORIGIN}) + interval '5 minutes'))`;

/**
 * Adds sums of periods to the counts, in a transaction that holds the lock. A period is never divided: it is added to the
 * slots that contain it, and one longer than an hour to none, because a day in UTC contains only some of them. What slots of five
 * minutes contain is added to longer ones when their quarter hour is over.
 */
export async function addPeriodSums(
  tx: Transaction,
  sensorId: string,
  sums: readonly PeriodSum[],
): Promise<void> {
  const numbers = (of: (sum: PeriodSum) => number): SQL => sql`${sql.param(sums.map(of))}::bigint[]`;
  const periods = sums.map(({ period }) => period);
  await tx.execute(sql`
    WITH one AS MATERIALIZED (
      SELECT '' AS vehicle_type, '' AS event_type, one.*, start + make_interval(secs => seconds) AS until
      FROM unnest(${textsOf(sums, ({ vehicleClass }) => vehicleClass)}, ${textsOf(periods, ({ direction }) => direction)},
        ${textsOf(periods, ({ lane }) => lane)}, ${textsOf(periods, ({ movement }) => movement)},
        ${timesOf(periods, ({ start }) => start)}, ${sql.param(periods.map(({ seconds }) => seconds))}::int[],
        ${sql.param(periods.map(({ locationId }) => locationId))}::uuid[], ${sql.param(sums.map((sum) => sum.measure))}::smallint[],
        ${numbers(({ value }) => value)}, ${numbers(({ vehicles }) => vehicles)}, ${numbers(({ measured }) => measured)},
        ${numbers(({ speedSum }) => speedSum)})
      AS one (vehicle_class, direction, lane, movement, start, seconds, location_id, measure, value, vehicles, measured, speed_sum)
    ), kinds AS MATERIALIZED (
      SELECT kind.*, id FROM (SELECT DISTINCT ${KIND} FROM one) AS kind LEFT JOIN traffic_cells USING (${KIND})
    ), new_kinds AS (
      INSERT INTO traffic_cells (${KIND}, is_motor) SELECT ${KIND}, ${isOfMotor} FROM kinds WHERE id IS NULL
      RETURNING ${KIND}, id
    ), known_kinds AS MATERIALIZED (
      SELECT ${KIND}, id AS cell FROM kinds WHERE id IS NOT NULL UNION ALL SELECT * FROM new_kinds
    ), spread AS (
      SELECT minutes, ${sensorId}::uuid AS sensor_id, location_id, ${source.COUNTED}::smallint AS source,
        date_bin(make_interval(mins => minutes), start, ${ORIGIN}) AS slot, cell, measure, value, vehicles, measured, speed_sum
      FROM one JOIN known_kinds USING (${KIND}) CROSS JOIN ${LEVELS} WHERE ${isInSlot}
    ), entries AS (
      SELECT ${KEY}, cell, measure, sum(value)::bigint AS value, sum(vehicles) AS vehicles, sum(measured) AS measured,
        sum(speed_sum) AS speed_sum
      FROM spread GROUP BY ${KEY}, cell, measure
    ), added AS (
      ${addBins(sql`
        SELECT ${KEY}, 0 AS events, sum(vehicles)::bigint AS vehicles, sum(measured)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum,
          0::smallint AS alive, NULL::timestamptz AS first_at, NULL::timestamptz AS last_at, ${PACKED}
        FROM entries GROUP BY ${KEY}`)}
    ), changed AS (
      INSERT INTO traffic_year_changes (concern, since, until)
      SELECT ${sensorId}::uuid, min(start), max(until) FROM one HAVING ${isNoted(sql`min(start)`)}
    )
    INSERT INTO traffic_places AS known (location_id, sensor_id, first_slot, last_slot, periods)
    SELECT coalesce(location_id, ${sensorId}::uuid), ${sensorId}::uuid, date_bin('5 minutes', min(start), ${ORIGIN}),
      date_bin('5 minutes', max(until) - interval '1 millisecond', ${ORIGIN}), true
    FROM one GROUP BY 1
    ON CONFLICT (location_id, sensor_id) DO UPDATE SET periods = true,
      first_slot = least(known.first_slot, excluded.first_slot), last_slot = greatest(known.last_slot, excluded.last_slot)`);
}

/** Rows of sensors that counted intervals, as an expression of a query. */
function countedRows(sensorIds: readonly string[], segments: readonly Segment[], columns: SQL): SQL {
  const here = sql`sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND source = ${source.COUNTED}`;
  return sql.join(
    inSegments(segments, here).map(
      (condition) => sql`SELECT minutes, sensor_id, slot, ${columns} FROM ${BINS} AS bins WHERE ${condition}`,
    ),
    sql` UNION ALL `,
  );
}

interface SpanRow extends Record<string, unknown> {
  sensor_id: string;
  from: number;
  minutes: number;
  share: number | null;
}

const SPAN = sql.raw('sensor_id, (extract(epoch FROM slot) * 1000)::float8 AS from, minutes::int');

/**
 * How much of each slot the periods of sensors cover. Of directions, lanes and movements that sent anything in the slot, those
 * that reported a gap are missing. `countedSpans` finds the same in counts that were read with their kinds.
 * @param segments parts of one range, in order
 */
export async function readCountedSpans(
  db: Executor,
  sensorIds: readonly string[],
  segments: readonly Segment[],
): Promise<CountedSpan[]> {
  if (sensorIds.length === 0 || segments.length === 0) return [];
  const { rows: stored } = await db.execute<SpanRow>(sql`
    SELECT ${SPAN}, CASE WHEN count(*) = 1 THEN min(counted_share) END AS share
    FROM (${countedRows(sensorIds, segments, sql`counted_share`)}) AS bins GROUP BY minutes, sensor_id, slot`);
  const isKnown = stored.every(({ share }) => share !== null);
  const rows = isKnown ? stored : await computeCountedSpans(db, sensorIds, segments);
  return rows.map(({ sensor_id: sensorId, from, minutes, share }) => ({
    sensorId,
    from,
    until: from + minutes * MINUTE_MS,
    share: share ?? 0,
  }));
}

/** The same from the sums, for what a sensor counted at two locations in a slot, and for rows without a stored share. */
async function computeCountedSpans(
  db: Executor,
  sensorIds: readonly string[],
  segments: readonly Segment[],
): Promise<SpanRow[]> {
  // Cells are in the order of their measures, of which these are the first. The arrays are joined with empty ones, behind
  // OFFSET 0, so that each is decompressed once: with all elements as rows, a month of quarter hours took three times as long.
  const { rows } = await db.execute<SpanRow>(sql`
    SELECT ${SPAN}, ${shareOf(sql`minutes`)} AS share
    FROM (
      SELECT minutes, sensor_id, slot, cells[n] AS cell, sum(sums[n]) AS expected,
        sum(sums[n + 1]) FILTER (WHERE measures[n + 1] = ${measure.COVERED} AND cells[n + 1] = cells[n]) AS covered
      FROM (
        SELECT minutes, sensor_id, slot, cells || '{}'::int[] AS cells, measures || '{}'::smallint[] AS measures,
          sums || '{}'::bigint[] AS sums
        FROM (${countedRows(sensorIds, segments, BRIEF_SUMS)}) AS brief OFFSET 0
      ) AS bins, unnest(array_positions(measures, ${measure.EXPECTED}::smallint)) AS n
      GROUP BY 1, 2, 3, 4
    ) AS channels GROUP BY minutes, sensor_id, slot HAVING sum(expected) > 0`);
  return rows;
}

/** A period of a sensor. */
export interface SensorPeriod extends StoredPeriod {
  readonly sensorId: string;
}

/** A condition for periods of at most an hour that no slot of so many minutes contains. Indexes have the same. */
export const crossing = (minutes: 15 | 60): SQL => {
  const length = sql.raw(`interval '${minutes} minutes'`);
  return sql`seconds <= 3600 AND start - date_bin(${length}, start, ${ORIGIN}) + make_interval(secs => seconds) > ${length}`;
};

/** The length of slots which a period crosses that counts in a segment although none of its slots contains it. */
const crossedIn = ({ minutes }: Segment): 15 | 60 => (minutes > 15 ? 60 : 15);

/** Whether any such period of a sensor begins within segments, as a condition. */
export function hasCrossingPeriods(sensorId: SQL, segments: readonly Segment[]): SQL {
  const found = segments.map(
    (
      segment,
    ) => sql`SELECT FROM traffic_periods WHERE sensor_id = ${sensorId} AND ${crossing(crossedIn(segment))}
      AND start >= ${moment(segment.from)} AND start < ${moment(segment.until)}`,
  );
  return sql`EXISTS (${sql.join(found, sql` UNION ALL `)})`;
}

/**
 * The periods of sensors of at most an hour that begin within segments and cross a quarter hour, or, where the segment has longer
 * slots than these, an hour in UTC.
 */
export async function readCrossingPeriods(
  db: Executor,
  sensorIds: readonly string[],
  read: Read,
  segments: readonly Segment[],
): Promise<SensorPeriod[]> {
  const within = (minutes: 15 | 60): SQL => {
    const wanted = segments.filter((segment) => crossedIn(segment) === minutes);
    const times = (of: (segment: Segment) => number): SQL =>
      sql`${sql.param(wanted.map((segment) => new Date(of(segment)).toISOString()))}::timestamptz[]`;
    return sql`
      SELECT traffic_periods.* FROM unnest(${times(({ from }) => from)}, ${times(({ until }) => until)}) AS segment ("from", until)
        JOIN traffic_periods ON start >= segment."from" AND start < segment.until
      WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND ${crossing(minutes)}`;
  };
  // Plan: traffic_periods_across_quarters and traffic_periods_across_hours, for each segment.
  const { rows } = await db.execute<PeriodRow>(sql`
    SELECT ${PERIOD_COLUMNS} FROM (${within(15)} UNION ALL ${within(60)}) AS period
    WHERE ${isRead(read)} AND start >= ${keptSince}`);
  return rows.map(periodOf);
}

interface PeriodRow extends FoundRow, Channel {
  sensor_id: string;
}

const PERIOD_COLUMNS =
  sql.raw(`sensor_id, direction, lane, movement, (extract(epoch FROM start) * 1000)::float8 AS start, seconds,
  location_id, content`);

function periodOf({ sensor_id: sensorId, location_id: locationId, ...row }: PeriodRow): SensorPeriod {
  return { sensorId, locationId, ...row };
}

/** The periods of a sensor that begin in a range. */
export async function readPeriods(
  db: Executor,
  sensorId: string,
  { from, until }: Interval,
): Promise<SensorPeriod[]> {
  // Plan: traffic_periods_by_start.
  const { rows } = await db.execute<PeriodRow>(sql`
    SELECT ${PERIOD_COLUMNS} FROM traffic_periods
    WHERE sensor_id = ${sensorId}::uuid AND start >= ${moment(from)} AND start < ${moment(until)}`);
  return rows.map(periodOf);
}

/** The periods of sensors that are longer than five minutes and overlap a range. */
export async function readLongPeriods(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Interval[]> {
  // Plan: traffic_periods_by_start.
  const { rows } = await db.execute<{ from: number; seconds: number }>(sql`
    SELECT DISTINCT (extract(epoch FROM start) * 1000)::float8 AS from, seconds FROM traffic_periods
    WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND seconds > 300
      AND start > ${moment(range.from)}::timestamptz - interval '1 day' AND start < ${moment(range.until)}
      AND content -> 'volume' <> 'null' AND content ->> 'status' <> 'FAULT'`);
  return rows.map(({ from, seconds }) => ({ from, until: from + seconds * 1_000 }));
}

function textsOf<Row>(rows: readonly Row[], of: (row: Row) => string): SQL {
  return sql`${sql.param(rows.map(of))}::text[]`;
}

function timesOf<Row>(rows: readonly Row[], of: (row: Row) => number): SQL {
  return sql`${sql.param(rows.map((row) => new Date(of(row)).toISOString()))}::timestamptz[]`;
}
