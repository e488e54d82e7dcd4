import { sql } from 'drizzle-orm';
import { totalsKeys } from '../events/counts/keys.ts';
import { countedByPeriod, countedEvents } from '../events/counts/totals.ts';
import { violationCondition } from '../events/counts/violations.ts';
import { firstIdAt } from '../events/id.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

/** How many events have all of this in common; '' and 0 stand for none. */
export interface CountRow extends Record<string, unknown> {
  readonly event_type: string;
  readonly violation_type: string;
  readonly vehicle_type: string;
  readonly severity: number;
  readonly processed: boolean;
  readonly archived: boolean;
  readonly n: number;
}

/** Counts the events of an interval by everything that events are counted by. */
export const countEvents = async (db: Executor, interval: Interval): Promise<CountRow[]> => {
  // Plan: as for events.getStats, event_period_totals_pkey and event_totals_folded_pkey, half hours of events at the ends.
  const { rows } = await db.execute<CountRow>(sql`
    SELECT ${totalsKeys}, sum(n)::bigint AS n
    FROM ${countedEvents(interval)} GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0`);
  return rows;
};

/** The events of an hour of UTC, or of a part of one. */
export interface HourRow extends Record<string, unknown> {
  /** Its start in Unix milliseconds. */
  readonly hour: number;
  readonly total: number;
  readonly violations: number;
}

/** Counts the events of an interval hour by hour, in their order; hours without any are left out. */
export const countByHour = async (db: Executor, interval: Interval): Promise<HourRow[]> => {
  // Plan: event_totals_folded_pkey, half hours of events at the ends. A month is some 50,000 rows of totals at most.
  const { rows } = await db.execute<HourRow>(sql`
    SELECT (extract(epoch FROM at) * 1000)::bigint AS hour, sum(n)::bigint AS total,
      coalesce(sum(n) FILTER (WHERE ${violationCondition}), 0)::bigint AS violations
    FROM ${countedByPeriod('hour', interval)} GROUP BY 1 HAVING sum(n) <> 0 ORDER BY 1`);
  return rows;
};

/**
 * Counts the events of short intervals one by one, in their order; for time zones whose hours do not begin with those of
 * UTC. Totals by shorter periods would be many more rows for everybody.
 */
export const countWithin = async (
  db: Executor,
  intervals: readonly Interval[],
): Promise<Pick<HourRow, 'total' | 'violations'>[]> => {
  const ends = (end: keyof Interval): string[] => intervals.map((interval) => firstIdAt(interval[end]));
  // Plan: events_pkey from interval to interval. 200,000 events of 720 intervals take 0.14 s.
  const { rows } = await db.execute<{ nth: number; total: number; violations: number }>(sql`
    SELECT nth, count(*) AS total, count(*) FILTER (WHERE ${violationCondition}) AS violations
    FROM unnest(${sql.param(ends('from'))}::uuid[], ${sql.param(ends('until'))}::uuid[])
      WITH ORDINALITY AS interval (first, behind, nth)
    JOIN events ON id >= first AND id < behind GROUP BY 1`);
  const counts = new Map(rows.map(({ nth, total, violations }) => [nth - 1, { total, violations }]));
  return intervals.map((_, n) => counts.get(n) ?? { total: 0, violations: 0 });
};
