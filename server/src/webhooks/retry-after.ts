import type { IncomingHttpHeaders } from 'node:http';

/** Longest that a receiver can put an attempt off, in milliseconds. */
const MOST_MS = 24 * 3_600_000;

/**
 * For how many milliseconds an answer asks to be left alone, at most a day; null when it does not say. A date counts from
 * the receiver's own clock, where the answer tells it.
 * @param now the time in Unix milliseconds, for answers that do not tell theirs
 */
export function retryAfterOf(
  { 'retry-after': value, date }: IncomingHttpHeaders,
  now: number,
): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, MOST_MS);
  // Date.parse takes more for a date than HTTP does: "-1" for one.
  const until = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  const theirs = Date.parse(date ?? '');
  const wait = until - (Number.isNaN(theirs) ? now : theirs);
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), MOST_MS);
}
