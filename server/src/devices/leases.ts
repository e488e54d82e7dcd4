import type { GatewayApp } from './context.ts';
import { type ClaimedMessage, extendLeases } from './messages-store.ts';

/** Extends the leases of the messages that wait or are processed in this process, before they end. */
export class Leases implements Disposable {
  readonly #app: GatewayApp;
  readonly #leaseMs: number;
  /** When each lease was set or last extended, in milliseconds of the monotonic clock. */
  readonly #leasedAt = new Map<ClaimedMessage, number>();
  readonly #timer: NodeJS.Timeout;
  #extending: Promise<void> = Promise.resolve();

  constructor(app: GatewayApp) {
    this.#app = app;
    this.#leaseMs = app.timings.messageLeaseMs;
    this.#timer = setInterval(() => this.#extend(), this.#leaseMs / 3);
  }

  /** Extends the lease of a message from now on. It must just have been leased. */
  keep(message: ClaimedMessage): void {
    this.#leasedAt.set(message, performance.now());
  }

  /** Stops extending the lease of a message. An extension may still be in progress. */
  release(message: ClaimedMessage): void {
    this.#leasedAt.delete(message);
  }

  /** Resolves when no extension is in progress. */
  settled(): Promise<void> {
    return this.#extending;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #extend(): void {
    const now = performance.now();
    const due = [...this.#leasedAt].flatMap(([message, at]) =>
      now - at < this.#leaseMs / 3 ? [] : [message],
    );
    if (due.length === 0) return;
    for (const message of due) this.#leasedAt.set(message, now);
    this.#extending = this.#extending
      .then(() => extendLeases(this.#app.gateways, due, this.#leaseMs))
      .catch((err: unknown) =>
        this.#app.log.warn({ err, messages: due.length }, 'the leases of messages could not be extended'),
      );
  }
}
