import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';

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
  /** Repeats a statement that removes at most `AT_ONCE` rows until there are no more. */
  const all = async (statement: SQL): Promise<void> => {
    while (!isOver() && (await db.execute(statement)).rowCount === AT_ONCE);
  };
  await all(oldMessages(before));
  await all(oldReferences(Math.min(before, now - MARGIN_MS)));
  await all(oldReports(before));
  await all(oldPassages(before));
  await all(oldDiscoveries(before));
  for (const id of await listDeletedConnections(db)) {
    await all(messagesOf(id));
    if (!isOver()) await inTransaction(db, (tx) => removeConnection(tx, id));
  }
}

const timeOf = (ms: number): SQL => sql`to_timestamp(${ms / 1_000}::float8)`;

/** Except those that are still to be processed: a buffer may have kept them for weeks. */
const oldMessages = (before: number): SQL => sql`
  DELETE FROM device_messages WHERE id IN (
    SELECT id FROM device_messages WHERE id < ${firstIdAt(before)}::uuid AND due_at IS NULL
    ORDER BY id LIMIT ${AT_ONCE})`;

/**
 * The references to images of messages, including messages that were never stored. Images to which nothing else refers are
 * removed by retention.
 */
const oldReferences = (before: number): SQL => sql`
  DELETE FROM device_message_images WHERE (message_id, sha256) IN (
    SELECT message_id, sha256 FROM device_message_images WHERE message_id < ${firstIdAt(before)}::uuid
    ORDER BY message_id LIMIT ${AT_ONCE})`;

/** The keys of reports. A later repetition of such a report may become a new event. */
const oldReports = (before: number): SQL => sql`
  DELETE FROM device_reports WHERE (connection_id, key_hash) IN (
    SELECT connection_id, key_hash FROM device_reports WHERE received_at < ${timeOf(before)}
    ORDER BY received_at LIMIT ${AT_ONCE})`;

/** Passages that are finished. */
const oldPassages = (before: number): SQL => sql`
  DELETE FROM device_passages WHERE (connection_id, sensor_id, passage) IN (
    SELECT connection_id, sensor_id, passage FROM device_passages
    WHERE received_at < ${timeOf(before)} AND due_at IS NULL
    ORDER BY received_at LIMIT ${AT_ONCE})`;

const oldDiscoveries = (before: number): SQL => sql`
  DELETE FROM device_discoveries WHERE id IN (
    SELECT id FROM device_discoveries WHERE last_seen < ${timeOf(before)} LIMIT ${AT_ONCE})`;

/** The oldest messages of a connection, with their references to images. */
const messagesOf = (connectionId: string): SQL => sql`
  WITH gone AS (
    DELETE FROM device_messages WHERE id IN (
      SELECT id FROM device_messages WHERE connection_id = ${connectionId}::uuid ORDER BY id LIMIT ${AT_ONCE})
    RETURNING id
  ), references_gone AS (
    DELETE FROM device_message_images WHERE message_id IN (SELECT id FROM gone)
  )
  SELECT FROM gone`;

/** The ids of deleted connections whose rows still exist, in the order in which they were deleted. */
async function listDeletedConnections(db: Executor): Promise<string[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM connections WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT ${CONNECTIONS_AT_ONCE}`);
  return rows.map(({ id }) => id);
}

/** Removes a deleted connection that has no messages any more, with its reports, passages and discoveries. */
async function removeConnection(tx: Executor, connectionId: string): Promise<void> {
  const ofConnection = sql`connection_id = ${connectionId}::uuid`;
  await tx.execute(sql`DELETE FROM device_reports WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM device_passages WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM device_discoveries WHERE ${ofConnection}`);
  await tx.execute(sql`DELETE FROM connections WHERE id = ${connectionId}::uuid AND deleted_at IS NOT NULL`);
}
