import { DAY_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import { type Interval, resolveTime } from './time.ts';

/** A day of the local calendar as YYYY-MM-DD, with its beginning and end. */
export interface LocalDay extends Interval {
  readonly day: string;
}

/** The local days of an interval, in order; the first and the last may be partial. */
export function* localDays(interval: Interval, zone: string): Generator<LocalDay> {
  for (const { day, from, until } of wholeDays(interval, zone)) {
    const part = { from: Math.max(interval.from, from), until: Math.min(interval.until, until) };
    if (part.from < part.until) yield { day, ...part };
  }
}

/**
 * The starts of the local days that overlap an interval, and the end of the last one. A day on which clocks change does
 * not have 24 hours.
 */
export function dayBounds(interval: Interval, zone: string): number[] {
  const bounds = [resolveTime(dayAt(interval.from, zone), zone)];
  for (const { until } of wholeDays(interval, zone)) bounds.push(until);
  return bounds;
}

/**
 * The starts of the local weeks that overlap an interval, and the end of the last one.
 * @param firstDay the first day of the week, from 0 (Sunday) to 6 (Saturday)
 */
export function weekBounds({ from, until }: Interval, zone: string, firstDay: number): number[] {
  const day = dayAt(from, zone);
  let start = addDays(day, -((new Date(day).getUTCDay() - firstDay + 7) % 7));
  const bounds = [resolveTime(start, zone)];
  while ((bounds.at(-1) ?? until) < until) {
    start = addDays(start, 7);
    bounds.push(resolveTime(start, zone));
  }
  return bounds;
}

function addDays(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

function dayAt(moment: number, zone: string): string {
  return DateTime.fromMillis(moment, { zone }).toFormat('yyyy-MM-dd');
}

/** The whole days that overlap an interval. A day that the zone skipped is left out. */
function* wholeDays({ from, until }: Interval, zone: string): Generator<LocalDay> {
  let day = dayAt(from, zone);
  for (let start = resolveTime(day, zone); start < until; ) {
    const next = addDays(day, 1);
    const end = resolveTime(next, zone);
    if (start < end) yield { day, from: start, until: end };
    day = next;
    start = end;
  }
}
