import type { Database } from '../platform/database/pool.ts';
import type { GatewayApp } from './context.ts';
import { type ClaimedMessage, extendLeases } from './messages-store.ts';

/** Extends the leases of the messages that wait or are processed in this process, before they end. */
export interface Leases extends Disposable {
  /** Extends the lease of a message from now on. It must just have been leased. */
  keep(message: ClaimedMessage): void;
  /** Stops extending the lease of a message. An extension may still be in progress. */
  release(message: ClaimedMessage): void;
  /** Resolves when no extension is in progress. */
  settled(): Promise<void>;
}

export function createLeases({ log, timings }: GatewayApp, db: Database): Leases {
  const { messageLeaseMs } = timings;
  /** When each lease was set or last extended, in milliseconds of the monotonic clock. */
  const leasedAt = new Map<ClaimedMessage, number>();
  let extending: Promise<void> = Promise.resolve();
  const extension = setInterval(() => {
    const now = performance.now();
    const due = [...leasedAt].flatMap(([message, at]) => (now - at < messageLeaseMs / 3 ? [] : [message]));
    if (due.length === 0) return;
    for (const message of due) leasedAt.set(message, now);
    extending = extending
      .then(() => extendLeases(db, due, messageLeaseMs))
      .catch((err: unknown) =>
        log.warn({ err, messages: due.length }, 'the leases of messages could not be extended'),
      );
  }, messageLeaseMs / 3);

  return {
    keep: (message) => void leasedAt.set(message, performance.now()),
    release: (message) => void leasedAt.delete(message),
    settled: () => extending,
    [Symbol.dispose]: () => clearInterval(extension),
  };
}
