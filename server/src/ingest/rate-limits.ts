import { AppError } from '../platform/error.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';

/** How many events each sensor may send, whatever becomes of them. In this process: several have a limit each. */
export interface RateLimits {
  /**
   * Takes so many events off what the sensor may send.
   * @throws AppError `tooManyRequests`, saying when there is room for them; then none is taken off
   */
  take(sensor: KnownSensor, events: number): void;
}

/** A sensor that is said to send less is measured by this, so that a low guess at registration keeps nothing out. */
const LEAST_PER_MINUTE = 20;

/** What may always come at once: two full batches of a device that was offline. */
const LEAST_BURST = 2_000;

/** Sensors that are remembered. A forgotten one starts with everything it may send at once. */
const MOST_SENSORS = 100_000;

interface Bucket {
  tokens: number;
  /** When it was filled last, in milliseconds by the monotonic clock. */
  at: number;
}

/**
 * A token bucket for each sensor: it fills at `factor` times the sensor's `eventsPerMin` (at least 20) and holds a minute of
 * that.
 */
export function createRateLimits(
  factor: number,
  monotonic: () => number = () => performance.now(),
): RateLimits {
  const buckets = new Map<string, Bucket>();

  return {
    take({ id, eventsPerMin }, events) {
      const perMinute = factor * Math.max(LEAST_PER_MINUTE, eventsPerMin);
      const burst = Math.max(LEAST_BURST, perMinute);
      const now = monotonic();
      let bucket = buckets.get(id);
      if (bucket === undefined) {
        if (buckets.size >= MOST_SENSORS) buckets.clear();
        bucket = { tokens: burst, at: now };
        buckets.set(id, bucket);
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perMinute) / 60_000);
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
    },
  };
}
