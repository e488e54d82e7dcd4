import { createBoundedCache } from '../platform/caches.ts';
import { type KnownSensor, msToKeep } from './sensor-keys.ts';

/** The cache of sensors by id, for what arrives through their connections. */
export interface KnownSensors {
  /** The sensor; null when there is none. */
  find(sensorId: string): Promise<KnownSensor | null>;
  /** Discards one sensor, after it was changed or deleted. */
  forget(sensorId: string): void;
  forgetAll(): void;
}

const MAX_KNOWN = 50_000;

/** @param load queries the database */
export function createKnownSensors(load: (sensorId: string) => Promise<KnownSensor | null>): KnownSensors {
  const known = createBoundedCache<string, KnownSensor>(MAX_KNOWN);
  const loading = new Map<string, Promise<KnownSensor | null>>();
  // A result read before a change must not be cached after it.
  let generation = 0;

  const loadAndKeep = async (sensorId: string): Promise<KnownSensor | null> => {
    const before = generation;
    const sensor = await load(sensorId);
    if (sensor && generation === before) known.set(sensorId, sensor, { ttl: msToKeep() });
    return sensor;
  };

  return {
    async find(sensorId) {
      const hit = known.get(sensorId) ?? loading.get(sensorId);
      if (hit) return hit;
      const started = loadAndKeep(sensorId).finally(() => loading.delete(sensorId));
      loading.set(sensorId, started);
      return started;
    },
    forget(sensorId) {
      generation++;
      loading.clear();
      known.delete(sensorId);
    },
    forgetAll() {
      generation++;
      loading.clear();
      known.clear();
    },
  };
}
