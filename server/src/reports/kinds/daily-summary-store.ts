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

/** The events of an interval by type, from the totals. */
export const countEventsOf = async (db: Executor, interval: Interval): Promise<DayCount[]> => {
  const { rows } = await db.execute<DayCount>(sql`
    SELECT event_type, violation_type, sum(n)::bigint AS n FROM ${countedEvents(interval)}
    GROUP BY 1, 2 HAVING sum(n) > 0`);
  return rows;
};

/** The place with the most events of an interval; null when none has a name. */
export const findBusiestPlace = async (
  db: Executor,
  interval: Interval,
): Promise<{ place: string; n: number } | null> => {
  // Plan: events_pkey at the range of ids of a day.
  const { rows } = await db.execute<{ place: string; n: number }>(sql`
    SELECT location_name AS place, count(*) AS n FROM events
    WHERE ${sql.join([sql`location_name IS NOT NULL`, ...idWithin(interval)], sql` AND `)}
    GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1`);
  return rows[0] ?? null;
};

/** How many incidents were opened and how many resolved in an interval. */
export const countIncidentsOf = async (
  db: Executor,
  { from, until }: Interval,
): Promise<{ opened: number; resolved: number }> => {
  const [start, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
  const { rows } = await db.execute<{ opened: number; resolved: number }>(sql`
    SELECT
      (SELECT count(*) FROM incidents
        WHERE opened_at >= ${start}::timestamptz AND opened_at < ${end}::timestamptz) AS opened,
      (SELECT count(*) FROM incidents
        WHERE resolved_at >= ${start}::timestamptz AND resolved_at < ${end}::timestamptz) AS resolved`);
  return rows[0] ?? { opened: 0, resolved: 0 };
};
