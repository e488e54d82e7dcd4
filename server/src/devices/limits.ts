import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { subscriberOf } from '../accounts/throttle.ts';
import { RateLimits } from '../ingest/rate-limits.ts';
import { createBoundedCache } from '../platform/caches.ts';
import { AppError } from '../platform/error.ts';
import type { KnownSensor, KnownSensors } from '../sensors/sensor-keys.ts';
import type { KnownConnection } from './store.ts';

/**
 * Maximum number of requests of one connection that are in progress, and of bytes of their bodies: half of the memory for
 * large bodies. One request is always admitted.
 */
const MAX_REQUESTS = 512;
const MAX_BYTES = 64 * 1024 * 1024;

/** What is assumed of a body that does not announce its length, in bytes. */
const USUAL_BYTES = 256 * 1024;

/** Maximum number of sensors whose allowance is kept, and after how many milliseconds it is read again. */
const MAX_SENSORS = 50_000;
const FRESH_MS = 60_000;

interface InProgress {
  requests: number;
  bytes: number;
}

/** Limits what each connection may send, so that it does not delay others. Each process has limits of its own. */
export class ConnectionLimits {
  readonly #knownSensors: Pick<KnownSensors, 'find'>;
  readonly #rates: RateLimits;
  readonly #inProgress = new Map<string, InProgress>();
  readonly #sensors = createBoundedCache<string, KnownSensor>(MAX_SENSORS);
  readonly #fresh = createBoundedCache<string, true>(MAX_SENSORS, FRESH_MS);

  /** @param factor as for `events.ingest` */
  constructor(factor: number, knownSensors: Pick<KnownSensors, 'find'>, monotonic?: () => number) {
    this.#knownSensors = knownSensors;
    this.#rates = new RateLimits(factor, monotonic);
  }

  /**
   * Deducts messages from the allowance of the connection, which is that of its sensor, multiplied by the number of sensors
   * to which it assigns devices. It does not wait for the database: messages that arrive before the sensor is loaded are
   * admitted.
   * @throws AppError `tooManyRequests` with the time to wait; then nothing is deducted
   */
  take({ id, sensorId, options }: KnownConnection, messages: number): void {
    if (!this.#fresh.has(sensorId)) {
      this.#fresh.set(sensorId, true);
      void Promise.resolve(this.#knownSensors.find(sensorId)).then(
        (found) => found && this.#sensors.set(sensorId, found),
        () => this.#fresh.delete(sensorId),
      );
    }
    const sensor = this.#sensors.get(sensorId);
    if (!sensor) return;
    const sensors = Math.max(1, new Set(Object.values(options.sensors ?? {})).size);
    this.#rates.take({ ...sensor, id, eventsPerMin: sensor.eventsPerMin * sensors }, messages);
  }

  /**
   * Reserves a place for a request before its body is read. Call the result when the request is answered.
   * @throws AppError `tooManyRequests` when too many of the connection are in progress
   */
  begin({ id }: KnownConnection, { headers }: IncomingMessage): () => void {
    const announced = Number(headers['content-length'] ?? Number.NaN);
    const bytes = Number.isFinite(announced) ? announced : USUAL_BYTES;
    const now = this.#inProgress.get(id) ?? { requests: 0, bytes: 0 };
    if (now.requests > 0 && (now.requests >= MAX_REQUESTS || now.bytes + bytes > MAX_BYTES)) {
      throw new AppError(
        'tooManyRequests',
        'Too many messages of this connection are in progress: send this one again in a moment',
        { retryAfterSeconds: 1 },
      );
    }
    now.requests++;
    now.bytes += bytes;
    this.#inProgress.set(id, now);
    return () => {
      now.bytes -= bytes;
      if (--now.requests === 0) this.#inProgress.delete(id);
    };
  }
}

const WINDOW_SECONDS = 60;

/**
 * Number of wrong guesses of an address in a minute that are answered at once: many devices may share an address, and
 * some of them may have an old token.
 */
const AT_ONCE = 60;
const DELAY_MS = 1_000;

/** Maximum number of answers that are delayed at the same time. */
const MAX_DELAYED = 200;

/** Slows down the guessing of tokens and passwords. Senders that are recognised are never delayed. */
export class Guesses {
  readonly #counts = new RateLimiterMemory({ points: AT_ONCE, duration: WINDOW_SECONDS });
  #delayed = 0;

  /** Counts a wrong guess; resolves when it may be answered. @returns false if too many are waiting already */
  async admit(address: string): Promise<boolean> {
    if (await this.#consume(address)) return true;
    if (this.#delayed >= MAX_DELAYED) return false;
    this.#delayed++;
    try {
      await sleep(DELAY_MS);
    } finally {
      this.#delayed--;
    }
    return true;
  }

  /**
   * Counts an attempt that takes work to judge, before that work.
   * @returns what withdraws it, once the sender is recognised; null if the address has no guesses left in this minute
   */
  async begin(address: string): Promise<(() => Promise<void>) | null> {
    if (!(await this.#consume(address))) return null;
    return async () => {
      await this.#counts.reward(subscriberOf(address));
    };
  }

  /** @returns whether the address had a guess left */
  async #consume(address: string): Promise<boolean> {
    try {
      await this.#counts.consume(subscriberOf(address));
      return true;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return false;
    }
  }
}
