import type { EventType } from '@gantry/contract/events';
import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { isViolation } from './violation.ts';

/** A part of a month from which retention removed events of a type. Counts of what is stored say nothing true of it. */
export interface RemovedEvents extends Interval {
  readonly eventType: EventType;
  /** Whether violations may have been among them. */
  readonly mayHoldViolations: boolean;
}

interface RemovedRow extends Record<string, unknown> {
  event_type: EventType;
  /** `YYYY-MM-DD`, its first day in UTC. */
  month: string;
  until: string;
}

/** What retention removed events from within an interval, of each type month by month. */
export async function listRemovedEvents(db: Executor, { from, until }: Interval): Promise<RemovedEvents[]> {
  const { rows } = await db.execute<RemovedRow>(sql`
    SELECT event_type, month, max(until) AS until FROM retention_removals
    WHERE class = 'events' AND rows > 0 AND until > ${moment(from)}
      AND month::timestamp AT TIME ZONE 'UTC' < ${moment(until)}
    GROUP BY 1, 2 ORDER BY 2, 1`);
  if (rows.length === 0) return [];
  const hadViolationTypes = await findViolations(db, rows);
  return rows.map((row) => ({
    eventType: row.event_type,
    mayHoldViolations: isViolation(row.event_type, null) || hadViolationTypes(row),
    from: Date.parse(row.month),
    until: new Date(row.until).getTime(),
  }));
}

/** Whether any of it is within the interval. @param concerns which of it counts; all unless given */
export function isRemovedWithin(
  removed: readonly RemovedEvents[],
  { from, until }: Interval,
  concerns: (span: RemovedEvents) => boolean = () => true,
): boolean {
  return removed.some((span) => span.from < until && span.until > from && concerns(span));
}

/**
 * The types and months in which events with a violation type were counted at some time. A row of the totals stays when
 * its count becomes 0, so this is known after the events were removed.
 */
async function findViolations(
  db: Executor,
  removed: readonly RemovedRow[],
): Promise<(row: RemovedRow) => boolean> {
  // Plan: event_period_totals_pkey at each of the months.
  const { rows } = await db.execute<{ key: string }>(sql`
    SELECT DISTINCT start || event_type AS key FROM event_period_totals
    WHERE period = 'month' AND start = ANY (${sql.param(removed.map(({ month }) => month))}::date[])
      AND violation_type <> ''`);
  const known = new Set(rows.map(({ key }) => key));
  return ({ month, event_type }) => known.has(month + event_type);
}
