import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';

/**
 * Removes the oldest messages that arrived before a time (Unix milliseconds), except those that are still to be
 * processed: a buffer may have kept them for weeks. @returns the number of removed messages
 */
export async function removeOldMessages(db: Executor, before: number, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM device_messages WHERE id IN (
      SELECT id FROM device_messages WHERE id < ${firstIdAt(before)}::uuid AND due_at IS NULL
      ORDER BY id LIMIT ${most})`);
  return rowCount ?? 0;
}

/**
 * Removes references to images of messages that arrived before a time (Unix milliseconds), including messages that were
 * never stored. Images to which nothing else refers are removed by retention.
 */
export async function removeOldReferences(db: Executor, before: number, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM device_message_images WHERE (message_id, sha256) IN (
      SELECT message_id, sha256 FROM device_message_images WHERE message_id < ${firstIdAt(before)}::uuid
      ORDER BY message_id LIMIT ${most})`);
  return rowCount ?? 0;
}

/**
 * Removes the keys of reports that were received before a time (Unix milliseconds). A later repetition of such a report
 * may become a new event.
 */
export async function removeOldReports(db: Executor, before: number, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM device_reports WHERE (connection_id, key_hash) IN (
      SELECT connection_id, key_hash FROM device_reports WHERE received_at < to_timestamp(${before / 1_000}::float8)
      ORDER BY received_at LIMIT ${most})`);
  return rowCount ?? 0;
}

/** Removes finished passages that were received before a time (Unix milliseconds). */
export async function removeOldPassages(db: Executor, before: number, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM device_passages WHERE (connection_id, sensor_id, passage) IN (
      SELECT connection_id, sensor_id, passage FROM device_passages
      WHERE received_at < to_timestamp(${before / 1_000}::float8) AND due_at IS NULL
      ORDER BY received_at LIMIT ${most})`);
  return rowCount ?? 0;
}

/** Removes discovered devices that were last seen before a time (Unix milliseconds). */
export async function removeOldDiscoveries(db: Executor, before: number, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM device_discoveries WHERE id IN (
      SELECT id FROM device_discoveries WHERE last_seen < to_timestamp(${before / 1_000}::float8) LIMIT ${most})`);
  return rowCount ?? 0;
}

/** The ids of deleted connections whose rows still exist, in the order in which they were deleted. */
export async function listDeletedConnections(db: Executor, most: number): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(
    sql`SELECT id FROM connections WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ${most}`,
  );
  return rows.map(({ id }) => id);
}

/** Removes the oldest messages of a connection with their references to images. @returns their number */
export async function removeMessagesOf(db: Executor, connectionId: string, most: number): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(sql`
    WITH gone AS (
      DELETE FROM device_messages WHERE id IN (
        SELECT id FROM device_messages WHERE connection_id = ${connectionId}::uuid ORDER BY id LIMIT ${most})
      RETURNING id
    ), references_gone AS (
      DELETE FROM device_message_images WHERE message_id IN (SELECT id FROM gone)
    )
    SELECT count(*) AS n FROM gone`);
  return rows[0]?.n ?? 0;
}

/** Removes a deleted connection that has no messages any more, with its reports, passages and discoveries. */
export async function removeConnection(tx: Executor, connectionId: string): Promise<void> {
  const ofConnection = sql`connection_id = ${connectionId}::uuid`;
  await tx.execute(sql`DELETE FROM device_reports WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM device_passages WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM device_discoveries WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM connections WHERE id = ${connectionId}::uuid AND deleted_at IS NOT NULL`);
}

/** Maximum number of rows that one statement removes, in a few tenths of a second, while messages are stored. */
const AT_ONCE = 2_000;
const CONNECTIONS_AT_ONCE = 100;

/** A message may be stored this long after its references to images, in milliseconds. */
const MARGIN_MS = HOUR_MS;

/**
 * Removes what devices sent more than `days` ago, and the leftovers of deleted connections, in batches.
 * @param now Unix milliseconds
 */
export async function removeOldDeviceData(
  db: Database,
  { now, days, isOver }: { readonly now: number; readonly days: number; readonly isOver: () => boolean },
): Promise<void> {
  const before = now - days * DAY_MS;
  const all = async (remove: (most: number) => Promise<number>): Promise<void> => {
    while (!isOver() && (await remove(AT_ONCE)) === AT_ONCE);
  };
  await all((most) => removeOldMessages(db, before, most));
  await all((most) => removeOldReferences(db, Math.min(before, now - MARGIN_MS), most));
  await all((most) => removeOldReports(db, before, most));
  await all((most) => removeOldPassages(db, before, most));
  await all((most) => removeOldDiscoveries(db, before, most));
  for (const id of await listDeletedConnections(db, CONNECTIONS_AT_ONCE)) {
    await all((most) => removeMessagesOf(db, id, most));
    if (!isOver()) await inTransaction(db, (tx) => removeConnection(tx, id));
  }
}
