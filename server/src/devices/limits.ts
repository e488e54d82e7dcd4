import type { IncomingMessage } from 'node:http';
import { RateLimits } from '../ingest/rate-limits.ts';
import { createBoundedCache } from '../platform/bounded-cache.ts';
import { AppError } from '../platform/error.ts';
import type { KnownSensors } from '../sensors/known-sensors.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import type { KnownConnection } from './store.ts';

/** Limits what each connection may send, so that it does not delay others. Each process has limits of its own. */
export interface ConnectionLimits {
  /**
   * Deducts messages from the allowance of the connection, which is that of its sensor, multiplied by the number of sensors
   * to which it assigns devices. It does not wait for the database: messages that arrive before the sensor is loaded are
   * admitted.
   * @throws AppError `tooManyRequests` with the time to wait; then nothing is deducted
   */
  take(connection: KnownConnection, messages: number): void;
  /**
   * Reserves a place for a request before its body is read. Call the result when the request is answered.
   * @throws AppError `tooManyRequests` when too many of the connection are in progress
   */
  begin(connection: KnownConnection, request: IncomingMessage): () => void;
}

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

/** @param factor as for `events.ingest` */
export function createConnectionLimits(
  factor: number,
  knownSensors: Pick<KnownSensors, 'find'>,
  monotonic?: () => number,
): ConnectionLimits {
  const rates = new RateLimits(factor, monotonic);
  const inProgress = new Map<string, InProgress>();
  const sensorsKnown = createBoundedCache<string, KnownSensor>(MAX_SENSORS);
  const sensorsFresh = createBoundedCache<string, true>(MAX_SENSORS, FRESH_MS);

  return {
    take({ id, sensorId, options }, messages) {
      if (!sensorsFresh.has(sensorId)) {
        sensorsFresh.set(sensorId, true);
        void knownSensors.find(sensorId).then(
          (found) => found && sensorsKnown.set(sensorId, found),
          () => sensorsFresh.delete(sensorId),
        );
      }
      const sensor = sensorsKnown.get(sensorId);
      if (!sensor) return;
      const sensors = Math.max(1, new Set(Object.values(options.sensors ?? {})).size);
      rates.take({ ...sensor, id, eventsPerMin: sensor.eventsPerMin * sensors }, messages);
    },
    begin({ id }, { headers }) {
      const announced = Number(headers['content-length'] ?? Number.NaN);
      const bytes = Number.isFinite(announced) ? announced : USUAL_BYTES;
      const now = inProgress.get(id) ?? { requests: 0, bytes: 0 };
      if (now.requests > 0 && (now.requests >= MAX_REQUESTS || now.bytes + bytes > MAX_BYTES)) {
        throw new AppError(
          'tooManyRequests',
          'Too many messages of this connection are in progress: send this one again in a moment',
          { retryAfterSeconds: 1 },
        );
      }
      now.requests++;
      now.bytes += bytes;
      inProgress.set(id, now);
      return () => {
        now.bytes -= bytes;
        if (--now.requests === 0) inProgress.delete(id);
      };
    },
  };
}
