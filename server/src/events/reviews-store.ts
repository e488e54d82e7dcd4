import { isUuid } from '@gantry/contract/id';
import type { ReviewDecision } from '@gantry/contract/reviews';
import { sql } from 'drizzle-orm';
import { channels, notify } from '../platform/database/notify.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { KEYS_OF_EVENT, TOTALS_KEYS } from './counts/counting.ts';
import { firstIdAt } from './id.ts';

/** A review as it is stored. */
export interface ReviewRow extends FlagsChange {
  readonly id: string;
  readonly eventId: string;
  readonly decision: ReviewDecision;
  readonly reason: string | null;
  readonly userId: string;
  readonly at: Date;
  readonly undoneAt: Date | null;
}

type ReviewRecord = Omit<ReviewRow, 'at' | 'undoneAt'> & { at: string; undoneAt: string | null };

const COLUMNS = sql.raw(
  'id, event_id AS "eventId", decision, reason, user_id AS "userId", at, before, after, undone_at AS "undoneAt"',
);

/** Stores a review. */
export async function insertReview(
  tx: Executor,
  { eventId, decision, reason, userId, at, before, after }: Omit<ReviewRow, 'id' | 'undoneAt'>,
): Promise<ReviewRow> {
  const { rows } = await tx.execute<ReviewRecord & Record<string, unknown>>(sql`
    INSERT INTO event_reviews (event_id, decision, reason, user_id, at, before, after)
    VALUES (${eventId}::uuid, ${decision}, ${reason}, ${userId}::uuid, ${at.toISOString()}::timestamptz,
      ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb)
    RETURNING ${COLUMNS}`);
  if (!rows[0]) throw new Error('PostgreSQL did not return the inserted review');
  return reviewOf(rows[0]);
}

/** A review, whether or not it was undone; null when there is none. */
export async function findReview(db: Executor, id: string): Promise<ReviewRow | null> {
  if (!isUuid(id)) return null;
  const { rows } = await db.execute<ReviewRecord & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM event_reviews WHERE id = ${id}::uuid`,
  );
  return rows[0] ? reviewOf(rows[0]) : null;
}

/** The latest review of each of these events that has one; those that were undone do not count. */
export async function findLatestReviews(db: Executor, eventIds: readonly string[]): Promise<ReviewRow[]> {
  // Plan: event_reviews_of_event.
  const { rows } = await db.execute<ReviewRecord & Record<string, unknown>>(sql`
    SELECT DISTINCT ON (event_id) ${COLUMNS} FROM event_reviews
    WHERE event_id = ANY (${sql.param(eventIds.filter(isUuid))}::uuid[]) AND undone_at IS NULL
    ORDER BY event_id, seq DESC`);
  return rows.map(reviewOf);
}

/** All reviews of an event, oldest first. */
export async function listReviews(db: Executor, eventId: string): Promise<ReviewRow[]> {
  const { rows } = await db.execute<ReviewRecord & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM event_reviews WHERE event_id = ${eventId}::uuid ORDER BY seq`,
  );
  return rows.map(reviewOf);
}

/** Records that a review was undone. */
export async function setUndone(tx: Executor, id: string, at: Date): Promise<void> {
  await tx.execute(
    sql`UPDATE event_reviews SET undone_at = ${at.toISOString()}::timestamptz WHERE id = ${id}::uuid`,
  );
}

/** Removes the reviews of events that the same transaction has removed before, so that no review can be added. */
export async function removeReviewsOf(tx: Executor, eventIds: readonly string[]): Promise<void> {
  await tx.execute(sql`DELETE FROM event_reviews WHERE event_id = ANY (${sql.param(eventIds)}::uuid[])`);
}

/** Removes the reviews of all events of an interval. */
export async function removeReviewsWithin(tx: Executor, { from, until }: Interval): Promise<void> {
  await tx.execute(sql`
    DELETE FROM event_reviews
    WHERE event_id >= ${firstIdAt(from)}::uuid AND event_id < ${firstIdAt(until)}::uuid`);
}

/** Events for which a rule may want a case. */
export interface CaseCandidate {
  readonly id: string;
  readonly violationType: string | null;
}

/**
 * Asks for cases about those of the events for which the rules of cases want one (`cases/start` opens them).
 * @param on what has happened to the events
 * @param userId who confirmed them; null if they just arrived
 */
