import { HOUR_MS } from '@gantry/contract/durations';
import type { Interval } from '../platform/time.ts';
import { type BinStatus, COMPLETE_COVERAGE, type Count, coveredOf, joinCounts, roundTo } from './bin.ts';
import { binsByDay, type DayOfBins, hoursOf, type LocalHour, MIN_HOUR_COVERAGE } from './local-hours.ts';

/** The volume of a local day. */
export interface DayVolume {
  /** YYYY-MM-DD */
  readonly date: string;
  /** Motor vehicles; null if nothing is known. */
  readonly volume: number | null;
  /** `VALID` exactly if the day is complete. */
  readonly status: BinStatus;
  /** Why the day is not complete; otherwise null. */
  readonly reason: string | null;
}

/** A mean over complete days; null without any. Its value is rounded to 0.001. */
export interface DailyMean {
  readonly value: number | null;
  /** The number of days. */
  readonly n: number;
}

export interface DailyVolumes {
  readonly days: DayVolume[];
  /** Of all days. */
  readonly adt: DailyMean;
  /** Of Mondays to Fridays that are not holidays. */
  readonly awdt: DailyMean;
  /** Of Saturdays and Sundays. */
  readonly weekendAdt: DailyMean;
  /** The days that are in no mean, because they are not complete. */
  readonly excluded: { readonly date: string; readonly reason: string }[];
}

/**
 * The volume of every local day in a range, and the means over complete days.
 * @param bins in order, from 15 minutes to an hour long
 * @param holidays as YYYY-MM-DD
 */
export function dailyVolumes(
  bins: readonly Count[],
  range: Interval,
  zone: string,
  holidays: ReadonlySet<string> = new Set(),
): DailyVolumes {
  const days = binsByDay(bins, range, zone).map((day) => dayVolume(day, zone));
  const isWeekend = ({ date }: DayVolume): boolean => WEEKEND.includes(weekdayOf(date));
  return {
    days,
    adt: meanOf(days),
    awdt: meanOf(days.filter(({ date }) => isWorkingDay(date, holidays))),
    weekendAdt: meanOf(days.filter(isWeekend)),
    excluded: days.flatMap(({ date, reason }) => (reason === null ? [] : [{ date, reason }])),
  };
}

/**
 * The volume of a day. A day is complete if at least 95 % of it and 75 % of each of its hours are known.
 * @param hours those of the day, if they are known already
 */
export function dayVolume(day: DayOfBins, zone: string, hours?: readonly LocalHour[]): DayVolume {
  const { day: date, bins } = day;
  if (bins.length === 0) return { date, volume: null, status: 'GAP', reason: NO_DATA };
  const { volume, status } = joinCounts(bins);
  const reason = REASONS[status] ?? lackOf(day, hours ?? hoursOf(day, zone));
  // An hour that is not known makes the day a partial one, even if that is less than 5 % of it.
  return { date, volume, status: status === 'VALID' && reason !== null ? 'PARTIAL' : status, reason };
}

const NO_DATA = 'No data';
const REASONS: Partial<Record<BinStatus, string>> = {
  PROVISIONAL: 'The day is not over',
  EXCLUDED: 'All data were rejected',
  GAP: NO_DATA,
  IMPUTED: 'A part of the volume is an estimate',
};

/** What is not known of a day; null if it is complete. */
function lackOf(day: DayOfBins, hours: readonly LocalHour[]): string | null {
  const { from, until, bins } = day;
  const coverage = coveredOf(bins) / (until - from);
  if (coverage < COMPLETE_COVERAGE) {
    const rejected = bins.filter(({ status }) => status === 'EXCLUDED');
    return rejected.length > 0
      ? `Only ${percent(coverage)} of the day is known: data of ${hoursWithin(rejected)} h were rejected`
      : `Only ${percent(coverage)} of the day is known`;
  }
  if (bins.reduce((sum, { start, end }) => sum + end - start, 0) < until - from) return 'An hour has no data';
  for (const { hour, coverage: known, hasLongGap = false } of hours) {
    if (known >= MIN_HOUR_COVERAGE && !hasLongGap) continue;
    const start = `${String(hour).padStart(2, '0')}:00`;
    return known < MIN_HOUR_COVERAGE
      ? `Only ${percent(known)} of the hour from ${start} is known`
      : `A gap in the hour from ${start} is too long for its usual volume (R2)`;
  }
  return null;
}

function hoursWithin(counts: readonly Count[]): number {
  return roundTo(counts.reduce((sum, { start, end }) => sum + end - start, 0) / HOUR_MS, 1);
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** The day of the week of a date YYYY-MM-DD: 0 is Sunday. */
export function weekdayOf(date: string): number {
  return new Date(date).getUTCDay();
}

const WEEKEND: readonly number[] = [0, 6];

/** Whether a date YYYY-MM-DD is from Monday to Friday and no holiday. */
export function isWorkingDay(date: string, holidays: ReadonlySet<string>): boolean {
  return !WEEKEND.includes(weekdayOf(date)) && !holidays.has(date);
}

function meanOf(days: readonly DayVolume[]): DailyMean {
  const volumes = days.flatMap(({ status, volume }) => (status === 'VALID' ? [volume ?? 0] : []));
  const n = volumes.length;
  return { value: n > 0 ? roundTo(volumes.reduce((sum, volume) => sum + volume, 0) / n, 3) : null, n };
}
