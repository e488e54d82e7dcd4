/** A clock that shows an earlier time is not set, because this program did not exist then. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/** The clock of the machine. One without a battery shows 1970 after a start, until it is synchronised. */
export interface Clock {
  /** Unix milliseconds */
  now(): number;
  isSet(): boolean;
  /**
   * The true time of a message. Without it, that of the first look at a clock that was set.
   * @param at what the clock showed, in Unix milliseconds
   * @param isOwn whether this process received the message
   */
  timeOf(at: number, isOwn: boolean): number;
}

/**
 * @param now what the clock of the machine shows, in Unix milliseconds
 * @param elapsed milliseconds since any moment, whatever the clock shows
 */
export function createClock(
  now: () => number = Date.now,
  elapsed: () => number = () => performance.now(),
): Clock {
  const shownAtZero = now() - elapsed();
  let found: { readonly at: number; readonly aheadBy: number } | null = null;
  const look = () => {
    const at = now();
    if (found === null && at >= EARLIEST_MS) found = { at, aheadBy: at - elapsed() - shownAtZero };
    return found;
  };
  look();
  return {
    now,
    isSet: () => look() !== null,
    timeOf(at, isOwn) {
      const set = look();
      if (at >= EARLIEST_MS || set === null) return at;
      return isOwn ? Math.round(at + set.aheadBy) : set.at;
    },
  };
}