export async function requestCases(
  tx: Executor,
  events: readonly CaseCandidate[],
  on: 'CONFIRMED' | 'ARRIVAL',
  userId: string | null,
): Promise<void> {
  const given = events.filter(({ violationType }) => violationType);
  if (given.length === 0) return;
  const { rowCount } = await tx.execute(sql`
    INSERT INTO case_requests (event_id, user_id)
    SELECT id, ${userId}::uuid FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given (id uuid, "violationType" text)
    WHERE EXISTS (
      SELECT FROM case_rules, unnest(open_for) AS type WHERE open_on = ${on} AND gantry_fold(type) = gantry_fold("violationType")
    ) ORDER BY id
    ON CONFLICT DO NOTHING`);
  if ((rowCount ?? 0) > 0) await notify(tx, channels.cases, '');
}

/**
 * Takes back that an event wants a case because somebody confirmed it, unless the case is being opened at this moment. Requests
 * may wait for long, while too many cases are open.
 */
export async function withdrawRequest(tx: Executor, eventId: string): Promise<void> {
  await tx.execute(sql`
    DELETE FROM case_requests WHERE event_id = (
      SELECT event_id FROM case_requests WHERE event_id = ${eventId}::uuid AND user_id IS NOT NULL
      FOR UPDATE SKIP LOCKED
    )`);
}

function reviewOf({ at, undoneAt, ...row }: ReviewRecord): ReviewRow {
  return { ...row, at: new Date(at), undoneAt: undoneAt === null ? null : new Date(undoneAt) };
}

/** Who marked an event, and when (ISO 8601). */
export interface Flag {
  readonly by: string | null;
  readonly at: string | null;
}

/** The flags of an event that people set; null: not set. */
export interface Flags {
  readonly processed: Flag | null;
  readonly archived: Flag | null;
}

/** The flags of an event before and after a change. */
interface FlagsChange {
  readonly before: Flags;
  readonly after: Flags;
}

/** The flags of an event that is locked, and what it is. */
export interface LockedFlags extends Flags {
  readonly violationType: string | null;
}

interface FlagsRow extends Record<string, unknown> {
  violation_type: string | null;
  processed: boolean;
  processed_at: string | null;
  processed_by: string | null;
  archived: boolean;
  archived_at: string | null;
  archived_by: string | null;
}

/** Locks the flags of an event until the transaction ends; null when there is no such event. */
export async function lockFlags(db: Executor, id: string): Promise<LockedFlags | null> {
  if (!isUuid(id)) return null;
  // Plan: events_pkey or events_unprocessed of one partition.
  const { rows } = await db.execute<FlagsRow>(sql`
    SELECT processed, processed_at, processed_by, archived, archived_at, archived_by, violation_type
    FROM events WHERE id = ${id}::uuid FOR UPDATE`);
  const [row] = rows;
  if (!row) return null;
  return {
    processed: row.processed ? flagOf(row.processed_by, row.processed_at) : null,
    archived: row.archived ? flagOf(row.archived_by, row.archived_at) : null,
    violationType: row.violation_type,
  };
}

/**
 * Sets or clears both flags of an event, and updates the totals once.
 * @param change `before` must be the present flags, which the caller has locked
 */
export async function setFlags(db: Executor, id: string, { before, after }: FlagsChange): Promise<void> {
  if (isSameFlag(before.processed, after.processed) && isSameFlag(before.archived, after.archived)) return;
  const [wasProcessed, wasArchived] = [before.processed !== null, before.archived !== null];
  const [processed, archived] = [after.processed !== null, after.archived !== null];
  const isCountedAnew = wasProcessed !== processed || wasArchived !== archived;
  await db.execute(sql`
    WITH changed AS (
      UPDATE events SET
        processed = ${processed}, processed_at = ${after.processed?.at ?? null}::timestamptz,
        processed_by = ${after.processed?.by ?? null}::uuid,
        archived = ${archived}, archived_at = ${after.archived?.at ?? null}::timestamptz,
        archived_by = ${after.archived?.by ?? null}::uuid
      WHERE id = ${id}::uuid
      RETURNING id, event_type, violation_type, vehicle_type, severity
    ), moves AS (
      SELECT id, event_type, violation_type, vehicle_type, severity, move.processed, move.archived, move.n
      FROM changed CROSS JOIN (VALUES
        (${wasProcessed}::boolean, ${wasArchived}::boolean, -1),
        (${processed}::boolean, ${archived}::boolean, 1)
      ) AS move (processed, archived, n) WHERE ${isCountedAnew}::boolean
    )
    INSERT INTO event_totals (hour, ${sql.raw(TOTALS_KEYS)}, n)
    SELECT event_hour(id), ${sql.raw(KEYS_OF_EVENT)}, n FROM moves`);
}

/** Whether two flags are equal, including who set them and when. */
export function isSameFlag(one: Flag | null, other: Flag | null): boolean {
  return one?.at === other?.at && one?.by === other?.by && (one === null) === (other === null);
}

function flagOf(by: string | null, at: string | null): Flag {
  return { by, at: at === null ? null : new Date(at).toISOString() };
}
