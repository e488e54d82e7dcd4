import type { Analytics, AnalyticsInterval } from '@gantry/contract/analytics';
import { DAY_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import { type Interval, weekBounds } from '../../platform/time.ts';
import { localBounds } from '../../traffic/range.ts';
import type { Concern } from './counts.ts';
import type { HourRow } from './store.ts';

/** The default interval of a series, chosen for a reasonable number of points. */
export function usualInterval({ from, until }: Interval): AnalyticsInterval {
  const days = (until - from) / DAY_MS;
  if (days <= 3) return 'hour';
  return days <= 120 ? 'day' : 'week';
}

/** The shortest duration of such an interval, in minutes. */
export const minutesOf = { hour: 60, day: 1_440, week: 7 * 1_440 } as const satisfies Record<
  AnalyticsInterval,
  number
>;

/**
 * Counts of hours, or of parts of them, as a series of local hours, days or weeks, including those without events.
 * @param isGone whether events of this kind were removed from a point, so that its count is unknown
 */
export function seriesOf(
  hours: readonly HourRow[],
  range: Interval,
  interval: AnalyticsInterval,
  { timezone, firstDayOfWeek }: { timezone: string; firstDayOfWeek: number },
  isGone: (point: Interval, concern?: Concern) => boolean,
): Analytics['series'] {
  const bounds =
    interval === 'week'
      ? weekBounds(range, timezone, firstDayOfWeek)
      : localBounds(range, minutesOf[interval], timezone);
  const points = bounds.slice(0, -1).map((start, n) => ({
    start: new Date(start),
    end: new Date(bounds[n + 1] ?? start),
    total: 0,
    violations: 0,
  }));
  let at = 0;
  for (const { hour, total, violations } of hours) {
    while (at < points.length - 1 && hour >= (bounds[at + 1] ?? 0)) at++;
    const point = points[at];
    if (!point) continue;
    point.total += total;
    point.violations += violations;
  }
  return points.map((point) => {
    const within = {
      from: Math.max(range.from, point.start.getTime()),
      until: Math.min(range.until, point.end.getTime()),
    };
    return {
      ...point,
      total: isGone(within) ? null : point.total,
      violations: isGone(within, ({ mayHoldViolations }) => mayHoldViolations) ? null : point.violations,
    };
  });
}

/** Counts of hours by the hour of the local week. */
export function weekOf(hours: readonly HourRow[], zone: string): Analytics['hourOfWeek'] {
  const week = [0, 1, 2, 3, 4, 5, 6].map((weekday) => ({ weekday, hours: new Array<number>(24).fill(0) }));
  for (const { hour, total } of hours) {
    const local = DateTime.fromMillis(hour, { zone });
    const day = week[local.weekday % 7];
    if (day) day.hours[local.hour] = (day.hours[local.hour] ?? 0) + total;
  }
  return week;
}

/**
 * The last part of an interval that contains at most the given number of events, in whole hours; at least its last hour
 * with events.
 */
export function lastEventsOf(hours: readonly HourRow[], range: Interval, most: number): Interval {
  let sum = 0;
  let from = range.until;
  for (const { hour, total } of [...hours].reverse()) {
    sum += total;
    if (sum > most && from < range.until) return { from: Math.max(range.from, from), until: range.until };
    from = hour;
  }
  return range;
}
