import type { Executor } from '../platform/database/transaction.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import type { StatusOutcome } from './status-store.ts';

/** Tells of sensors whose status changed, in the transaction that changes it. */
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
