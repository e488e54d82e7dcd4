import type { Analytics, AnalyticsInterval } from '@gantry/contract/analytics';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { countByHour, type HourCount } from '../../events/counts/totals.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/groups.ts';
import { type Interval, offsetsOf, weekBounds } from '../../platform/time.ts';
import { localBounds } from '../../traffic/range.ts';
import type { Concern } from './counts.ts';
import { countWithin } from './store.ts';

/**
 * Maximum number of events in the hours of which one statement counts parts: it has 5 s, and may read all of the
 * events.
 */
const EVENTS_AT_ONCE = 300_000;

/** Maximum number of these hours. */
const HOURS_AT_ONCE = 750;

/** An hour of UTC with events, and the part of it before the next local hour begins. */
interface SplitHour {
  readonly row: HourCount;
  readonly before: Interval;
}

/**
 * Counts the events of an interval by local hour, in order. Where local hours do not begin with those of UTC, an hour
 * of UTC is split, and the events of its first part are counted one by one.
 */
export async function countByLocalHour(
  db: Executor,
  range: Interval,
  timezone: string,
): Promise<HourCount[]> {
  const offsetAt = offsetsOf(timezone);
  const hours = await countByHour(db, range);
  const split = splitHours(hours, range, offsetAt);
  const parts = new Map<number, HourCount[]>();
  for (const some of atOnce(split)) {
    const counts = await countWithin(
      db,
      some.map(({ before }) => before),
    );
    for (const [n, { row, before }] of some.entries()) {
      const { total = 0, violations = 0 } = counts[n] ?? {};
      // Events stored between the two statements are in only one of them.
      const first = {
        hour: row.hour,
        total: Math.min(total, row.total),
        violations: Math.min(violations, row.violations),
      };
      const rest = {
        hour: Math.max(before.until, splitOf(row.hour, offsetAt)),
        total: row.total - first.total,
        violations: row.violations - first.violations,
      };
      parts.set(
        row.hour,
        [first, rest].filter((part) => part.total > 0),
      );
    }
  }
  return hours.flatMap((row) => parts.get(row.hour) ?? [row]);
}

type OffsetAt = ReturnType<typeof offsetsOf>;

/** The time at which a local hour begins within an hour of UTC; the end of that hour if both begin at the same time. */
function splitOf(hour: number, offsetAt: OffsetAt): number {
  const past = ((offsetAt(hour) % 60) + 60) % 60;
  return hour + HOUR_MS - past * MINUTE_MS;
}

/** Divides hours into groups, for each of which one statement counts parts. */
export function atOnce(split: readonly SplitHour[]): SplitHour[][] {
  const least = EVENTS_AT_ONCE / HOURS_AT_ONCE;
  return inPortions(split, EVENTS_AT_ONCE, ({ row }) => Math.max(least, row.total));
}

function splitHours(hours: readonly HourCount[], range: Interval, offsetAt: OffsetAt): SplitHour[] {
  return hours.flatMap((row) => {
    const split = splitOf(row.hour, offsetAt);
    if (split === row.hour + HOUR_MS) return [];
    const from = Math.max(row.hour, range.from);
    return [{ row, before: { from, until: Math.max(from, Math.min(split, range.until)) } }];
  });
}

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
  hours: readonly HourCount[],
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
export function weekOf(hours: readonly HourCount[], zone: string): Analytics['hourOfWeek'] {
  const week = [0, 1, 2, 3, 4, 5, 6].map((weekday) => ({ weekday, hours: new Array<number>(24).fill(0) }));
  const offsetAt = offsetsOf(zone);
  for (const { hour, total } of hours) {
    const local = new Date(hour + offsetAt(hour) * MINUTE_MS);
    const counts = week[local.getUTCDay()]?.hours;
    if (counts) counts[local.getUTCHours()] = (counts[local.getUTCHours()] ?? 0) + total;
  }
  return week;
}

/**
 * The last part of an interval that contains at most the given number of events, in whole hours; at least its last hour
 * with events.
 */
export function lastEventsOf(hours: readonly HourCount[], range: Interval, most: number): Interval {
  let sum = 0;
  let from = range.until;
  for (const { hour, total } of [...hours].reverse()) {
    sum += total;
    if (sum > most && from < range.until) return { from: Math.max(range.from, from), until: range.until };
    from = hour;
  }
  return range;
}
