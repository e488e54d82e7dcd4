import { sql } from 'drizzle-orm';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { ORIGIN, source } from '../passed-store.ts';
import { crossing } from '../periods-store.ts';
import { segmentsOf } from '../segments.ts';
import { BINS, inSegments, numbersOf } from '../slots-store.ts';

/** The hour in UTC in which a period begins. */
const HOUR = sql`date_bin('1 hour', start, ${ORIGIN})`;

/** A condition for periods with a vehicle. */
export const HAS_VEHICLES = sql.raw(`(content ->> 'volume')::bigint > 0 AND content ->> 'status' <> 'FAULT'`);

/** The hours, as Unix milliseconds in order, in which a sensor counted vehicles in its intervals. */
export async function readCountedHours(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (sensorIds.length === 0) return new Map();
  const [hours = sql`false`, recent = sql`false`] = inSegments(
    segmentsOf(range, [60]),
    sql`sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND source = ${source.COUNTED} AND vehicles > 0`,
  );
  // Plan: the unique index of traffic_bins for hours. A year is 8,760 rows, which are sorted here.
  const { rows } = await db.execute<{ sensor_id: string; hours: string }>(sql`
    SELECT sensor_id, array_agg(date_part('epoch', slot)::bigint)::text AS hours FROM (
      SELECT sensor_id, slot FROM ${BINS} AS bins WHERE ${hours}
      UNION ALL SELECT sensor_id, date_bin('1 hour', slot, ${ORIGIN}) FROM ${BINS} AS bins WHERE ${recent}
      UNION ALL SELECT sensor_id, ${HOUR} FROM traffic_periods
      WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND ${crossing(60)} AND ${HAS_VEHICLES}
        AND start >= ${moment(range.from)} AND start < ${moment(range.until)}
    ) AS counted GROUP BY 1`);
  return new Map(
    rows.map((row) => {
      const counted = new Set(numbersOf(row.hours));
      return [row.sensor_id, [...counted].sort((a, b) => a - b).map((seconds) => seconds * 1_000)];
    }),
  );
}

/** The end of the last interval with a vehicle in an hour, and the start of the first; null if the hour has none. */
export interface HourEdges {
  readonly first: number | null;
  readonly last: number | null;
}

/** When a sensor counted its first and last vehicles of some hours (Unix milliseconds), in their order. */
export async function readPeriodEdges(
  db: Executor,
  sensorId: string,
  hours: readonly number[],
): Promise<HourEdges[]> {
  if (hours.length === 0) return [];
  // Plan: traffic_periods_by_start for each hour.
  const { rows } = await db.execute<{ first: number | null; last: number | null }>(sql`
    SELECT edges.*
    FROM unnest(${sql.param(hours.map((hour) => new Date(hour).toISOString()))}::timestamptz[]) WITH ORDINALITY AS one (hour, n)
    CROSS JOIN LATERAL (
      SELECT (extract(epoch FROM min(start)) * 1000)::float8 AS first,
        (extract(epoch FROM max(start + make_interval(secs => seconds))) * 1000)::float8 AS last
      FROM traffic_periods
      WHERE sensor_id = ${sensorId}::uuid AND start >= hour AND start < hour + interval '1 hour'
        AND ${HAS_VEHICLES}
    ) AS edges ORDER BY n`);
  return rows;
}

/** The hour nearest to a time in which a sensor saw a vehicle. */
export interface NearestHour extends HourEdges {
  /** Unix milliseconds. */
  readonly hour: number;
}

/** The last hour before a time, or the first one from it, in which a sensor saw a vehicle; null if there is none. */
export async function findNearestHour(
  db: Executor,
  sensorId: string,
  side: 'before' | 'from',
  time: number,
): Promise<NearestHour | null> {
  const [bound, order] =
    side === 'before'
      ? [sql`slot < ${moment(time)}`, sql`slot DESC`]
      : [sql`slot >= ${moment(time)}`, sql`slot`];
  // Plan: the unique index of traffic_bins for hours, and traffic_periods_across_hours, from that time on.
  const { rows } = await db.execute<{ hour: number; first: number | null; last: number | null }>(sql`
    SELECT (extract(epoch FROM slot) * 1000)::float8 AS hour, (extract(epoch FROM first_at) * 1000)::float8 AS first,
      (extract(epoch FROM last_at) * 1000)::float8 AS last
    FROM (
      (
        SELECT slot, first_at, last_at FROM traffic_bins
        WHERE minutes = 60 AND sensor_id = ${sensorId}::uuid AND ${bound} AND (vehicles > 0 OR first_at IS NOT NULL)
        ORDER BY ${order} LIMIT 1
      ) UNION ALL (
        SELECT ${HOUR}, NULL, NULL FROM (SELECT start AS slot, * FROM traffic_periods) AS period
        WHERE sensor_id = ${sensorId}::uuid AND ${crossing(60)} AND ${HAS_VEHICLES} AND ${bound}
        ORDER BY ${order} LIMIT 1
      )
    ) AS seen ORDER BY ${order} LIMIT 1`);
  return rows[0] ?? null;
}

/** The time from which something is known about a sensor, in Unix milliseconds; null if it never sent anything. */
export async function findFirstSlot(db: Executor, sensorId: string): Promise<number | null> {
  const { rows } = await db.execute<{ at: number | null }>(sql`
    SELECT (extract(epoch FROM min(first_slot)) * 1000)::float8 AS at FROM traffic_places
    WHERE sensor_id = ${sensorId}::uuid`);
  return rows[0]?.at ?? null;
}
