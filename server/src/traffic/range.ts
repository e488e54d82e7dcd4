import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { TrafficInterval } from '@gantry/contract/traffic';
import { MAX_POINTS } from '@gantry/contract/values';
import { invalidInput } from '../platform/error.ts';
import { dayBounds, type Interval, offsetsOf, SLOT_MS } from '../platform/time.ts';

/** The length of the intervals of figures in minutes. */
export const minutesOf = { '5min': 5, '15min': 15, '60min': 60, day: 1_440 } as const satisfies Record<
  TrafficInterval,
  number
>;

/**
 * Refuses a range with too many intervals of the given number of minutes.
 * @param field what of the input makes them so short
 * @throws AppError `badRequest`
 */
export function requireFewPoints({ from, until }: Interval, minutes: number, field = 'interval'): void {
  if ((until - from) / (minutes * MINUTE_MS) > MAX_POINTS)
    throw invalidInput(
      field,
      `This would make more than ${MAX_POINTS} points: choose a longer interval or a shorter range`,
    );
}

/**
 * The intervals that overlap a range, as their starts and the end of the last one, in Unix milliseconds. They are
 * counted from local midnight, so a day has 23 or 25 hours when the clocks change. Where they change by half an hour,
 * one interval is shorter.
 */
export function localBounds(range: Interval, minutes: number, zone: string): number[] {
  const days = dayBounds(range, zone);
  if (minutes * MINUTE_MS >= DAY_MS) return days;
  const step = minutes * MINUTE_MS;
  const starts = days
    .slice(0, -1)
    .flatMap((from, n) => startsWithin({ from, until: days[n + 1] ?? from }, step, zone));
  const all = [...starts, days.at(-1) ?? range.until];
  const first = all.findLastIndex((bound) => bound <= range.from);
  const last = all.findIndex((bound) => bound >= range.until);
  return all.slice(first, last + 1);
}

/**
 * The starts of the intervals of a day. If the clocks change by a part of an interval, an interval begins at the change,
 * and those after it are counted from the midnight at the end of the day.
 */
function startsWithin({ from, until }: Interval, step: number, zone: string): number[] {
  const count = Math.ceil((until - from) / step);
  const fromStart = Array.from({ length: count }, (_, n) => from + n * step);
  if ((until - from) % step === 0) return fromStart;
  const offsetAt = offsetsOf(zone);
  let change = from;
  while (change < until && offsetAt(change) === offsetAt(from - 1)) change += SLOT_MS;
  if (change >= until) return fromStart;
  const fromEnd = Array.from({ length: count }, (_, n) => until - (count - n) * step);
  return [
    ...fromStart.filter((start) => start < change),
    change,
    ...fromEnd.filter((start) => start > change),
  ];
}
