/** The part of the queue that one sensor uses. */
interface Share {
  events: number;
  chars: number;
}

/** The parts of the queue that sensors use. It is updated for every event, so it is only a map and two sums. */
export interface Shares {
  /** The number of sensors with events in the queue. */
  readonly sensors: number;
  /** Whether the sensor may add an event of this size, in characters. */
  hasRoom(sensorId: string, chars: number): boolean;
  add(sensorId: string, chars: number): void;
  remove(sensorId: string, chars: number): void;
  clear(): void;
}

export interface ShareLimits {
  /** Capacity of the queue. */
  readonly events: number;
  readonly chars: number;
  /** What a sensor may use however many others wait, as long as the queue has room. */
  readonly leastEvents: number;
  readonly leastChars: number;
}

/**
 * A sensor may use the capacity divided by the number of waiting sensors plus one. So a single sensor may fill half
 * of the queue, and there is always a share for another one.
 */
export function createShares({ events, chars, leastEvents, leastChars }: ShareLimits): Shares {
  // Sensors without events in the queue stay in the map: if its keys changed with each event, V8 would keep requests in
  // memory until a full collection (rpc/deadline.ts).
  const shares = new Map<string, Share>();
  const queued: Share = { events: 0, chars: 0 };
  let sensors = 0;

  return {
    get sensors() {
      return sensors;
    },
    hasRoom(sensorId, size) {
      if (queued.events >= events) return false;
      // An empty queue accepts an event of any size.
      if (queued.chars + size > chars && queued.events > 0) return false;
      const own = shares.get(sensorId);
      if (own === undefined || own.events === 0) return true;
      const parts = sensors + 1;
      return (
        own.events < Math.max(leastEvents, Math.floor(events / parts)) &&
        own.chars + size <= Math.max(leastChars, chars / parts)
      );
    },
    add(sensorId, size) {
      let own = shares.get(sensorId);
      if (own === undefined) {
        own = { events: 0, chars: 0 };
        shares.set(sensorId, own);
      }
      if (own.events++ === 0) sensors++;
      own.chars += size;
      queued.events++;
      queued.chars += size;
    },
    remove(sensorId, size) {
      const own = shares.get(sensorId);
      if (!own) return;
      queued.events--;
      queued.chars -= size;
      own.chars -= size;
      if (--own.events === 0) sensors--;
    },
    clear() {
      shares.clear();
      sensors = 0;
      queued.events = 0;
      queued.chars = 0;
    },
  };
}
