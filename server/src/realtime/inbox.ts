import type { FeedItem } from './items.ts';
import type { Cursor } from './position.ts';

/** An item, or the number of items that were dropped since the last one because they were not read in time. */
export type Delivery =
  | { readonly kind: 'item'; readonly item: FeedItem }
  | { readonly kind: 'missed'; readonly count: number; readonly cursor: Cursor };

/** The items that wait for one subscriber: in order and bounded. */
export interface Inbox {
  offer(item: FeedItem): void;
  /** Ends the inbox and discards its items; with a reason, `take` and `isOpen` throw it from then on. */
  end(reason: Error | null): void;
  /**
   * The next delivery; null when there was none in time, or when the inbox was ended.
   * @param ms how long to wait, in milliseconds
   */
  take(ms: number): Promise<Delivery | null>;
  /** Whether it has not been ended. @throws the reason for which it was ended */
  isOpen(): boolean;
}

/**
 * An inbox with a capacity in items. If it is full, it drops all items until it has been emptied, so that there is a
 * single gap.
 */
export function createInbox(capacity: number): Inbox {
  let waiting: FeedItem[] = [];
  let dropped = 0;
  let lastDropped: Cursor | null = null;
  let ended: { reason: Error | null } | null = null;
  let wake: (() => void) | null = null;

  const next = (): Delivery | null => {
    const item = waiting.shift();
    if (item) return { kind: 'item', item };
    if (!lastDropped) return null;
    const missed = { kind: 'missed', count: dropped, cursor: lastDropped } as const;
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
        lastDropped = item.cursor;
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
