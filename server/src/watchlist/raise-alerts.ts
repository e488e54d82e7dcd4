import type { Executor } from '../platform/database/transaction.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import { type Hit, insertAlerts } from './alerts-store.ts';

/**
 * Stores an alert for each event that matches an entry, and publishes it when the transaction commits. There is one
 * alert for each entry and event, however often this is called.
 */
export async function raiseAlerts(
  app: { readonly outbox: Outbox },
  tx: Executor,
  hits: readonly Hit[],
): Promise<void> {
  if (hits.length === 0) return;
  const alerts = await insertAlerts(tx, hits);
  await publish(
    app,
    tx,
    alerts.map((body) => ({ topic: 'watchlist', body })),
  );
}
