import type { EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { COUNTED_COLUMNS, countingOf } from './counts/counting.ts';
import { isViolation } from './violation.ts';

/** How many events of a type and a month were removed. */
export interface RemovedCount {
  readonly eventType: EventType;
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
}

/** What a query on rows of events selects, under the names of `RemovedCount`, to be grouped by its first two columns. */
export const removedCount = sql.raw(
  `event_type AS "eventType", to_char(event_time(id) AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows`,
);

const out = countingOf('gone', -1);
const arrivals = sql.raw(out.arrivals);
const totals = sql.raw(out.totals);
const traffic = sql.raw(`, passed AS (${out.traffic})`);

/**
 * Removes events for good and subtracts them from the totals. Those that are still to be followed up have no effects any
 * more: no incident, no alert, no webhook.
 * @param fromTraffic whether they are taken off the counts of traffic too, as if nothing had passed
 * @returns how many there were of each type and month
 */
export async function removeEvents(
  tx: Executor,
  ids: readonly string[],
  fromTraffic: boolean,
): Promise<RemovedCount[]> {
  // Plan: events_pkey of the partitions that the ids fall into, and event_images_pkey.
  const { rows } = await tx.execute<RemovedCount & Record<string, unknown>>(sql`
    WITH gone AS (
      DELETE FROM events WHERE id = ANY (${sql.param(ids)}::uuid[]) RETURNING ${sql.raw(COUNTED_COLUMNS)}
    ), arrived AS (${arrivals}), counted AS (${totals}), pictures AS (
      DELETE FROM event_images WHERE event_id = ANY (${sql.param(ids)}::uuid[])
    ), unfollowed AS (
      DELETE FROM events_to_follow_up WHERE event_id = ANY (${sql.param(ids)}::uuid[])
    )${fromTraffic ? traffic : sql``}
    SELECT ${removedCount} FROM gone GROUP BY 1, 2`);
  return rows;
}

/** Removes an event as if it had never been there; false when there was none. */
export async function removeEvent(tx: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await removeEvents(tx, [id], true)).length > 0;
}

/** What is remembered of a deletion by a person, in days; a device that retries later stores the event anew. */
const REMEMBERED_DAYS = 400;

/**
 * Remembers, when the transaction commits, that a person deleted the event, if a device may send it again: if it has an
 * idempotency key. To be called before the event is deleted. Statements that insert events with a key wait until the
 * transaction ends, and then see what it wrote: none of them can bring the event back.
 */
export async function rememberDeletion(tx: Transaction, eventId: string): Promise<void> {
  const { rows } = await tx.execute<{ content_hash: string | null }>(
    sql`SELECT content_hash FROM events WHERE id = ${eventId}::uuid`,
  );
  const hash = rows[0]?.content_hash;
  if (!hash) return;
  // Backups, which only read the table, are not waited for and do not wait.
  await tx.execute(sql`LOCK TABLE deleted_events IN EXCLUSIVE MODE`);
  await tx.execute(sql`
    INSERT INTO deleted_events (event_id, content_hash) VALUES (${eventId}::uuid, ${hash}::uuid)
    ON CONFLICT (event_id) DO UPDATE SET content_hash = excluded.content_hash, at = now()`);
}

/** Forgets deletions, and time zones that were replaced, after so long that no device retries any more. */
export async function forgetOldDeletions(db: Executor): Promise<void> {
  await db.execute(sql`DELETE FROM deleted_events WHERE ${isForgotten(sql`at`)}`);
  await db.execute(sql`DELETE FROM former_timezones WHERE ${isForgotten(sql`replaced_at`)}`);
}

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

function isForgotten(column: SQL): SQL {
  return sql`${column} < now() - make_interval(days => ${REMEMBERED_DAYS})`;
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
