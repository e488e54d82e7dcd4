import { sql } from 'drizzle-orm';
import { uuidArray } from '../platform/database/arrays.ts';
import { type Executor, prepare } from '../platform/database/transaction.ts';

const CLAIM = prepare<{ id: string }>(
  'claim-follow-ups',
  sql`
    WITH ours AS (
      SELECT event_id FROM events_to_follow_up WHERE event_id = ANY (${sql.placeholder('ids')})
      FOR UPDATE SKIP LOCKED
    )
    DELETE FROM events_to_follow_up AS noted USING ours WHERE noted.event_id = ours.event_id
    RETURNING noted.event_id AS id`,
);

/**
 * Removes events from the list of follow-ups, so that no other transaction follows them up if this one commits.
 * Events that another transaction has locked are skipped.
 * @returns the ids of the events that were on the list
 */
export async function claimFollowUps(tx: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const taken = await CLAIM(tx, { ids: uuidArray(ids, (id) => id) });
  return new Set(taken.map(({ id }) => id));
}

/** An event on the list of follow-ups, with the number of failed attempts. */
export interface LeftToFollowUp {
  readonly id: string;
  readonly attempts: number;
}

/**
 * Follow-ups that are due, those with the fewest failures first, so that an event that always fails delays no other.
 */
export async function listOverdueFollowUps(db: Executor, limit: number): Promise<readonly LeftToFollowUp[]> {
  // Plan: events_to_follow_up_by_turn.
  const { rows } = await db.execute<{ id: string; attempts: number }>(sql`
    SELECT event_id AS id, attempts FROM events_to_follow_up WHERE retry_at <= now()
    ORDER BY attempts, retry_at LIMIT ${limit}`);
  return rows;
}

/** The delay after the first failure, which doubles with each further one, and the maximum, in seconds. */
const INITIAL_PAUSE_SECONDS = 2;
const MAX_PAUSE_SECONDS = 3_600;

/** After this many doublings 2 s exceed an hour. */
const MAX_DOUBLINGS = 11;

/**
 * Counts a failed attempt for each of these events and delays the next one. Events that another transaction has
 * locked are skipped.
 */
export async function postponeFollowUp(db: Executor, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    WITH ours AS (
      SELECT event_id FROM events_to_follow_up WHERE event_id = ANY (${sql.param(ids)}::uuid[])
      FOR UPDATE SKIP LOCKED
    )
    UPDATE events_to_follow_up AS noted
    SET attempts = attempts + 1, retry_at = now() + make_interval(secs =>
      least(${MAX_PAUSE_SECONDS}::float8, ${INITIAL_PAUSE_SECONDS} * power(2, least(attempts, ${MAX_DOUBLINGS}))))
    FROM ours WHERE noted.event_id = ours.event_id`);
}

/** The follow-ups that are late. */
export interface LateFollowUp {
  readonly events: number;
  /** How long the oldest of them has waited, in seconds; 0 if there is none. */
  readonly oldestSeconds: number;
}

/** Counts the events that have waited for more than the given number of seconds. */
export async function countLateFollowUp(db: Executor, seconds: number): Promise<LateFollowUp> {
  const { rows } = await db.execute<{ events: number; oldest: number | null }>(sql`
    SELECT count(*) AS events, extract(epoch FROM now() - min(at))::float8 AS oldest
    FROM events_to_follow_up WHERE at < now() - make_interval(secs => ${seconds})`);
  return { events: rows[0]?.events ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 };
}

/** Whether any events are listed for follow-up, now or later. */
export async function hasFollowUps(db: Executor): Promise<boolean> {
  const { rows } = await db.execute<{ found: boolean }>(
    sql`SELECT EXISTS (SELECT FROM events_to_follow_up) AS found`,
  );
  return rows[0]?.found === true;
}
