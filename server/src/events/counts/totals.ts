import type { EventStats } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { sumsBySpelling } from '../../platform/case-fold.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/groups.ts';
import type { Interval } from '../../platform/time.ts';
import { firstIdAt } from '../id.ts';
import { keysOfEvent, totalsKeys, violationCondition } from './counting.ts';
import { type Count, cover, endOf, type Period, type Piece, startOf } from './covering.ts';

/** No event is later than this. Up to here PostgreSQL and JavaScript write dates in the same way. */
const END_OF_TIME = Date.UTC(9000, 0);

/** The conditions for the id of an event within an interval. */
export function idWithin({ from, until }: Interval): SQL[] {
  return [
    ...(from === Number.NEGATIVE_INFINITY ? [] : [sql`id >= ${firstId(from)}`]),
    ...(until === Number.POSITIVE_INFINITY ? [] : [sql`id < ${firstId(until)}`]),
  ];
}

/** The conditions for the id of an event within any of some intervals, which are in order and do not overlap. */
export function idWithinAny(spans: readonly Interval[]): SQL[] {
  const [first, last] = [spans.at(0), spans.at(-1)];
  if (first === undefined || last === undefined) return [sql`false`];
  const whole = idWithin({ from: first.from, until: last.until });
  if (spans.length === 1) return whole;
  const each = spans.map((span) => sql`(${sql.join(idWithin(span), sql` AND `)})`);
  return [...whole, sql`(${sql.join(each, sql` OR `)})`];
}

/** A WHERE clause for rows that meet all conditions. */
export function where(conditions: readonly SQL[]): SQL {
  return conditions.length === 0 ? sql`` : sql`WHERE ${sql.join([...conditions], sql` AND `)}`;
}

/** The first column with the time by which rows are counted: none, the period of each row, or one time for all. */
type Bucket = 'none' | 'own' | number;

/**
 * A query, named `counted`, for rows that count the events of an interval, with the columns event_type,
 * violation_type, vehicle_type, severity, processed, archived and n. n may be negative, and several rows may have the
 * same keys. Must be read in a single statement, because rolling up moves rows between tables.
 */
export function countedEvents(interval: Interval): SQL {
  return sql`(${unionOf('none', fromCovering('none', withinTime(interval)))}) AS counted (${totalsKeys}, n)`;
}

/** The same, with the start of the period (in UTC) in a first column named `at`. */
export function countedByPeriod(period: Period, interval: Interval): SQL {
  const { from, until } = withinTime(interval);
  const first = startOf(period, from) === from ? from : endOf(period, from);
  const last = startOf(period, until);
  const whole = { from: first, until: last };
  const parts =
    first > last
      ? fromCovering(startOf(period, from), { from, until })
      : [
          ...fromCovering(startOf(period, from), { from, until: first }),
          ...(first < last
            ? [fromPiece('own', { source: period, ...whole, sign: 1 }), fromPending('own', whole, period)]
            : []),
          ...fromCovering(last, { from: last, until }),
        ];
  return sql`(${unionOf('own', parts)}) AS counted (at, ${totalsKeys}, n)`;
}

/** The events of an hour (in UTC) or a part of one, and the violations among them. */
export interface HourCount {
  /** The start in Unix milliseconds. */
  readonly hour: number;
  readonly total: number;
  readonly violations: number;
}

/**
 * Counts the events of an interval by hour, in order; hours without events are left out. Hours of all keys together are believed
 * where they agree with the totals of days: a process of an older version may have rolled up without adding to them.
 */
