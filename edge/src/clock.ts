/** A clock that shows an earlier time is not set, because this program did not exist then. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/** The clock of the machine. Without a battery, it shows 1970 after a start until it is synchronised. */
export interface Clock {
  /** Unix milliseconds */
  now(): number;
  /** Whether the clock has shown a plausible time since this process started. */
  isSet(): boolean;
  /**
   * The true time of a message, in Unix milliseconds. If the message was received before the clock was set, the time is
   * corrected for messages of this process. For those of an earlier process the error is unknown, so the time at which this
   * process first saw that the clock is set is used. While the clock is not set, `at` is returned unchanged.
   * @param at what the clock showed, in Unix milliseconds
   * @param isOwn whether this process received the message
   */
  timeOf(at: number, isOwn: boolean): number;
}

/**
 * @param now what the clock of the machine shows, in Unix milliseconds
 * @param elapsed milliseconds since any fixed moment, unaffected by changes of the clock
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
