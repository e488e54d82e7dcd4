/** What one owner has in a queue. */
interface Share {
  items: number;
  size: number;
}

export interface ShareLimits {
  /** Capacity of the queue, in items and in the unit of their sizes. */
  readonly items: number;
  readonly size: number;
  /** What an owner may use however many others wait, as long as the queue has room. */
  readonly leastItems: number;
  readonly leastSize: number;
}

/**
 * The parts of a queue that owners, such as sensors, use. An owner may use the capacity divided by the number of waiting
 * owners plus one. So a single one may fill half of the queue, and there is always a share for another one. It is updated for
 * every event, so it is only a map and two sums.
 */
export class Shares {
  readonly #limits: ShareLimits;
  // Owners with nothing in the queue stay in the map: if its keys changed with each item, V8 would keep requests in memory
  // until a full collection (rpc/deadline.ts).
  readonly #shares = new Map<string, Share>();
  readonly #queued: Share = { items: 0, size: 0 };
  #owners = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** The number of owners with items in the queue. */
  get owners(): number {
    return this.#owners;
  }

  /** Whether the owner may add an item of this size. */
  hasRoom(owner: string, size: number): boolean {
    const { items, size: capacity, leastItems, leastSize } = this.#limits;
    if (this.#queued.items >= items) return false;
    // An empty queue accepts an item of any size.
    if (this.#queued.size + size > capacity && this.#queued.items > 0) return false;
    const own = this.#shares.get(owner);
    if (own === undefined || own.items === 0) return true;
    const parts = this.#owners + 1;
    return (
      own.items < Math.max(leastItems, Math.floor(items / parts)) &&
      own.size + size <= Math.max(leastSize, capacity / parts)
    );
  }

  add(owner: string, size: number): void {
    let own = this.#shares.get(owner);
    if (own === undefined) {
      own = { items: 0, size: 0 };
      this.#shares.set(owner, own);
    }
    if (own.items++ === 0) this.#owners++;
    own.size += size;
    this.#queued.items++;
    this.#queued.size += size;
  }

  remove(owner: string, size: number): void {
    const own = this.#shares.get(owner);
    if (!own) return;
    this.#queued.items--;
    this.#queued.size -= size;
    own.size -= size;
    if (--own.items === 0) this.#owners--;
  }

  clear(): void {
    this.#shares.clear();
    this.#owners = 0;
    this.#queued.items = 0;
    this.#queued.size = 0;
  }
}