export async function countByHour(db: Executor, interval: Interval): Promise<HourCount[]> {
  const { from, until } = withinTime(interval);
  const whole = { from: endOf('hour', from - 1), until: startOf('hour', until) };
  const days = { from: endOf('day', whole.from - 1), until: startOf('day', whole.until) };
  if (!(days.from < days.until && Number.isFinite(days.until - days.from)))
    return countHoursByKeys(db, interval);
  const violations = sql`CASE WHEN ${violationCondition} THEN n END`;
  const ends = [
    { from, until: whole.from },
    { from: whole.until, until },
  ].flatMap((end) =>
    end.from < end.until
      ? [sql`UNION ALL SELECT at, n, ${violations} FROM ${countedByPeriod('hour', end)}`]
      : [],
  );
  // Plan: event_hour_totals_pkey, and event_period_totals_pkey for days. A year is 8,760 rows, which are sent as texts because the
  // driver takes longer to parse rows.
  const { rows } = await db.execute<{
    agree: boolean;
    hours: string;
    totals: string;
    violations: string;
  }>(sql`
    WITH by_hour AS MATERIALIZED (
      SELECT hour AS at, n, violations FROM event_hour_totals WHERE ${range(sql`hour`, whole, moment)}
    ), by_day AS (
      SELECT start, sum(n) AS n, coalesce(sum(n) FILTER (WHERE ${violationCondition}), 0) AS violations
      FROM event_period_totals WHERE period = 'day' AND ${range(sql`start`, days, day)} GROUP BY 1
    ), summed AS (
      SELECT (at AT TIME ZONE 'UTC')::date AS start, sum(n) AS n, sum(violations) AS violations
      FROM by_hour WHERE ${range(sql`at`, days, moment)} GROUP BY 1
    ), hours AS (
      SELECT at, sum(n)::bigint AS total, coalesce(sum(violations), 0)::bigint AS violations FROM (
        SELECT at, n, violations FROM by_hour
        UNION ALL SELECT hour, n, ${violations} FROM event_totals_unfolded WHERE ${range(sql`hour`, whole, moment)}
        ${sql.join(ends, sql` `)}
      ) AS counted GROUP BY 1 HAVING sum(n) <> 0
    )
    SELECT NOT EXISTS (
        SELECT FROM by_day FULL JOIN summed USING (start)
        WHERE coalesce(by_day.n, 0) <> coalesce(summed.n, 0) OR coalesce(by_day.violations, 0) <> coalesce(summed.violations, 0)
      ) AS agree, coalesce(json_agg((extract(epoch FROM at) * 1000)::bigint ORDER BY at), '[]')::text AS hours,
      coalesce(json_agg(total ORDER BY at), '[]')::text AS totals,
      coalesce(json_agg(violations ORDER BY at), '[]')::text AS violations
    FROM hours`);
  const [row] = rows;
  if (!row?.agree) return countHoursByKeys(db, interval);
  const [totals, ofViolations] = [JSON.parse(row.totals), JSON.parse(row.violations)] as [number[], number[]];
  return (JSON.parse(row.hours) as number[]).map((hour, n) => ({
    hour,
    total: totals[n] ?? 0,
    violations: ofViolations[n] ?? 0,
  }));
}

/** The same from the totals of hours, of which a year has some hundred thousand. */
async function countHoursByKeys(db: Executor, interval: Interval): Promise<HourCount[]> {
  // Plan: event_totals_folded_pkey, and the events of partial hours at the ends. They are added up as double (exact for integers up
  // to 2^53), because the sum of a bigint is a numeric.
  const { rows } = await db.execute<HourCount & Record<string, unknown>>(sql`
    SELECT (extract(epoch FROM at) * 1000)::bigint AS hour, total::bigint, coalesce(violations, 0)::bigint AS violations
    FROM (
      SELECT at, sum(n::float8) AS total, sum(n::float8) FILTER (WHERE ${violationCondition}) AS violations
      FROM ${countedByPeriod('hour', interval)} GROUP BY at
    ) AS hours WHERE total <> 0 ORDER BY at`);
  return rows;
}

/**
 * The periods of an interval that contain events, in order.
 * @param conditions on the columns of the totals
 */
