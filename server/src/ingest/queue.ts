import type { EventRow } from '../events/event-row.ts';
import { unavailable } from '../platform/error.ts';
import { Shares } from '../platform/shares.ts';
import type { Companion } from './insert-statements-store.ts';

/** Upper bound for the short texts of an event, in characters; long texts are measured. */
const SHORT_TEXTS = 1_000;

/**
 * The result for an event: it was stored, it existed already (`duplicate`), or its key was used for other content
 * (`conflict`). Of an event with a companion, nothing was stored if anything of its group may be stored already
 * (`apart`): the two are then to be stored one after the other.
 */
export type WriteOutcome = 'stored' | 'duplicate' | 'conflict' | 'apart';

/** An event whose sender waits for the result. */
export interface Waiting {
  readonly row: EventRow;
  readonly companion: Companion | null;
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

/** A single sensor may use half of it (`Shares`). */
const LIMITS = { items: 40_000, size: 192_000_000, leastItems: 1_000, leastSize: MAX_GROUP_CHARS };

/** The result of taking a group: what remains keeps its order. */
interface Taken {
  readonly group: readonly Waiting[];
  readonly rest: Waiting[];
}

/**
 * Events that wait for their commit, within bounds. Events of a sensor stay in order, and no sensor waits for all
 * events of another.
 */
export class EventQueue {
  #queue: Waiting[] = [];
  readonly #shares = new Shares(LIMITS);

  get length(): number {
    return this.#queue.length;
  }

  /** @throws AppError `unavailable` when the queue, or the sensor's share of it, is full */
  add(waiting: Waiting): void {
    const { sensorId } = waiting.row;
    const size = sizeOf(waiting.row);
    if (!this.#shares.hasRoom(sensorId, size)) {
      throw unavailable('More events are arriving than can be stored: send the event again in a moment');
    }
    this.#queue.push(waiting);
    this.#shares.add(sensorId, size);
  }

  /** Removes the next group from the queue. */
  take(): Group {
    const now = performance.now();
    /** The place of each event with a key. */
    const keyed = new Map<string, number>();
    const events: Waiting[] = [];
    const repeats: Waiting[] = [];
    const { group, rest } = this.#takeGroup();
    this.#queue = rest;
    for (const waiting of group) {
      const { row, until, reject } = waiting;
      this.#shares.remove(row.sensorId, sizeOf(row));
      const at = row.contentHash === null ? undefined : keyed.get(row.id);
      const first = at === undefined ? undefined : events[at];
      if (until < now) {
        reject(unavailable('The event waited too long for its commit: send it again in a moment'));
      } else if (at === undefined || first === undefined) {
        if (row.contentHash !== null) keyed.set(row.id, events.length);
        events.push(waiting);
      } else if (first.companion !== null && waiting.companion === null) {
        // The first may have to be stored apart from its companion, and the other would wait for it in vain.
        repeats.push(first);
        events[at] = waiting;
      } else {
        repeats.push(waiting);
      }
    }
    return { events, repeats };
  }

  /** Removes all events from the queue. */
  clear(): readonly Waiting[] {
    const all = this.#queue;
    this.#queue = [];
    this.#shares.clear();
    return all;
  }

  /**
   * If more events wait than fit into a group, each sensor gets its part of the group first; the rest goes by order
   * of arrival.
   */
  #takeGroup(): Taken {
    const { owners: sensors } = this.#shares;
    if (this.#queue.length <= MAX_GROUP_EVENTS || sensors < 2)
      return takeFront(this.#queue, [], MAX_GROUP_EVENTS);
    const fair = takeFront(this.#queue, [], Math.ceil(MAX_GROUP_EVENTS / sensors));
    return takeFront(fair.rest, fair.group, MAX_GROUP_EVENTS);
  }
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
