import { MINUTE_MS } from '@gantry/contract/durations';
import { AppError } from '../platform/error.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';

/** The rate used for a sensor whose expected rate is lower, so that a low estimate at registration blocks nothing. */
const MIN_PER_MINUTE = 20;

/** The burst that is always accepted: two full batches of a device that was offline. */
const MIN_BURST = 2_000;

/** Maximum number of sensors to keep. Beyond it all are dropped, and start again with their full allowance. */
const MAX_SENSORS = 100_000;

interface Bucket {
  tokens: number;
  /** When it was last refilled, in milliseconds by the monotonic clock. */
  at: number;
}

/**
 * Limits the number of events that each sensor may send, whatever their result. A token bucket for each sensor refills at
 * `factor` times its `eventsPerMin` (at least 20) and holds what one minute adds, but at least `MIN_BURST` events. Each
 * process has limits of its own.
 */
export class RateLimits {
  readonly #factor: number;
  readonly #monotonic: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(factor: number, monotonic: () => number = () => performance.now()) {
    this.#factor = factor;
    this.#monotonic = monotonic;
  }

  /**
   * Deducts events from the sensor's allowance.
   * @throws AppError `tooManyRequests` with the time to wait; then nothing is deducted
   */
  take({ id, eventsPerMin }: KnownSensor, events: number): void {
    const perMinute = this.#factor * Math.max(MIN_PER_MINUTE, eventsPerMin);
    const burst = Math.max(MIN_BURST, perMinute);
    const now = this.#monotonic();
    let bucket = this.#buckets.get(id);
    if (bucket === undefined) {
      if (this.#buckets.size >= MAX_SENSORS) this.#buckets.clear();
      bucket = { tokens: burst, at: now };
      this.#buckets.set(id, bucket);
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perMinute) / MINUTE_MS);
    bucket.at = now;
    if (bucket.tokens >= events) {
      bucket.tokens -= events;
      return;
    }
    throw new AppError(
      'tooManyRequests',
      `The sensor sends more than ${perMinute} events per minute: wait for the time in Retry-After, and send them again`,
      { retryAfterSeconds: ((events - bucket.tokens) * 60) / perMinute },
    );
  }
}
