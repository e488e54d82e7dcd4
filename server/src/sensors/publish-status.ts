import type { Executor } from '../platform/database/transaction.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import type { StatusOutcome } from './status-store.ts';

/** Publishes changes of status, in the transaction that makes them. */
export function publishStatus(
  app: { readonly outbox: Outbox },
  tx: Executor,
  outcomes: readonly StatusOutcome[],
  reason: string,
): Promise<void> {
  return publish(
    app,
    tx,
    outcomes.map((outcome) => ({ topic: 'sensors', body: { ...outcome, reason } })),
  );
}
