import type { EventRow } from '../events/event-row.ts';
import { unavailable } from '../platform/error.ts';
import { createShares } from './shares.ts';

/** Characters of an event's short texts, at most; the long ones are counted. */
const SHORT_TEXTS = 1_000;

/** What became of an event: it is durable (`stored`), was so already (`duplicate`), or its key is taken by other content. */
export type WriteOutcome = 'stored' | 'duplicate' | 'conflict';

/** An event whose sender waits to hear what became of it. */
export interface Waiting {
  readonly row: EventRow;
  /** How long it may wait, by the monotonic clock in milliseconds. */
  readonly until: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Events to be committed together. */
export interface Group {
  /** Each event once. */
  readonly events: readonly Waiting[];
  /** Further attempts at events of the same group, which follow how the first one ends. */
  readonly repeats: readonly Waiting[];
}

const MAX_GROUP_EVENTS = 1_000;
const MAX_GROUP_CHARS = 8_000_000;

/** Half of it is for one sensor alone (shares.ts). */
const LIMITS = { events: 40_000, chars: 192_000_000, leastEvents: 1_000, leastChars: MAX_GROUP_CHARS };

/** Events that wait for their commit: those of a sensor in order, none behind all of another, and within bounds. */
export interface EventQueue {
  readonly length: number;
  /** @throws AppError `unavailable` when the queue is full, or the sensor's share of it */
  add(waiting: Waiting): void;
  /** Takes the next group off the queue. */
  take(): Group;
  /** Takes everybody off the queue. */
  clear(): readonly Waiting[];
}

/** What is taken for a group: what is left keeps its order. */
interface Taken {
  readonly group: readonly Waiting[];
  readonly rest: Waiting[];
}

export function createEventQueue(): EventQueue {
  let queue: Waiting[] = [];
  const shares = createShares(LIMITS);

  /** While more wait than one group holds, each sensor has its part of the group first, and then whoever came first. */
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

/** About how many characters an event is, for what bounds a queue. */
function sizeOf(row: EventRow): number {
  return (
    SHORT_TEXTS +
    (row.description?.length ?? 0) +
    (row.metadataJson?.length ?? 0) +
    (row.imagesJson?.length ?? 0) +
    (row.tagsJson?.length ?? 0)
  );
}

/** Takes from the front of the queue, of each sensor at most so many, until the group is full. */
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
