import { LRUCache } from 'lru-cache';

/**
 * A cache of the `most` entries that were used last. Its memory grows with its content: with the option `max`, the
 * library allocates the places of all entries at once, which took 25 ms of processor time at each start.
 * @param ttlMs how long an entry is kept
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
