/** What one sensor has in the queue. */
interface Share {
  events: number;
  chars: number;
}

/** How many sensors wait, and what each of them has in the queue. Times per event count here: this is a map and two sums. */
export interface Shares {
  /** Sensors that have something in the queue. */
  readonly sensors: number;
  /** Whether the sensor may add something of this size, in characters. */
  hasRoom(sensorId: string, chars: number): boolean;
  add(sensorId: string, chars: number): void;
  remove(sensorId: string, chars: number): void;
  clear(): void;
}

export interface ShareLimits {
  /** Places in the whole queue. */
  readonly events: number;
  readonly chars: number;
  /** What a sensor may have however many others wait, as long as the queue itself has room. */
  readonly leastEvents: number;
  readonly leastChars: number;
}

/**
 * A sensor may fill what is left when the queue is divided by the sensors that wait and one more. So a sensor alone may fill
 * half of it, and whatever those that wait send, there is always a share for one that comes.
 */
export function createShares({ events, chars, leastEvents, leastChars }: ShareLimits): Shares {
  const shares = new Map<string, Share>();
  const queued: Share = { events: 0, chars: 0 };

  return {
    get sensors() {
      return shares.size;
    },
    hasRoom(sensorId, size) {
      if (queued.events >= events) return false;
      // An event of any size finds its place in an empty queue.
      if (queued.chars + size > chars && queued.events > 0) return false;
      const own = shares.get(sensorId);
      if (own === undefined) return true;
      const parts = shares.size + 1;
      return (
        own.events < Math.max(leastEvents, Math.floor(events / parts)) &&
        own.chars + size <= Math.max(leastChars, chars / parts)
      );
    },
    add(sensorId, size) {
      const own = shares.get(sensorId);
      if (own) {
        own.events++;
        own.chars += size;
      } else {
        shares.set(sensorId, { events: 1, chars: size });
      }
      queued.events++;
      queued.chars += size;
    },
    remove(sensorId, size) {
      const own = shares.get(sensorId);
      if (!own) return;
      queued.events--;
      queued.chars -= size;
      own.chars -= size;
      if (--own.events === 0) shares.delete(sensorId);
    },
    clear() {
      shares.clear();
      queued.events = 0;
      queued.chars = 0;
    },
  };
}
