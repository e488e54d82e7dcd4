import type { IncomingHttpHeaders } from 'node:http';
import { DAY_MS } from '@gantry/contract/durations';

/** Maximum delay that an answer can request, in milliseconds. */
const MAX_MS = DAY_MS;

/**
 * The delay that an answer requests in milliseconds, at most a day; null if there is none. A date is compared with
 * the receiver's own clock, if the answer contains it.
 * @param now the time in Unix milliseconds, for answers without a time of their own
 */
export function retryAfterOf(
  { 'retry-after': value, date }: IncomingHttpHeaders,
  now: number,
): number | null {
  if (value === undefined) return null;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, MAX_MS);
  // Date.parse accepts more than HTTP dates, for example "-1".
  const until = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  const theirs = Date.parse(date ?? '');
  const wait = until - (Number.isNaN(theirs) ? now : theirs);
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), MAX_MS);
}
