import { MAX_POINTS, MAX_RANGE_YEARS, type TrafficInterval } from '@gantry/contract/traffic';
import { DateTime } from 'luxon';
import { invalidInput } from '../platform/error.ts';
import { type Interval, resolveInterval } from '../platform/time.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;

/** How long the intervals of figures are, in minutes. */
export const minutesOf = { '5min': 5, '15min': 15, '60min': 60, day: 1_440 } as const satisfies Record<
  TrafficInterval,
  number
>;

const LATEST = Date.UTC(9000, 0);

/**
 * The range that a client gives.
 * @throws AppError `badRequest` when it ends before it starts, is longer than five years, or has too many points
 */
export const requireRange = (
  range: { startDate: string; endDate: string },
  zone: string,
  pointMinutes?: number,
): Interval => {
  const { from, until } = resolveInterval(range, zone);
  if (from < 0 || until > LATEST)
    throw invalidInput(
      'startDate',
      'Nothing was counted then: choose a range between the years 1970 and 9000',
    );
  const longest = DateTime.fromMillis(from, { zone }).plus({ years: MAX_RANGE_YEARS, days: 1 }).toMillis();
  if (until > longest)
    throw invalidInput('endDate', `The range is longer than ${MAX_RANGE_YEARS} years: choose a shorter one`);
  if (pointMinutes !== undefined && (until - from) / (pointMinutes * MINUTE_MS) > MAX_POINTS)
    throw invalidInput(
      'interval',
      `This would make more than ${MAX_POINTS} points: choose a longer interval or a shorter range`,
    );
  return { from, until };
};

/** The starts of the local days that the interval touches, and the end of the last one. */
const dayBounds = ({ from, until }: Interval, zone: string): number[] => {
  let day = DateTime.fromMillis(from, { zone }).startOf('day');
  const bounds = [day.toMillis()];
  while ((bounds.at(-1) ?? until) < until) {
    day = day.plus({ days: 1 }).startOf('day');
    bounds.push(day.toMillis());
  }
  return bounds;
};

/**
 * The intervals that a range touches, as their starts in order and the end of the last one, in Unix milliseconds.
 * They are counted from local midnight, so that a day has 23 or 25 hours where the clocks change.
 */
export const localBounds = (range: Interval, minutes: number, zone: string): number[] => {
  const days = dayBounds(range, zone);
  if (minutes * MINUTE_MS >= DAY_MS) return days;
  const step = minutes * MINUTE_MS;
  const starts = days.slice(0, -1).flatMap((start, n) => {
    const end = days[n + 1] ?? start;
    return Array.from({ length: Math.ceil((end - start) / step) }, (_, i) => start + i * step);
  });
  const all = [...starts, days.at(-1) ?? range.until];
  const first = all.findLastIndex((bound) => bound <= range.from);
  const last = all.findIndex((bound) => bound >= range.until);
  return all.slice(first, last + 1);
};
