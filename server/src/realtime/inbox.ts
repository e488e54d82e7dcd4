import type { FeedItem } from './items.ts';
import type { Mark } from './position.ts';

/** What an inbox gives: a thing, or how many were dropped since the last one because nobody took them. */
export type Delivery =
  | { readonly kind: 'item'; readonly item: FeedItem }
  | { readonly kind: 'missed'; readonly count: number; readonly mark: Mark };

/** What waits for one subscriber: in order, and within a bound. */
export interface Inbox {
  offer(item: FeedItem): void;
  /** Ends the waiting; with a reason, everything fails with it from then on. */
  end(reason: Error | null): void;
  /**
   * The next delivery; null when none came within the time, or when the inbox was ended.
   * @param ms how long to wait, in milliseconds
   */
  take(ms: number): Promise<Delivery | null>;
  /** Whether it was not ended. @throws the reason that it was ended for */
  isOpen(): boolean;
}

/**
 * An inbox that holds so many things. One that is full drops all that comes until it was emptied, so that what was
 * dropped lies together in one place.
 */
export function createInbox(capacity: number): Inbox {
  let waiting: FeedItem[] = [];
  let dropped = 0;
  let lastDropped: Mark | null = null;
  let ended: { reason: Error | null } | null = null;
  let wake: (() => void) | null = null;

  const next = (): Delivery | null => {
    const item = waiting.shift();
    if (item) return { kind: 'item', item };
    if (!lastDropped) return null;
    const missed = { kind: 'missed', count: dropped, mark: lastDropped } as const;
    dropped = 0;
    lastDropped = null;
    return missed;
  };

  const isOpen = (): boolean => {
    if (ended?.reason) throw ended.reason;
    return ended === null;
  };

  return {
    isOpen,
    offer(item) {
      if (ended) return;
      if (lastDropped || waiting.length >= capacity) {
        dropped++;
        lastDropped = item.mark;
      } else {
        waiting.push(item);
      }
      wake?.();
    },
    end(reason) {
      ended ??= { reason };
      waiting = [];
      wake?.();
    },
    async take(ms) {
      if (!ended && waiting.length === 0 && !lastDropped) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = null;
      }
      return isOpen() ? next() : null;
    },
  };
}
