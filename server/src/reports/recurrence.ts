import { DAY_MS } from '@gantry/contract/durations';
import type { ReportPeriod } from '@gantry/contract/reports';
import { DateTime } from 'luxon';
import { atHour, type Interval, resolveInterval } from '../platform/time.ts';

/** The local times at which a schedule runs. */
export interface Recurrence {
  readonly every: ReportPeriod;
  /** 0 to 23. */
  readonly hour: number;
  /** From 0 Sunday to 6 Saturday; for WEEKLY. */
  readonly weekday: number | null;
  /** From 1 to 31, or the last day of shorter months; for MONTHLY. */
  readonly dayOfMonth: number | null;
}

/** Number of days that contain at least one run, with a margin for the shortest month. */
const MAX_WAIT = 64;

/** Days are represented by midnight in UTC, where each has 24 hours. */
const runsOn: Readonly<Record<ReportPeriod, (day: DateTime, recurrence: Recurrence) => boolean>> = {
  DAILY: () => true,
  WEEKLY: (day, { weekday }) => day.weekday % 7 === weekday,
  MONTHLY: (day, { dayOfMonth }) => day.day === Math.min(dayOfMonth ?? 1, day.daysInMonth ?? 31),
};

/** The first run after a time (both Unix milliseconds). */
export function nextRun(recurrence: Recurrence, timezone: string, after: number): number {
  for (const moment of runs(recurrence, timezone, dayOf(after, timezone).minus({ days: 1 }), 1)) {
    if (moment > after) return moment;
  }
  throw new Error(`A ${recurrence.every} schedule never runs: ${JSON.stringify(recurrence)}`);
}

/**
 * The next run after a change of the time zone. A run that was still to come, but whose hour has passed in the new zone,
 * is due at once, unless it was made already. All times are in Unix milliseconds.
 * @param planned the next run in the former zone
 * @param last the last run, if any
 */
export function nextRunInZone(
  recurrence: Recurrence,
  { planned, last = Number.NEGATIVE_INFINITY }: { planned: number; last: number | undefined },
  zones: { from: string; to: string },
  now: number,
): number {
  const sameDay = runOn(dayOf(planned, zones.from), recurrence, zones.to);
  const next = nextRun(recurrence, zones.to, now);
  return sameDay > last ? Math.min(sameDay, next) : next;
}

/** The last run up to a time (both Unix milliseconds). */
export function lastRun(recurrence: Recurrence, timezone: string, until: number): number {
  for (const moment of runs(recurrence, timezone, dayOf(until, timezone).plus({ days: 1 }), -1)) {
    if (moment <= until) return moment;
  }
  throw new Error(`A ${recurrence.every} schedule never ran: ${JSON.stringify(recurrence)}`);
}

const firstAndLast: Readonly<
  Record<ReportPeriod, (day: DateTime, firstDayOfWeek: number) => [DateTime, DateTime]>
> = {
  DAILY: (day) => [day.minus({ days: 1 }), day.minus({ days: 1 })],
  WEEKLY: (day, firstDayOfWeek) => {
    const thisWeek = day.minus({ days: (day.weekday - firstDayOfWeek + 7) % 7 });
    return [thisWeek.minus({ days: 7 }), thisWeek.minus({ days: 1 })];
  },
  MONTHLY: (day) => {
    const thisMonth = day.startOf('month');
    return [thisMonth.minus({ months: 1 }), thisMonth.minus({ days: 1 })];
  },
};

/**
 * The whole local day, week or month before the day of a run.
 * @param firstDayOfWeek from 0 Sunday to 6 Saturday
 */
export function periodBefore(
  recurrence: Recurrence,
  due: number,
  { timezone, firstDayOfWeek }: { timezone: string; firstDayOfWeek: number },
): Interval {
  const day = dayOf(due, timezone);
  const dayBefore = day.minus({ days: 1 });
  // Where clocks skip the last hour of a day, its run is at midnight.
  const dayOfRun = runOn(dayBefore, recurrence, timezone) === due ? dayBefore : day;
  const [first, last] = firstAndLast[recurrence.every](dayOfRun, firstDayOfWeek);
  return resolveInterval({ startDate: textOf(first), endDate: textOf(last) }, timezone);
}

function dayOf(moment: number, timezone: string): DateTime {
  const { year, month, day } = DateTime.fromMillis(moment, { zone: timezone });
  return DateTime.utc(year, month, day);
}

function textOf(day: DateTime): string {
  return day.toFormat('yyyy-MM-dd');
}

/** The run on a day. A skipped hour is moved to the next one; of one that occurs twice, the first is used. */
function runOn(day: DateTime, { hour }: Recurrence, timezone: string): number {
  return atHour(textOf(day), hour, timezone);
}

/** The runs (Unix milliseconds) on the days from `first`, with steps of 1 or -1 days. */
function* runs(recurrence: Recurrence, timezone: string, first: DateTime, step: 1 | -1): Generator<number> {
  for (let n = 0; n < MAX_WAIT; n++) {
    const day = DateTime.fromMillis(first.toMillis() + n * step * DAY_MS, { zone: 'utc' });
    if (runsOn[recurrence.every](day, recurrence)) yield runOn(day, recurrence, timezone);
  }
}
