const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long to wait after each failed attempt, in milliseconds before jitter: thirteen attempts in about a day. */
export const BACK_OFF: readonly number[] = [
  10 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  4 * HOUR,
  6 * HOUR,
  7 * HOUR,
];

/** A wait is at most this part longer or shorter, so that what failed together does not come back together. */
export const JITTER = 0.2;

/**
 * How long to wait, in milliseconds, before the next attempt.
 * @param attempts how many have failed, at least 1
 * @param chance 0 up to 1, evenly distributed
 * @returns null when there is no next one
 */
export function delayAfter(
  attempts: number,
  backOff: readonly number[] = BACK_OFF,
  chance: number = Math.random(),
): number | null {
  const wait = backOff[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 + JITTER * (2 * chance - 1)));
}