export async function countByPeriod(
  db: Executor,
  period: Period,
  conditions: readonly SQL[],
  interval: Interval,
): Promise<Count[]> {
  // Plan: event_period_totals_pkey for one period and a range of days, or event_totals_folded_pkey for the hours of a
  // day; events_pkey for the partial hours at the ends. With 10 million events of a year: all years 1.8 ms, the
  // months of one 2.3, the days of one 2.2, the hours of one 1.5 to 5.
  const { rows } = await db.execute<{ start: number; n: number }>(sql`
    SELECT (extract(epoch FROM at) * 1000)::bigint AS start, n FROM (
      SELECT at, sum(n)::bigint AS n FROM ${countedByPeriod(period, interval)} ${where(conditions)} GROUP BY at
    ) AS summed WHERE n > 0 ORDER BY at`);
  return rows;
}

/**
 * A query, named `hours`, for the hours (in UTC) of an interval that may contain events that meet a condition, with
 * the column hour. It searches days first, so that it can cover years.
 * @param condition a WHERE clause
 */
export function hoursThatCount(interval: Interval, condition: SQL): SQL {
  const hours = { from: startOf('hour', interval.from), until: endOf('hour', interval.until - 1) };
  const days = { from: startOf('day', hours.from), until: endOf('day', hours.until - 1) };
  const fromDays = sql`
    SELECT DISTINCT start::timestamp AT TIME ZONE 'UTC' AS midnight
    FROM (SELECT * FROM event_period_totals ${condition}) AS counted
    WHERE period = 'day' AND n > 0 AND ${range(sql`start`, days, day)}`;
  return sql`(
    SELECT hour FROM (${fromDays}) AS days CROSS JOIN LATERAL (
      SELECT DISTINCT hour FROM (SELECT * FROM event_totals_folded ${condition}) AS counted
      WHERE hour >= midnight AND hour < midnight + interval '1 day' AND n > 0
    ) AS hours_of_day WHERE ${range(sql`hour`, hours, moment)}
    UNION SELECT hour FROM (SELECT * FROM event_totals_unfolded ${condition}) AS counted
    WHERE n > 0 AND ${range(sql`hour`, hours, moment)}
  ) AS hours`;
}

function day(time: number): SQL {
  return sql`${new Date(time).toISOString().slice(0, 10)}::date`;
}

function range(column: SQL, { from, until }: Interval, valueAt: (time: number) => SQL): SQL {
  return sql`
  ${from === Number.NEGATIVE_INFINITY ? sql`true` : sql`${column} >= ${valueAt(from)}`}
  AND ${until === Number.POSITIVE_INFINITY ? sql`true` : sql`${column} < ${valueAt(until)}`}`;
}

function firstId(time: number): SQL {
  return sql`${firstIdAt(time)}::uuid`;
}

/** The part of the interval in which there can be events. */
function withinTime({ from, until }: Interval): Interval {
  if (until <= 0 || from >= END_OF_TIME) return { from: 0, until: 0 };
  return {
    from: from <= 0 ? Number.NEGATIVE_INFINITY : from,
    until: until >= END_OF_TIME ? Number.POSITIVE_INFINITY : until,
  };
}

function bucketColumn(bucket: Bucket, own: SQL): SQL {
  if (bucket === 'none') return sql``;
  return sql`${bucket === 'own' ? own : moment(bucket)} AS at,`;
}

function fromPiece(bucket: Bucket, piece: Piece): SQL {
  const n = piece.sign === 1 ? sql`n` : sql`-n`;
  if (piece.source === 'hour')
    return sql`
      SELECT ${bucketColumn(bucket, sql`hour`)} ${totalsKeys}, ${n} FROM event_totals_folded
      WHERE ${range(sql`hour`, piece, moment)}`;
  if (piece.source === 'events')
    return sql`
      SELECT ${bucketColumn(bucket, sql`event_hour(id)`)} ${keysOfEvent}, ${sql.raw(String(piece.sign))}
      FROM events WHERE ${range(sql`id`, piece, firstId)}`;
  return sql`
    SELECT ${bucketColumn(bucket, sql`start::timestamp AT TIME ZONE 'UTC'`)} ${totalsKeys}, ${n} FROM event_period_totals
    WHERE period = ${piece.source} AND ${range(sql`start`, piece, day)}`;
}

