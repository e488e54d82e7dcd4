import { API_KEY } from '@gantry/contract/sensors';
import { createBoundedCache } from '../platform/caches.ts';
import { databaseAway, isOutage } from '../platform/database/failure.ts';
import type { History } from '../platform/history.ts';
import type { Placement } from './placements-store.ts';

/** The data of a sensor that ingestion caches to enrich its events without a query. */
export interface KnownSensor extends Placement {
  readonly id: string;
  readonly name: string;
  /** The address in the sensor's own coordinates. */
  readonly address: string | null;
  /** The expected number of events per minute. */
  readonly eventsPerMin: number;
  /**
   * Its locations and limits over time, and when the present ones began (`until`, Unix milliseconds); absent if they
   * never changed.
   */
  readonly past?: { readonly until: number; readonly placements: History<Placement> };
  /** Set if it was found by its previous key, which is accepted for this many more milliseconds. */
  readonly previousKey?: { readonly validMs: number };
}

/** The cache of sensors by API key. */
export interface SensorKeys {
  /**
   * The sensor of the key; null when there is none. Returns synchronously if it is cached.
   * @throws AppError `unavailable` while the database is unavailable and the key is not cached
   */
  find(apiKey: string): KnownSensor | null | Promise<KnownSensor | null>;
  /** Discards one sensor, after it was changed or deleted. */
  forget(sensorId: string): void;
  /** Discards everything, after messages about changes may have been missed. */
  forgetAll(): void;
}

const MAX_KNOWN = 50_000;

/** Unknown keys are cached too, so that a device with an invalid key does not cause a query each time. */
const MAX_UNKNOWN = 10_000;
const UNKNOWN_MS = 5_000;

/** Bounds staleness if a message is lost without the connection noticing. */
const MAX_MS = 60_000;

/**
 * For how long to keep a sensor, in milliseconds: half a minute to a minute, at random. Sensors that were all read after
 * a start would otherwise expire together every minute, and 2,000 of them delay events by half a second.
 */
export function msToKeep(): number {
  return Math.round(MAX_MS * (0.5 + Math.random() / 2));
}

/** The same under its key, in milliseconds; at least 1, as the cache takes 0 for ever. */
function msUnderKey({ previousKey }: KnownSensor): number {
  return previousKey ? Math.max(1, Math.min(msToKeep(), Math.floor(previousKey.validMs))) : msToKeep();
}

/** @param load queries the database */
export function createSensorKeys(load: (apiKey: string) => Promise<KnownSensor | null>): SensorKeys {
  const known = createBoundedCache<string, KnownSensor>(MAX_KNOWN);
  const unknown = createBoundedCache<string, true>(MAX_UNKNOWN, UNKNOWN_MS);
  const loading = new Map<string, Promise<KnownSensor | null>>();
  // A result read before a change must not be cached after it.
  let generation = 0;

  const loadAndKeep = async (apiKey: string): Promise<KnownSensor | null> => {
    const before = generation;
    const sensor = await load(apiKey).catch((error: unknown) => {
      throw isOutage(error) ? databaseAway(error) : error;
    });
    if (generation === before) {
      if (sensor) known.set(apiKey, sensor, { ttl: msUnderKey(sensor) });
      else unknown.set(apiKey, true);
    }
    return sensor;
  };

  return {
    find(apiKey) {
      const hit = known.get(apiKey);
      if (hit) return hit;
      if (!API_KEY.test(apiKey) || unknown.has(apiKey)) return null;
      const under = loading.get(apiKey);
      if (under) return under;
      const started = loadAndKeep(apiKey).finally(() => loading.delete(apiKey));
      loading.set(apiKey, started);
      return started;
    },
    forget(sensorId) {
      generation++;
      loading.clear();
      for (const [apiKey, sensor] of known.entries()) if (sensor.id === sensorId) known.delete(apiKey);
    },
    forgetAll() {
      generation++;
      loading.clear();
      known.clear();
      unknown.clear();
    },
  };
}
