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