function fromPending(bucket: Bucket, hours: Interval, period: Period): SQL {
  return sql`
  SELECT ${bucketColumn(bucket, sql`date_trunc(${period}, hour, 'UTC')`)} ${totalsKeys}, n FROM event_totals_unfolded
  WHERE ${range(sql`hour`, hours, moment)}`;
}

function fromCovering(bucket: Bucket, interval: Interval): SQL[] {
  const { pieces, hours } = cover(interval);
  const parts = pieces.map((piece) => fromPiece(bucket, piece));
  return hours === null ? parts : [...parts, fromPending(bucket, hours, 'hour')];
}

/** The parts as one query; without parts, one without rows. */
function unionOf(bucket: Bucket, parts: SQL[]): SQL {
  return sql.join(
    parts.length > 0 ? parts : [fromPiece(bucket, { source: 'hour', from: 0, until: 0, sign: 1 })],
    sql` UNION ALL `,
  );
}

/**
 * Maximum number of events that one statement reads, which takes a second or two, and stays within the time limit of
 * statements on a busy machine, too.
 */
const MAX_READ_AT_ONCE = 1_000_000;

/**
 * Divides an interval at hours (in UTC), so that no part has more events than `most`, unless an hour has. By default, one
 * statement can read a part.
 */
export async function divideByEvents(
  db: Executor,
  { from, until }: Interval,
  most = MAX_READ_AT_ONCE,
): Promise<Interval[]> {
  // Plan: event_totals_folded_pkey. A month has at most some 50,000 rows of totals.
  const { rows: hours } = await db.execute<{ start: number; n: number }>(sql`
    SELECT (extract(epoch FROM hour) * 1000)::bigint AS start, sum(n)::bigint AS n FROM event_totals
    WHERE hour >= ${moment(startOf('hour', from))} AND hour < ${moment(until)} GROUP BY hour ORDER BY hour`);
  const [, ...further] = inPortions(hours, most, ({ n }) => n);
  const starts = [from, ...further.flatMap(([first]) => first?.start ?? [])];
  return starts.map((start, n) => ({ from: start, until: starts[n + 1] ?? until }));
}

interface CountRow extends Record<string, unknown> {
  event_type: string;
  violation_type: string;
  processed: boolean;
  archived: boolean;
  n: number;
}

/** Counts the events of an interval by type and review status, the most frequent first. */
export async function getEventStats(db: Executor, interval: Interval): Promise<EventStats> {
  // Plan: event_period_totals_pkey for years, months and days, event_totals_folded_pkey for hours, events_pkey for
  // the partial hours at the ends. With 10 million events: 2 ms without a range, 5 ms for half a year with partial
  // hours.
  const { rows } = await db.execute<CountRow>(sql`
    SELECT event_type, violation_type, processed, archived, sum(n)::bigint AS n FROM ${countedEvents(interval)}
    GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0`);
  return {
    total: sumWhere(rows, () => true),
    byType: sumBy(rows, (row) => row.event_type).map(([eventType, count]) => ({ eventType, count })),
    processed: sumWhere(rows, (row) => row.processed),
    unprocessed: sumWhere(rows, (row) => !row.processed),
    archived: sumWhere(rows, (row) => row.archived),
    byViolationType: sumBy(rows, (row) => row.violation_type).map(([violationType, count]) => ({
      violationType,
      count,
    })),
  };
}

function sumBy(rows: readonly CountRow[], keyOf: (row: CountRow) => string): [string, number][] {
  return sumsBySpelling(rows.map((row) => [keyOf(row), row.n] as const)).filter(([key]) => key !== '');
}

function sumWhere(rows: readonly CountRow[], counts: (row: CountRow) => boolean): number {
  return rows.reduce((sum, row) => (counts(row) ? sum + row.n : sum), 0);
}
