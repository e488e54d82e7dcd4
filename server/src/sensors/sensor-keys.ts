import { API_KEY } from '@gantry/contract/sensors';
import { LRUCache } from 'lru-cache';
import { databaseAway, isOutage } from '../platform/database/outage.ts';
import type { History } from '../platform/history.ts';
import type { Standing } from './standings.ts';

/** What ingestion knows of a sensor: enough to enrich its events without asking the database. */
export interface KnownSensor extends Standing {
  readonly id: string;
  readonly name: string;
  /** The address that stands in the sensor's own coordinates. */
  readonly address: string | null;
  /** How many events it is expected to send in a minute. */
  readonly eventsPerMin: number;
  /** Where it stood before a moment (Unix milliseconds), and under which limits; absent when that never changed. */
  readonly past?: { readonly until: number; readonly standings: History<Standing> };
  /** Present when it was found by the key before, which is accepted for so many milliseconds more. */
  readonly previousKey?: { readonly validMs: number };
}

/** API key → sensor, cached. */
export interface SensorKeys {
  /**
   * The sensor of the key; null when there is none. At once when it is cached.
   * @throws AppError `unavailable` while the database is away and the key is not known
   */
  find(apiKey: string): KnownSensor | null | Promise<KnownSensor | null>;
  /** Forgets one sensor, after it changed or went. */
  forget(sensorId: string): void;
  /** Forgets everything, after messages about changes may have been missed. */
  forgetAll(): void;
}

const MAX_KNOWN = 50_000;

/** Unknown keys are remembered too, so that a device with a dead key does not cost a query each time. */
const MAX_UNKNOWN = 10_000;
const UNKNOWN_MS = 5_000;

/** A bound on staleness should a message ever be lost without the connection noticing. */
const KNOWN_MS = 60_000;

/** For how long a sensor may be kept under its key, in milliseconds; at least 1, as the cache takes 0 for ever. */
function msToKeep({ previousKey }: KnownSensor): number {
  return previousKey ? Math.max(1, Math.min(KNOWN_MS, Math.floor(previousKey.validMs))) : KNOWN_MS;
}

/** @param load asks the database */
export function createSensorKeys(load: (apiKey: string) => Promise<KnownSensor | null>): SensorKeys {
  const known = new LRUCache<string, KnownSensor>({ max: MAX_KNOWN, ttl: KNOWN_MS });
  const unknown = new LRUCache<string, true>({ max: MAX_UNKNOWN, ttl: UNKNOWN_MS });
  const loading = new Map<string, Promise<KnownSensor | null>>();
  // What was read before a change must not be cached after it.
  let generation = 0;

  const loadAndKeep = async (apiKey: string): Promise<KnownSensor | null> => {
    const before = generation;
    const sensor = await load(apiKey).catch((error: unknown) => {
      throw isOutage(error) ? databaseAway(error) : error;
    });
    if (generation === before) {
      if (sensor) known.set(apiKey, sensor, { ttl: msToKeep(sensor) });
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
