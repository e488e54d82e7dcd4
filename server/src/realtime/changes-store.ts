import type { Topic } from '@gantry/contract/realtime';
import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import superjson, { type SuperJSONResult } from 'superjson';
import { locks } from '../platform/database/locks.ts';
import { channels } from '../platform/database/notify.ts';
import { type Executor, prepare } from '../platform/database/transaction.ts';
import { type Cursor, compare, type Position } from './position.ts';

/** How long a client may be disconnected and still receive everything that it missed. */
export const KEPT_HOURS = 24;

const RECORD = prepare(
  'record-changes',
  sql`
    WITH recorded AS (
      INSERT INTO changes (topic, body)
      SELECT change ->> 'topic', change -> 'body'
      FROM jsonb_array_elements(${sql.placeholder('changes')}::jsonb) WITH ORDINALITY AS given (change, position)
      ORDER BY position
    )
    SELECT pg_notify(${sql.raw(`'${channels.changes}'`)}, '')`,
);

/**
 * Records changes for subscribers and wakes the processes to which they are connected, when the transaction commits.
 * Bodies are stored in superjson's format, so that dates are restored.
 */
export async function recordChanges(
  tx: Executor,
  changes: readonly { topic: Topic; body: object }[],
): Promise<void> {
  const given = changes.map(({ topic, body }) => ({ topic, body: superjson.serialize(body) }));
  await RECORD(tx, { changes: JSON.stringify(given) });
}

/** One row of the feed. */
export interface Change {
  readonly xid: bigint;
  readonly seq: bigint;
  readonly topic: Topic;
  /** Unix milliseconds */
  readonly at: number;
  readonly eventIds: readonly string[];
  readonly body: unknown;
}

/** The changes after a position. */
export interface FeedPage {
  readonly changes: readonly Change[];
  /** The start of the next page. */
  readonly next: Position;
  /** Whether there may be more to read at once. */
  readonly isFull: boolean;
  /** Whether there are committed changes that cannot be sent yet, because an earlier transaction has not finished. */
  readonly isHeldUp: boolean;
  /** Every change that was committed before this time comes before `next`. Unix milliseconds. */
  readonly at: number;
  /** The database's time, in Unix milliseconds. */
  readonly now: number;
}

interface FeedRow {
  readonly horizon: string;
  readonly now: Date;
  /** The time of the first change that is held up, if any. */
  readonly held_at: Date | null;
  readonly xid: string | null;
  readonly seq: string;
  readonly topic: Topic;
  readonly at: Date;
  readonly event_ids: string[] | null;
  readonly body: SuperJSONResult | null;
}

/** Number of rows of a page. A row holds a commit group of up to a thousand events. */
const PAGE = 50;

/**
 * The range of transaction numbers in which changes may still be missing: from the oldest unfinished transaction of the
 * server to the next number to be assigned.
 */
const LIMITS = `
  SELECT pg_snapshot_xmin(pg_current_snapshot()) AS horizon, pg_snapshot_xmax(pg_current_snapshot()) AS beyond`;

/**
 * The same, from the oldest unfinished transaction of this database. A transaction counts as one of another database
 * only if its lock or its prepared state shows that, so one that ends during the query is still waited for.
 */
export const LIMITS_HERE = `
  SELECT coalesce((
      SELECT unfinished FROM pg_snapshot_xip(snapshot) AS unfinished
      WHERE NOT EXISTS (
          SELECT FROM pg_locks JOIN pg_stat_activity AS session ON session.pid = pg_locks.pid
          WHERE locktype = 'transactionid' AND granted AND mode = 'ExclusiveLock' AND transactionid = unfinished::xid
            AND datname <> current_database()
        ) AND NOT EXISTS (
          SELECT FROM pg_prepared_xacts WHERE transaction = unfinished::xid AND database <> current_database()
        )
      ORDER BY 1 LIMIT 1
    ), pg_snapshot_xmax(snapshot)) AS horizon, pg_snapshot_xmax(snapshot) AS beyond
  FROM pg_current_snapshot() AS snapshot`;

// Plan: two ranges of changes_pkey, nested under the horizon. 0.1 ms for a page with little in it.
const readWithin = (limits: string): string => `
  SELECT horizon, now() AS now, held.at AS held_at,
    change.xid, change.seq::text, change.topic, change.at, change.event_ids, change.body
  FROM (${limits}) AS oldest
  LEFT JOIN LATERAL (
    SELECT at FROM changes WHERE xid >= horizon AND xid < beyond ORDER BY xid, seq LIMIT 1
  ) AS held ON true
  LEFT JOIN LATERAL (
    SELECT * FROM changes
    WHERE (xid, seq) >= ($1::xid8, $2::bigint) AND xid < horizon
    ORDER BY xid, seq LIMIT ${PAGE}
  ) AS change ON true
  ORDER BY change.xid, change.seq`;

