const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The wait after each failed attempt, in milliseconds before jitter: thirteen attempts in about a day. */
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

/**
 * Maximum fraction by which a wait is longer or shorter, so that deliveries that failed together are not retried
 * together.
 */
export const JITTER = 0.2;

/**
 * The wait before the next attempt, in milliseconds.
 * @param attempts number of failed attempts, at least 1
 * @param chance uniform from 0 up to 1
 * @returns null when there is no further attempt
 */
export function delayAfter(
  attempts: number,
  backOff: readonly number[] = BACK_OFF,
  chance: number = Math.random(),
): number | null {
  const wait = backOff[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 + JITTER * (2 * chance - 1)));
}
