import type { Analytics } from '@gantry/contract/analytics';
import { type SQL, sql } from 'drizzle-orm';
import { totalsKeys, violationCondition } from '../../events/counts/counting.ts';
import { countedEvents, type HourCount, idWithin } from '../../events/counts/totals.ts';
import { firstIdAt, timeOfId } from '../../events/id.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { passedIn, passedWithin } from '../../traffic/passed-store.ts';
import { segmentsOf } from '../../traffic/segments.ts';
import { BINS, inSegments } from '../../traffic/slots-store.ts';
import { findPlaceNames } from '../places-store.ts';

/** The number of events with these properties; '' and 0 stand for none. */
export interface CountRow extends Record<string, unknown> {
  readonly event_type: string;
  readonly violation_type: string;
  readonly vehicle_type: string;
  readonly severity: number;
  readonly processed: boolean;
  readonly archived: boolean;
  readonly n: number;
}

/** Counts the events of an interval by all keys of the totals. */
export async function countEvents(db: Executor, interval: Interval): Promise<CountRow[]> {
  // Plan: as for events.getStats, event_period_totals_pkey and event_totals_folded_pkey, and the events of partial
  // hours at the ends.
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${totalsKeys}, sum(n)::bigint AS n
    FROM ${countedEvents(interval)} GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0`);
  return rows;
}

/** The time of the earliest event that is kept; null if there is none. */
export async function findFirstEventTime(db: Executor): Promise<Date | null> {
  // Plan: events_pkey, partition by partition until one has an event.
  const { rows } = await db.execute<{ id: string }>(sql`SELECT id FROM events ORDER BY id LIMIT 1`);
  return rows[0] ? new Date(timeOfId(rows[0].id)) : null;
}

/**
 * Counts the events of short intervals one by one, in order, for time zones whose hours do not begin with those of
 * UTC. Totals by shorter periods would add many rows to every installation.
 */
export async function countWithin(
  db: Executor,
  intervals: readonly Interval[],
): Promise<Pick<HourCount, 'total' | 'violations'>[]> {
  const ends = (end: keyof Interval): string[] => intervals.map((interval) => firstIdAt(interval[end]));
  // Plan: events_pkey from interval to interval. 200,000 events of 720 intervals take 0.14 s.
  const { rows } = await db.execute<{ nth: number; total: number; violations: number }>(sql`
    SELECT nth, count(*) AS total, count(*) FILTER (WHERE ${violationCondition}) AS violations
    FROM unnest(${sql.param(ends('from'))}::uuid[], ${sql.param(ends('until'))}::uuid[])
      WITH ORDINALITY AS interval (first, behind, nth)
    JOIN events ON id >= first AND id < behind GROUP BY 1`);
  const counts = new Map(rows.map(({ nth, total, violations }) => [nth - 1, { total, violations }]));
  return intervals.map((_, n) => counts.get(n) ?? { total: 0, violations: 0 });
}

const TOP = 10;

/** The sensors with most events, including deleted ones, with the name each had last. */
export async function listTopSensors(db: Executor, range: Interval) {
  const known = sql`SELECT id FROM sensors UNION SELECT sensor_id FROM traffic_places`;
  const top = await topPlaces(db, range, known, sql`sensor_id`);
  const names = await findPlaceNames(
    db,
    top.map(({ id }) => id),
  );
  return top.map(({ id, count }) => ({ sensorId: id, sensorName: names.get(id) ?? null, count }));
}

/** The existing locations with most events. */
export async function listTopLocations(db: Executor, range: Interval) {
  const known = sql`SELECT id FROM locations`;
  const top = await topPlaces(db, range, known, sql`location_id`);
  const ids = sql`${sql.param(top.map(({ id }) => id))}::uuid[]`;
  const { rows } = await db.execute<{ id: string; name: string }>(
    sql`SELECT id, name FROM locations WHERE id = ANY (${ids})`,
  );
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return top.flatMap(({ id, count }) => {
    const locationName = names.get(id);
    return locationName === undefined ? [] : [{ locationId: id, locationName, count }];
  });
}

const MAX_PLATES = 50;

/**
 * The plates that were seen at least a given number of times, the most frequent first. Reads every event of the
 * interval that has a plate, so keep it to some hundred thousand events.
 */
export async function listRepeatPlates(db: Executor, interval: Interval, from: number) {
  // Plan: events_by_plate, or events_pkey of the months in the interval.
  const { rows } = await db.execute<{ plate: string; n: number; last_seen: string }>(sql`
    SELECT max(plate) AS plate, count(*) AS n, max(id::text) AS last_seen FROM events
    WHERE plate_key <> '' AND ${sql.join(idWithin(interval), sql` AND `)}
    GROUP BY plate_key HAVING count(*) >= ${from} ORDER BY n DESC, plate_key LIMIT ${MAX_PLATES}`);
  return rows;
}

const LATEST = 20_000;

interface TimesRow extends Record<string, unknown> {
  n: number;
  mean: number | null;
  median: number | null;
  p90: number | null;
}

/**
 * The time, in seconds, until events were marked as processed, for the last `LATEST` of those that were marked within
 * the interval.
 */
export async function getProcessingTime(
  db: Executor,
  { from, until }: Interval,
): Promise<Analytics['processingTime']> {
  // Plan: events_by_processing from its end.
  const { rows } = await db.execute<TimesRow>(sql`
    SELECT count(*) AS n, avg(seconds) AS mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median,
      percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds) AS p90
    FROM (
      SELECT date_part('epoch', processed_at - created_at) AS seconds FROM events
      WHERE processed_at >= ${moment(from)}
        AND processed_at < ${moment(until)}
      ORDER BY processed_at DESC LIMIT ${LATEST}
    ) AS times`);
  const [row] = rows;
  return {
    count: row?.n ?? 0,
    mean: rounded(row?.mean ?? null),
    median: rounded(row?.median ?? null),
    p90: rounded(row?.p90 ?? null),
  };
}

/** The places with most events within a range. Plan: an index of traffic_bins for each place. */
async function topPlaces(db: Executor, range: Interval, places: SQL, column: SQL) {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const rolledUp = inSegments(segments, sql`${column} = places.id`).map(
    (condition) => sql`SELECT places.id, events FROM places JOIN ${BINS} AS bins ON ${condition}`,
  );
  const { rows } = await db.execute<{ id: string; count: number }>(sql`
    WITH places AS (${places}), counted AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT ${column}, sign FROM (${passedIn(sql`traffic_unfolded`, passedWithin(whole))}) AS fresh
      WHERE ${column} IS NOT NULL
    )
    SELECT id, sum(events)::bigint AS count FROM counted GROUP BY 1 HAVING sum(events) > 0
    ORDER BY 2 DESC, 1 DESC LIMIT ${TOP}`);
  return rows;
}

function rounded(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1_000) / 1_000;
}
