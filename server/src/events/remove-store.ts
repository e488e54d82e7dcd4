import type { EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { type SQL, sql } from 'drizzle-orm';
import { withShortWaits } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { COUNTED_COLUMNS, countingOf } from './counts/counting.ts';
import { removeReviewsOf } from './reviews-store.ts';
import { isViolation } from './severity.ts';

/** The number of events of one type and month that were removed. */
export interface RemovedCount {
  readonly eventType: EventType;
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
}

/** The columns of `RemovedCount` for a query on rows of events that is grouped by the first two. */
const removedCount = sql.raw(
  `event_type AS "eventType", to_char(event_time(id) AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows`,
);

const out = countingOf('gone', -1);
const arrivals = sql.raw(out.arrivals);
const totals = sql.raw(out.totals);
const traffic = sql.raw(`, passed AS (${out.traffic})`);

/**
 * Removes events permanently and subtracts them from the totals. Events whose follow-up is pending cause no incident,
 * no alert and no webhook delivery.
 * @param fromTraffic whether to subtract them from the traffic counts too, as if nothing had passed
 * @returns the numbers of removed events by type and month
 */
export async function removeEvents(
  tx: Executor,
  ids: readonly string[],
  fromTraffic: boolean,
): Promise<RemovedCount[]> {
  // Plan: events_pkey of the partitions that contain the ids, and event_images_pkey.
  const { rows } = await tx.execute<RemovedCount & Record<string, unknown>>(sql`
    WITH gone AS (
      DELETE FROM events WHERE id = ANY (${sql.param(ids)}::uuid[]) RETURNING ${sql.raw(COUNTED_COLUMNS)}
    ), arrived AS (${arrivals}), counted AS (${totals}), images AS (
      DELETE FROM event_images WHERE event_id = ANY (${sql.param(ids)}::uuid[])
    ), unfollowed AS (
      DELETE FROM events_to_follow_up WHERE event_id = ANY (${sql.param(ids)}::uuid[])
    )${fromTraffic ? traffic : sql``}
    SELECT ${removedCount} FROM gone GROUP BY 1, 2`);
  // A separate statement, so that it sees the reviews whose commit the previous statement waited for.
  await removeReviewsOf(tx, ids);
  return rows;
}

/** Removes an event as if it had never been stored. @returns whether it existed */
export async function removeEvent(tx: Executor, id: string): Promise<boolean> {
  return isUuid(id) && (await removeEvents(tx, [id], true)).length > 0;
}

/**
 * Maximum wait for the follow-up of an event that is in progress, in milliseconds: longer than it takes before it is
 * given up. Nobody waits for this transaction meanwhile.
 */
const FOLLOW_UP_WAIT_MS = 8_000;

/** Waits for the follow-up of an event, or prevents it, and withdraws the deliveries of it that were not sent yet. */
async function endFollowUp(tx: Transaction, id: string): Promise<void> {
  const refusal = 'Incidents, alerts or deliveries of the event are being made: try again in a moment';
  const end = async (): Promise<void> => {
    await tx.execute(sql`DELETE FROM events_to_follow_up WHERE event_id = ${id}::uuid`);
    // Plan: webhook_deliveries_due, which contains only deliveries that wait.
    await tx.execute(sql`
      DELETE FROM webhook_deliveries WHERE status = 'PENDING' AND kind IN ('event.ingested', 'event.violation')
        AND strpos(body, ${`"id":"${id.toLowerCase()}"`}) > 0`);
  };
  await withShortWaits(tx, refusal, end, FOLLOW_UP_WAIT_MS);
}

/**
 * Removes an event for a user, as if it had never been stored, and remembers that, so that its device does not store it
 * again. What waits to be sent of it is not sent.
 * @returns whether it existed
 * @throws AppError `unavailable` when retention, or somebody else, holds it for too long
 */
export async function removeEventForGood(tx: Transaction, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const refusal =
    'The event cannot be deleted now, because work on other events of its month takes long: try again in a moment';
  await endFollowUp(tx, id);
  const existed = await withShortWaits(tx, refusal, async () => {
    await rememberDeletion(tx, id);
    return removeEvent(tx, id);
  });
  if (existed) await tx.execute(sql`RESET lock_timeout`);
  return existed;
}

/** How long a deletion by a user is remembered, in days. A device that retries later stores the event again. */
const REMEMBERED_DAYS = 400;

/**
 * Remembers that a user deleted the event, if it has an idempotency key and a device may send it again. Call it
 * before deleting. Statements that insert events with a key wait until the transaction ends and then see its result,
 * so none of them can restore the event.
 */
async function rememberDeletion(tx: Transaction, eventId: string): Promise<void> {
  const { rows } = await tx.execute<{ content_hash: string | null }>(
    sql`SELECT content_hash FROM events WHERE id = ${eventId}::uuid`,
  );
  const hash = rows[0]?.content_hash;
  if (!hash) return;
  // This lock neither blocks backups nor waits for them, because they only read the table.
  await tx.execute(sql`LOCK TABLE deleted_events IN EXCLUSIVE MODE`);
  await tx.execute(sql`
    INSERT INTO deleted_events (event_id, content_hash) VALUES (${eventId}::uuid, ${hash}::uuid)
    ON CONFLICT (event_id) DO UPDATE SET content_hash = excluded.content_hash, at = now()`);
}

/** Removes records of deletions and replaced time zones that are so old that no device retries. */
export async function forgetOldDeletions(db: Executor): Promise<void> {
  await db.execute(sql`DELETE FROM deleted_events WHERE ${isForgotten(sql`at`)}`);
  await db.execute(sql`DELETE FROM former_timezones WHERE ${isForgotten(sql`replaced_at`)}`);
}

/** A part of a month from which retention removed events of a type, so that counts of stored events are incomplete. */
export interface RemovedEvents extends Interval {
  readonly eventType: EventType;
  /** Whether the removed events may have included violations. */
  readonly mayHoldViolations: boolean;
}

interface RemovedRow extends Record<string, unknown> {
  event_type: EventType;
  /** The first day in UTC, `YYYY-MM-DD`. */
  month: string;
  until: string;
}

/** The parts of an interval from which retention removed events, by type and month. */
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

/** Whether events were removed within the interval. @param concerns which of the removals count; all by default */
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
 * The types and months for which events with a violation type were ever counted. Rows of the totals remain when their
 * count becomes 0, so this is known even after the events were removed.
 */
async function findViolations(
  db: Executor,
  removed: readonly RemovedRow[],
): Promise<(row: RemovedRow) => boolean> {
  // Plan: event_period_totals_pkey for each of the months.
  const { rows } = await db.execute<{ key: string }>(sql`
    SELECT DISTINCT start || event_type AS key FROM event_period_totals
    WHERE period = 'month' AND start = ANY (${sql.param(removed.map(({ month }) => month))}::date[])
      AND violation_type <> ''`);
  const known = new Set(rows.map(({ key }) => key));
  return ({ month, event_type }) => known.has(month + event_type);
}
