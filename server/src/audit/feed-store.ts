import { type SQL, sql } from 'drizzle-orm';
import type { ActivityRow } from '../activity/store.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { LIMITS_HERE } from '../realtime/changes-store.ts';

/** A place between two entries in the order of their commits: that after the entry with this transaction and id. */
export interface ActivityPosition {
  /** The number of the transaction; 0 for entries of before they had one. */
  readonly xid: string;
  readonly id: string;
}

/** An entry with its transaction. */
export type FeedRow = ActivityRow & { readonly xid: string };

const XID = sql`coalesce(xid, '0'::xid8)`;

// A transaction with a lower number than the oldest unfinished one adds nothing any more (decision 8).
const SETTLED = sql`${XID} < (SELECT horizon FROM (${sql.raw(LIMITS_HERE)}) AS oldest)`;

/** What is left out of an entry changes while it counts repetitions. */
const COLUMNS = sql`${XID}::text AS xid, id, user_id AS "userId", action, at, ip_address AS "ipAddress",
  user_agent AS "userAgent",
  CASE WHEN gathered IS NULL THEN details ELSE details - ARRAY['count', 'otherAddresses'] END AS details`;

/** The next entries after a position, up to where no other entry can appear in between. */
export function readActivity(
  db: Executor,
  after: ActivityPosition,
  limit: number,
): Promise<readonly FeedRow[]> {
  return read(db, sql`${isAfter(after)} ORDER BY ${XID}, id LIMIT ${limit}`);
}

function isAfter({ xid, id }: ActivityPosition): SQL {
  return sql`(${XID}, id) > (${xid}::text::xid8, ${id}::text::bigint)`;
}

async function read(db: Executor, which: SQL): Promise<readonly FeedRow[]> {
  // Plan: activity_by_commit.
  const { rows } = await db.execute<FeedRow & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM activity WHERE ${SETTLED} AND ${which}`,
  );
  return rows;
}

/** Whether a position is one that this database has given. */
export async function isPossible(db: Executor, { xid }: ActivityPosition): Promise<boolean> {
  const { rows } = await db.execute<{ possible: boolean }>(
    sql`SELECT ${xid}::numeric < pg_snapshot_xmax(pg_current_snapshot())::text::numeric AS possible`,
  );
  return rows[0]?.possible ?? false;
}

/** How far entries were forwarded. */
interface Forwarded {
  readonly after: ActivityPosition;
  /** The highest id that was forwarded. */
  readonly lastId: number;
}

/** Locks how far entries were forwarded until the transaction ends; null while another process has it. */
export async function lockForwarding(tx: Executor): Promise<Forwarded | null> {
  const { rows } = await tx.execute<{ xid: string; id: string; lastId: number }>(sql`
    SELECT after_xid AS xid, after_id::text AS id, last_id AS "lastId" FROM activity_forwarding
    FOR UPDATE SKIP LOCKED`);
  const [row] = rows;
  return row ? { after: { xid: row.xid, id: row.id }, lastId: row.lastId } : null;
}

/** Stores how far entries were forwarded. */
export async function moveForwarding(tx: Executor, { xid, id }: FeedRow, lastId: number): Promise<void> {
  await tx.execute(sql`
    UPDATE activity_forwarding SET after_xid = ${xid}, after_id = ${id}::bigint, last_id = ${lastId}::bigint`);
}

/** Whether there are entries that were not forwarded yet. It locks nothing. */
export async function hasActivityToForward(db: Executor): Promise<boolean> {
  // Plan: activity_by_commit. In an EXISTS, PostgreSQL would read the whole table.
  const { rows } = await db.execute(sql`
    SELECT FROM activity WHERE (${XID}, id) > (SELECT after_xid::xid8, after_id FROM activity_forwarding)
    ORDER BY ${XID}, id LIMIT 1`);
  return rows.length > 0;
}

/** The last of the entries after a position; undefined if there is none. */
export async function lastActivity(db: Executor, after: ActivityPosition): Promise<FeedRow | undefined> {
  const [last] = await read(db, sql`${isAfter(after)} ORDER BY ${XID} DESC, id DESC LIMIT 1`);
  return last;
}

/**
 * Prepares the log for this database, if it comes from another one, whose transactions have higher numbers: its entries
 * come first, in the order of their ids.
 */
export async function adoptActivity(db: Executor): Promise<void> {
  await db.execute(sql`
    UPDATE activity SET xid = NULL WHERE ${XID} >= pg_snapshot_xmax(pg_current_snapshot())`);
  await db.execute(sql`
    UPDATE activity_forwarding SET after_xid = '0'
    WHERE after_xid::numeric >= pg_snapshot_xmax(pg_current_snapshot())::text::numeric`);
}
