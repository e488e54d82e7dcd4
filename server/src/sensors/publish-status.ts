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
  return publishChanges(
    app,
    tx,
    outcomes.map((outcome) => ({ ...outcome, reason })),
  );
}

/** The same, for changes with a reason each. */
export function publishChanges(
  app: { readonly outbox: Outbox },
  tx: Executor,
  changes: readonly (StatusOutcome & { readonly reason: string })[],
): Promise<void> {
  return publish(
    app,
    tx,
    changes.map((body) => ({ topic: 'sensors', body })),
  );
}