const READ = { name: 'read-changes', text: readWithin(LIMITS) };
const READ_HERE = { name: 'read-changes-here', text: readWithin(LIMITS_HERE) };

/**
 * The changes committed from a position on, up to where no other change can appear in between. They do not wait for
 * transactions of other databases of the server, which PostgreSQL numbers together with those of this one.
 */
export async function readChanges(pool: Pool, from: Position): Promise<FeedPage> {
  const page = await readPage(pool, READ, from);
  const isStuck = page.isHeldUp && page.changes.length === 0 && compare(page.next, from) <= 0;
  return isStuck ? readPage(pool, READ_HERE, from) : page;
}

async function readPage(pool: Pool, statement: typeof READ, from: Position): Promise<FeedPage> {
  const values = [String(from.xid), String(from.seq)];
  const { rows } = await pool.query<FeedRow>({ ...statement, values });
  const [first] = rows;
  if (!first) throw new Error('PostgreSQL did not return the horizon of the feed of changes');
  const changes = rows.flatMap((row) =>
    row.xid === null
      ? []
      : [
          {
            xid: BigInt(row.xid),
            seq: BigInt(row.seq),
            topic: row.topic,
            at: row.at.getTime(),
            eventIds: row.event_ids ?? [],
            body: row.body && superjson.deserialize(row.body),
          },
        ],
  );
  const last = changes.at(-1);
  const isFull = changes.length === PAGE;
  const now = first.now.getTime();
  // A transaction with a higher number than that of a change received it, and so commits, after the transaction of the
  // change began, which is the time of the change.
  const end: Cursor =
    isFull && last
      ? { position: { xid: last.xid, seq: last.seq + 1n, index: 0 }, at: last.at }
      : {
          position: { xid: BigInt(first.horizon), seq: 0n, index: 0 },
          at: first.held_at?.getTime() ?? now,
        };
  // An earlier read may have gone beyond the transactions of other databases.
  const next = compare(end.position, from) < 0 ? from : end.position;
  return { changes, next, isFull, isHeldUp: first.held_at !== null, at: end.at, now };
}

/** The feed at one moment. */
export interface FeedMoment {
  /** Where a new subscriber begins. The oldest unfinished transaction of the server limits it. */
  readonly cursor: Cursor;
  /** The number of the next transaction. No change that was ever read has it. */
  readonly end: bigint;
  /** Whether the transaction with a number had finished. Some finished ones come after the cursor. */
  readonly isPast: (xid: bigint) => boolean;
}

/** Reads the present end of the feed and the finished transactions, from one snapshot. */
export async function readFeedMoment(pool: Pool): Promise<FeedMoment> {
  const { rows } = await pool.query<{ snapshot: string; now: Date }>(
    'SELECT pg_current_snapshot()::text AS snapshot, now() AS now',
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL returned no snapshot');
  const [oldest = '0', end = '0', unfinished = ''] = row.snapshot.split(':');
  const unfinishedXids = new Set(unfinished === '' ? [] : unfinished.split(',').map(BigInt));
  const endXid = BigInt(end);
  return {
    cursor: { position: { xid: BigInt(oldest), seq: 0n, index: 0 }, at: row.now.getTime() },
    end: endXid,
    isPast: (xid) => xid < endXid && !unfinishedXids.has(xid),
  };
}

/**
 * Removes changes that no transaction of this server wrote. They come from a restored dump: their transaction numbers
 * are ahead of the server's, so they would be sent as new once it reaches those numbers.
 */
export async function forgetForeignChanges(pool: Pool): Promise<void> {
  await pool.query('DELETE FROM changes WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())');
}

const PRUNED_AT_ONCE = 5_000;

/**
 * Removes changes older than the given number of hours, at most some thousands; one of several processes does it.
 * @returns the number of removed rows
 */
export async function pruneChanges(pool: Pool, olderThanHours: number): Promise<number> {
  const { rowCount } = await pool.query(
    `WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock($1) AS mine),
     old AS (
       SELECT changes.xid, changes.seq FROM changes, turn
       WHERE turn.mine ORDER BY changes.xid, changes.seq LIMIT $3
     )
     DELETE FROM changes USING old
     WHERE changes.xid = old.xid AND changes.seq = old.seq AND changes.at < now() - make_interval(hours => $2)`,
    [locks.prune, olderThanHours, PRUNED_AT_ONCE],
  );
  return rowCount ?? 0;
}
