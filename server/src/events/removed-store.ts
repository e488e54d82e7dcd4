import type { EventType } from '@gantry/contract/events';
import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

/** A part of a month from which retention removed events of a type. Counts of what is stored say nothing true of it. */
export interface RemovedEvents extends Interval {
  readonly eventType: EventType;
}

interface RemovedRow extends Record<string, unknown> {
  event_type: EventType;
  month: string;
  until: string;
}

/** What retention removed events from within an interval, of each type month by month. */
export const listRemovedEvents = async (
  db: Executor,
  { from, until }: Interval,
): Promise<RemovedEvents[]> => {
  const { rows } = await db.execute<RemovedRow>(sql`
    SELECT event_type, month::timestamp AT TIME ZONE 'UTC' AS month, max(until) AS until FROM retention_removals
    WHERE class = 'events' AND rows > 0 AND until > ${moment(from)}
      AND month::timestamp AT TIME ZONE 'UTC' < ${moment(until)}
    GROUP BY 1, 2 ORDER BY 2, 1`);
  return rows.map((row) => ({
    eventType: row.event_type,
    from: new Date(row.month).getTime(),
    until: new Date(row.until).getTime(),
  }));
};

/** Whether any of it is within the interval. @param types only of these types; all of them unless given */
export const isRemovedWithin = (
  removed: readonly RemovedEvents[],
  { from, until }: Interval,
  types?: ReadonlySet<string>,
): boolean =>
  removed.some(
    (span) => span.from < until && span.until > from && (types === undefined || types.has(span.eventType)),
  );
