import { isUuid } from '@gantry/contract/id';
import type { ReviewDecision } from '@gantry/contract/reviews';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import type { FlagsChange } from './flags-store.ts';
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

function reviewOf({ at, undoneAt, ...row }: ReviewRecord): ReviewRow {
  return { ...row, at: new Date(at), undoneAt: undoneAt === null ? null : new Date(undoneAt) };
}
