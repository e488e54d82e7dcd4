import { sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';

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

/** The hooks that have a delivery which is due: a retry, one whose process died, or one that nobody was told of. */
export const listDueWebhooks = async (db: Database): Promise<string[]> => {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM webhooks
    WHERE enabled AND EXISTS (
      SELECT FROM webhook_deliveries WHERE webhook_id = webhooks.id AND status = 'PENDING' AND due_at <= now())`);
  return rows.map(({ id }) => id);
};

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
