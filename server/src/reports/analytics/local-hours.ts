import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { IANAZone } from 'luxon';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/groups.ts';
import type { Interval } from '../../platform/time.ts';
import { countByHour, countWithin, type HourRow } from './store.ts';

/**
 * Maximum number of events in the hours of which one statement counts parts: it has 5 s, and may read all of the
 * events.
 */
const EVENTS_AT_ONCE = 300_000;

/** Maximum number of these hours. */
const HOURS_AT_ONCE = 750;

/** An hour of UTC with events, and the part of it before the next local hour begins. */
export interface SplitHour {
  readonly row: HourRow;
  readonly before: Interval;
}

/**
 * Counts the events of an interval by local hour, in order. Where local hours do not begin with those of UTC, an hour
 * of UTC is split, and the events of its first part are counted one by one.
 */
export async function countByLocalHour(db: Executor, range: Interval, timezone: string): Promise<HourRow[]> {
  const zone = IANAZone.create(timezone);
  const hours = await countByHour(db, range);
  const split = splitHours(hours, range, zone);
  const parts = new Map<number, HourRow[]>();
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
        hour: Math.max(before.until, splitOf(row.hour, zone)),
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

/** The time at which a local hour begins within an hour of UTC; the end of that hour if both begin at the same time. */
function splitOf(hour: number, zone: IANAZone): number {
  const past = ((zone.offset(hour) % 60) + 60) % 60;
  return hour + HOUR_MS - past * MINUTE_MS;
}

/** Divides hours into groups, for each of which one statement counts parts. */
export function atOnce(split: readonly SplitHour[]): SplitHour[][] {
  const least = EVENTS_AT_ONCE / HOURS_AT_ONCE;
  return inPortions(split, EVENTS_AT_ONCE, ({ row }) => Math.max(least, row.total));
}

function splitHours(hours: readonly HourRow[], range: Interval, zone: IANAZone): SplitHour[] {
  return hours.flatMap((row) => {
    const split = splitOf(row.hour, zone);
    if (split === row.hour + HOUR_MS) return [];
    const from = Math.max(row.hour, range.from);
    return [{ row, before: { from, until: Math.max(from, Math.min(split, range.until)) } }];
  });
}
