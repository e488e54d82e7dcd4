import { type SQL, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

/** What is remembered of a deletion by a person, in days; a device that retries later stores the event anew. */
const REMEMBERED_DAYS = 400;

/**
 * Remembers, when the transaction commits, that a person deleted the event, if a device may send it again: if it has an
 * idempotency key. To be called before the event is deleted. Statements that insert events with a key wait until the
 * transaction ends, and then see what it wrote: none of them can bring the event back.
 */
export const rememberDeletion = async (tx: Transaction, eventId: string): Promise<void> => {
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
};

const isForgotten = (column: SQL): SQL => sql`${column} < now() - make_interval(days => ${REMEMBERED_DAYS})`;

/** Forgets deletions, and time zones that were replaced, after so long that no device retries any more. */
export const forgetOldDeletions = async (db: Executor): Promise<void> => {
  await db.execute(sql`DELETE FROM deleted_events WHERE ${isForgotten(sql`at`)}`);
  await db.execute(sql`DELETE FROM former_timezones WHERE ${isForgotten(sql`replaced_at`)}`);
};
