import { API_KEY } from '@gantry/contract/sensors';
import { createBoundedCache } from '../platform/caches.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { databaseAway, isOutage } from '../platform/database/failure.ts';
import { AppError, invalidInput } from '../platform/error.ts';
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

const MAX_KNOWN = 50_000;

/** Unknown keys are cached too, so that a device with an invalid key does not cause a query each time. */
const MAX_UNKNOWN = 10_000;
const UNKNOWN_MS = 5_000;

/** Bounds staleness if a message is lost without the connection noticing. */
const MAX_MS = 60_000;

type Load = (key: string) => Promise<KnownSensor | null>;

/** The cache of sensors by id, for what arrives through their connections. One query runs for each sensor at a time. */
export class KnownSensors {
  readonly #load: Load;
  readonly #known = createBoundedCache<string, KnownSensor>(MAX_KNOWN);
  readonly #loading = new Map<string, Promise<KnownSensor | null>>();
  // A result read before a change must not be cached after it.
  #generation = 0;

  /** @param load queries the database */
  constructor(load: Load) {
    this.#load = load;
  }

  /** The sensor; null when there is none. Returns synchronously if it is cached. */
  find(key: string): KnownSensor | null | Promise<KnownSensor | null> {
    const hit = this.#known.get(key);
    if (hit) return hit;
    if (this.isUnknown(key)) return null;
    const under = this.#loading.get(key);
    if (under) return under;
    const started = this.#loadAndKeep(key).finally(() => this.#loading.delete(key));
    this.#loading.set(key, started);
    return started;
  }

  /** Discards one sensor, after it was changed or deleted. */
  forget(sensorId: string): void {
    this.#generation++;
    this.#loading.clear();
    for (const [key, sensor] of this.#known.entries()) if (sensor.id === sensorId) this.#known.delete(key);
  }

  /** Discards everything, after messages about changes may have been missed. */
  forgetAll(): void {
    this.#generation++;
    this.#loading.clear();
    this.#known.clear();
  }

  /** Whether it is certain that there is no such sensor. */
  protected isUnknown(_key: string): boolean {
    return false;
  }

  protected noteUnknown(_key: string): void {}

  async #loadAndKeep(key: string): Promise<KnownSensor | null> {
    const before = this.#generation;
    const sensor = await this.#load(key);
    if (this.#generation === before) {
      if (sensor) this.#known.set(key, sensor, { ttl: msToKeep(sensor) });
      else this.noteUnknown(key);
    }
    return sensor;
  }
}

/** The cache of sensors by API key. `find` throws AppError `unavailable` while the database is, unless the key is cached. */
export class SensorKeys extends KnownSensors {
  readonly #unknown = createBoundedCache<string, true>(MAX_UNKNOWN, UNKNOWN_MS);

  constructor(load: Load) {
    super((apiKey) =>
      load(apiKey).catch((error: unknown) => {
        throw isOutage(error) ? databaseAway(error) : error;
      }),
    );
  }

  override forgetAll(): void {
    super.forgetAll();
    this.#unknown.clear();
  }

  protected override isUnknown(apiKey: string): boolean {
    return !API_KEY.test(apiKey) || this.#unknown.has(apiKey);
  }

  protected override noteUnknown(apiKey: string): void {
    this.#unknown.set(apiKey, true);
  }
}

/**
 * For how long to keep a sensor, in milliseconds: half a minute to a minute, at random. Sensors that were all read after
 * a start would otherwise expire together every minute, and 2,000 of them delay events by half a second. One that was
 * found by its previous key is kept while that is valid, and at least 1 ms, as the cache takes 0 for ever.
 */
function msToKeep({ previousKey }: KnownSensor): number {
  const ms = Math.round(MAX_MS * (0.5 + Math.random() / 2));
  return previousKey ? Math.max(1, Math.min(ms, Math.floor(previousKey.validMs))) : ms;
}

/** The context of a device's call: the request and the sensor of its key. */
export interface DeviceContext<App = Core> extends RequestContext<App> {
  readonly sensor: KnownSensor;
}

/** Where the times at which sensors used their keys are noted. */
interface SeenByKey {
  record(sensorId: string): void;
  recordByPreviousKey(sensorId: string): void;
}

/**
 * The sensor of the `apiKey` in a device's input; the rest of the input is not checked. Returns synchronously if it
 * is cached. Every message is a liveness signal.
 * @throws AppError `badRequest` without a key; `unauthorized` for an unknown key; `unavailable` while the database is
 * unavailable and the key is not cached
 */
export function authenticateSensor(
  { app }: RequestContext<Core & { readonly sensorKeys: SensorKeys; readonly lastSeen: SeenByKey }>,
  rawInput: unknown,
): KnownSensor | Promise<KnownSensor> {
  const admit = (sensor: KnownSensor | null): KnownSensor => {
    if (!sensor) throw new AppError('unauthorized', 'Invalid API key');
    if (sensor.previousKey) app.lastSeen.recordByPreviousKey(sensor.id);
    else app.lastSeen.record(sensor.id);
    return sensor;
  };
  const apiKey: unknown =
    typeof rawInput === 'object' && rawInput !== null ? Reflect.get(rawInput, 'apiKey') : undefined;
  if (typeof apiKey !== 'string' || apiKey === '') {
    throw invalidInput('apiKey', 'Send the API key of the sensor as apiKey');
  }
  const found = app.sensorKeys.find(apiKey);
  return found instanceof Promise ? found.then(admit) : admit(found);
}
