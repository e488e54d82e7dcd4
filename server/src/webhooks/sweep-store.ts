import { sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { addWakeUps } from './wake-store.ts';

/** How long deliveries that were made are kept. */
const KEPT = sql`interval '30 days'`;

/** Does the work if no other process does so at the moment. */
const ifFree = async (db: Database, work: (tx: Transaction) => Promise<void>): Promise<void> => {
  await inTransaction(db, async (tx) => {
    const { rows } = await tx.execute<{ free: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${locks.webhooks}) AS free`,
    );
    if (rows[0]?.free) await work(tx);
  });
};

/**
 * Adds a job for every hook that has a delivery which has been due for `lateMs` milliseconds: the process that had it is
 * gone, or could not reach the database.
 */
export const wakeLateWebhooks = (db: Database, lateMs: number): Promise<void> =>
  ifFree(db, async (tx) => {
    await tx.execute(
      addWakeUps(sql`
        SELECT w.id AS webhook_id, now() AS due_at FROM webhooks w
        WHERE w.enabled AND EXISTS (
          SELECT FROM webhook_deliveries d
          WHERE d.webhook_id = w.id AND d.status = 'PENDING'
            AND d.due_at < now() - ${lateMs} * interval '1 millisecond')`),
    );
  });

/** Removes deliveries that were made long ago, of each hook at most `most`. */
export const removeOldDeliveries = (db: Database, most: number): Promise<void> =>
  ifFree(db, async (tx) => {
    await tx.execute(sql`
      DELETE FROM webhook_deliveries WHERE id IN (
        SELECT old.id FROM webhooks w CROSS JOIN LATERAL (
          SELECT d.id FROM webhook_deliveries d
          WHERE d.webhook_id = w.id AND d.created_at < now() - ${KEPT}
            AND d.status = 'DELIVERED' AND d.finished_at < now() - ${KEPT}
          ORDER BY d.created_at LIMIT ${most}
        ) AS old)`);
  });
