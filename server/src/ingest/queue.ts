import type { EventRow } from '../events/event-row.ts';
import { unavailable } from '../platform/error.ts';

/** The part of the queue that one sensor uses. */
interface Share {
  events: number;
  chars: number;
}

/** The parts of the queue that sensors use. It is updated for every event, so it is only a map and two sums. */
interface Shares {
  /** The number of sensors with events in the queue. */
  readonly sensors: number;
  /** Whether the sensor may add an event of this size, in characters. */
  hasRoom(sensorId: string, chars: number): boolean;
  add(sensorId: string, chars: number): void;
  remove(sensorId: string, chars: number): void;
  clear(): void;
}

interface ShareLimits {
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
function createShares({ events, chars, leastEvents, leastChars }: ShareLimits): Shares {
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

/** Upper bound for the short texts of an event, in characters; long texts are measured. */
const SHORT_TEXTS = 1_000;

/**
 * The result for an event: it was stored, it existed already (`duplicate`), or its key was used for other content
 * (`conflict`).
 */
export type WriteOutcome = 'stored' | 'duplicate' | 'conflict';

/** An event whose sender waits for the result. */
export interface Waiting {
  readonly row: EventRow;
  /** Until when it may wait, by the monotonic clock in milliseconds. */
  readonly until: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Events to be committed together. */
interface Group {
  /** The events, each once. */
  readonly events: readonly Waiting[];
  /** Repetitions of events of the same group, which have the same result as the first. */
  readonly repeats: readonly Waiting[];
}

const MAX_GROUP_EVENTS = 1_000;
const MAX_GROUP_CHARS = 8_000_000;

/** A single sensor may use half of it (shares.ts). */
const LIMITS = { events: 40_000, chars: 192_000_000, leastEvents: 1_000, leastChars: MAX_GROUP_CHARS };

/**
 * Events that wait for their commit, within bounds. Events of a sensor stay in order, and no sensor waits for all
 * events of another.
 */
interface EventQueue {
  readonly length: number;
  /** @throws AppError `unavailable` when the queue, or the sensor's share of it, is full */
  add(waiting: Waiting): void;
  /** Removes the next group from the queue. */
  take(): Group;
  /** Removes all events from the queue. */
  clear(): readonly Waiting[];
}

/** The result of taking a group: what remains keeps its order. */
interface Taken {
  readonly group: readonly Waiting[];
  readonly rest: Waiting[];
}

export function createEventQueue(): EventQueue {
  let queue: Waiting[] = [];
  const shares = createShares(LIMITS);

  /**
   * If more events wait than fit into a group, each sensor gets its part of the group first; the rest goes by order
   * of arrival.
   */
  const takeGroup = (): Taken => {
    if (queue.length <= MAX_GROUP_EVENTS || shares.sensors < 2) return takeFront(queue, [], MAX_GROUP_EVENTS);
    const fair = takeFront(queue, [], Math.ceil(MAX_GROUP_EVENTS / shares.sensors));
    return takeFront(fair.rest, fair.group, MAX_GROUP_EVENTS);
  };

  return {
    get length() {
      return queue.length;
    },
    add(waiting) {
      const { sensorId } = waiting.row;
      const size = sizeOf(waiting.row);
      if (!shares.hasRoom(sensorId, size)) {
        throw unavailable('More events are arriving than can be stored: send the event again in a moment');
      }
      queue.push(waiting);
      shares.add(sensorId, size);
    },
    take() {
      const now = performance.now();
      const keyed = new Set<string>();
      const events: Waiting[] = [];
      const repeats: Waiting[] = [];
      const { group, rest } = takeGroup();
      queue = rest;
      for (const waiting of group) {
        const { row, until, reject } = waiting;
        shares.remove(row.sensorId, sizeOf(row));
        if (until < now) {
          reject(unavailable('The event waited too long for its commit: send it again in a moment'));
        } else if (row.contentHash !== null && keyed.has(row.id)) {
          repeats.push(waiting);
        } else {
          if (row.contentHash !== null) keyed.add(row.id);
          events.push(waiting);
        }
      }
      return { events, repeats };
    },
    clear() {
      const all = queue;
      queue = [];
      shares.clear();
      return all;
    },
  };
}

/** The approximate size of an event in characters, for the bounds of what waits in memory. */
export function sizeOf(row: EventRow): number {
  return (
    SHORT_TEXTS +
    (row.description?.length ?? 0) +
    (row.metadataJson?.length ?? 0) +
    (row.imagesJson?.length ?? 0) +
    (row.tagsJson?.length ?? 0)
  );
}

/** Takes events from the front of the queue until the group is full, at most a given number of each sensor. */
function takeFront(queue: readonly Waiting[], before: readonly Waiting[], mostOfOne: number): Taken {
  const group = [...before];
  let chars = group.reduce((sum, { row }) => sum + sizeOf(row), 0);
  const taken = new Map<string, number>();
  const passed: Waiting[] = [];
  for (let at = 0; at < queue.length; at++) {
    const waiting = queue[at] as Waiting;
    const size = sizeOf(waiting.row);
    if (group.length === MAX_GROUP_EVENTS || (group.length > 0 && chars + size > MAX_GROUP_CHARS)) {
      return { group, rest: [...passed, ...queue.slice(at)] };
    }
    const ofSensor = mostOfOne < MAX_GROUP_EVENTS ? (taken.get(waiting.row.sensorId) ?? 0) : 0;
    if (ofSensor >= mostOfOne) {
      passed.push(waiting);
      continue;
    }
    if (mostOfOne < MAX_GROUP_EVENTS) taken.set(waiting.row.sensorId, ofSensor + 1);
    chars += size;
    group.push(waiting);
  }
  return { group, rest: passed };
}
