import { unavailable } from '../error.ts';
import { type EventRow, sizeOf } from './enrich.ts';

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
const MAX_QUEUED_EVENTS = 20_000;
const MAX_QUEUED_CHARS = 128_000_000;
/** An event that waited this long for its turn is sent back; with the commit's own limit this stays under 30 s. */
export const MAX_WAIT_MS = 10_000;

/** Events that wait for their commit: in order, and within bounds. */
export interface EventQueue {
  readonly length: number;
  /** @throws AppError `unavailable` when the queue is full */
  add(waiting: Waiting): void;
  /** Takes the next group off the queue. */
  take(): Group;
  /** Takes everybody off the queue. */
  clear(): readonly Waiting[];
}

export const createEventQueue = (): EventQueue => {
  let queue: Waiting[] = [];
  let queuedChars = 0;

  return {
    get length() {
      return queue.length;
    },
    add(waiting) {
      const size = sizeOf(waiting.row);
      const full = queue.length >= MAX_QUEUED_EVENTS || queuedChars + size > MAX_QUEUED_CHARS;
      if (full && queue.length > 0) {
        throw unavailable('More events are arriving than can be stored: send the event again in a moment');
      }
      queue.push(waiting);
      queuedChars += size;
    },
    take() {
      const now = performance.now();
      const keyed = new Set<string>();
      const events: Waiting[] = [];
      const repeats: Waiting[] = [];
      let taken = 0;
      let chars = 0;
      for (const waiting of queue) {
        const { row, until, reject } = waiting;
        const size = sizeOf(row);
        if (taken === MAX_GROUP_EVENTS || (taken > 0 && chars + size > MAX_GROUP_CHARS)) break;
        taken++;
        chars += size;
        if (until < now) {
          reject(unavailable('The event waited too long for its commit: send it again in a moment'));
        } else if (row.contentHash !== null && keyed.has(row.id)) {
          repeats.push(waiting);
        } else {
          if (row.contentHash !== null) keyed.add(row.id);
          events.push(waiting);
        }
      }
      queuedChars -= chars;
      queue = queue.slice(taken);
      return { events, repeats };
    },
    clear() {
      const all = queue;
      queue = [];
      queuedChars = 0;
      return all;
    },
  };
};
