import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import { countedByPeriod, countedEvents, idWithin } from '../events/totals.ts';
import type { Interval } from '../time.ts';

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
    SELECT event_type, violation_type, vehicle_type, severity, processed, archived, sum(n)::bigint AS n
    FROM ${countedEvents(interval)} GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0`);
  return rows;
};

/** The events of an hour of UTC, or of a quarter of one. */
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
      coalesce(sum(n) FILTER (WHERE event_type IN ('TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION')), 0)::bigint AS violations
    FROM ${countedByPeriod('hour', interval)} GROUP BY 1 HAVING sum(n) <> 0 ORDER BY 1`);
  return rows;
};

/**
 * The same by quarters of an hour, from the events themselves: for time zones whose hours do not begin with those of UTC.
 * Totals by quarters would be four times as many rows for everybody.
 */
export const countByQuarter = async (db: Executor, interval: Interval): Promise<HourRow[]> => {
  // Plan: events_by_type of the months that the interval touches, without their rows where vacuum has been.
  const { rows } = await db.execute<HourRow>(sql`
    SELECT (extract(epoch FROM date_bin('15 minutes', event_time(id), timestamptz '2000-01-01 00:00Z')) * 1000)::bigint AS hour,
      count(*) AS total,
      count(*) FILTER (WHERE event_type IN ('TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION')) AS violations
    FROM events WHERE ${sql.join(idWithin(interval), sql` AND `)} GROUP BY 1 ORDER BY 1`);
  return rows;
};
