import type { TimezoneSettings } from '@gantry/contract/system';
import { LRUCache } from 'lru-cache';

/**
 * A cache of the `most` entries that were used most recently. Its memory grows with its content: with the option `max`,
 * the library allocates memory for all entries at once, which took 25 ms of processor time at each start.
 * @param ttlMs how long an entry is kept, in milliseconds; without it, there is no limit
 */
export function createBoundedCache<Key extends {}, Value extends {}>(
  most: number,
  ttlMs?: number,
): LRUCache<Key, Value> {
  return new LRUCache({
    maxSize: most,
    sizeCalculation: () => 1,
    ...(ttlMs !== undefined && { ttl: ttlMs }),
  });
}

/** A value that is used often and changes rarely, so it is kept in memory. */
export interface Latest<Value> {
  current(): Value;
  /** Reads the value again. If that fails, the promise is rejected and the value stays as it was. */
  refresh(): Promise<void>;
}

/**
 * Reads a value and keeps it. If several reads overlap, one that began earlier never replaces the result of one that
 * began later, because it may not have seen the last change.
 */
export async function keepLatest<Value>(read: () => Promise<Value>): Promise<Latest<Value>> {
  let value = await read();
  let started = 0;
  let newest = 0;
  return {
    current: () => value,
    async refresh() {
      const turn = ++started;
      const fresh = await read();
      if (turn < newest) return;
      newest = turn;
      value = fresh;
    },
  };
}

/** The time zone settings, read often and changed rarely, so they are kept in memory. */
export interface SettingsCache {
  current(): TimezoneSettings;
  /** The previous time zones, as far back as a device may repeat an event; usually none. */
  formerZones(): readonly string[];
  /** Reads them again, after a process notified others of a change. */
  refresh(): Promise<void>;
}

/**
 * @param load reads the settings from the database
 * @param loadFormer reads the previous time zones
 */
export async function createSettingsCache(
  load: () => Promise<TimezoneSettings>,
  loadFormer: () => Promise<readonly string[]> = async () => [],
): Promise<SettingsCache> {
  const latest = await keepLatest(async () => {
    const [settings, former] = await Promise.all([load(), loadFormer()]);
    return { settings, former };
  });
  return {
    current: () => latest.current().settings,
    formerZones: () => latest.current().former,
    refresh: latest.refresh,
  };
}
