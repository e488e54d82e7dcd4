import type { EventType } from '@gantry/contract/events';
import { sql } from 'drizzle-orm';
import { countedEvents, idWithin } from '../../events/counts/totals.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';

export interface DayCount extends Record<string, unknown> {
  readonly event_type: EventType;
  /** '' for none. */
  readonly violation_type: string;
  readonly n: number;
}

/** The events of an interval by event type and violation type, from the totals. */
export async function countEventsOf(db: Executor, interval: Interval): Promise<DayCount[]> {
  const { rows } = await db.execute<DayCount>(sql`
    SELECT event_type, violation_type, sum(n)::bigint AS n FROM ${countedEvents(interval)}
    GROUP BY 1, 2 HAVING sum(n) > 0`);
  return rows;
}

/** The events of an interval by the name of their location; those without one are left out. */
export async function countEventsByLocation(
  db: Executor,
  interval: Interval,
): Promise<{ location: string; n: number }[]> {
  // Plan: events_pkey for the range of ids.
  const { rows } = await db.execute<{ location: string; n: number }>(sql`
    SELECT location_name AS location, count(*) AS n FROM events
    WHERE ${sql.join([sql`location_name IS NOT NULL`, ...idWithin(interval)], sql` AND `)} GROUP BY 1`);
  return rows;
}

/** The numbers of incidents opened and resolved in an interval. */
export async function countIncidentsOf(
  db: Executor,
  { from, until }: Interval,
): Promise<{ opened: number; resolved: number }> {
  const [start, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
  const { rows } = await db.execute<{ opened: number; resolved: number }>(sql`
    SELECT
      (SELECT count(*) FROM incidents
        WHERE opened_at >= ${start}::timestamptz AND opened_at < ${end}::timestamptz) AS opened,
      (SELECT count(*) FROM incidents
        WHERE resolved_at >= ${start}::timestamptz AND resolved_at < ${end}::timestamptz) AS resolved`);
  return rows[0] ?? { opened: 0, resolved: 0 };
}
