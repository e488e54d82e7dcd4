import type { Interval } from '../platform/time.ts';
import { type BinStatus, COMPLETE_COVERAGE, type Count, type Figure, roundTo } from './bin.ts';
import { dayVolume, weekdayOf } from './daily.ts';
import { binsByDay, type DayOfBins, hoursOf, isUsableHour, type LocalHour } from './local-hours.ts';

// Annual average daily traffic by the methods of the Traffic Monitoring Guide (FHWA), AASHTO, and the simple mean, and
// what follows from it. Weekdays are 0 (Sunday) to 6.

/** A month by hour of the week, with weekday · 24 + hour as the index, and its complete days by weekday. */
export interface MonthOfHours {
  readonly year: number;
  /** 1 to 12 */
  readonly month: number;
  /** Motor vehicles in the usable hours. */
  readonly sums: readonly number[];
  /** The numbers of usable hours. */
  readonly hours: readonly number[];
  /** Motor vehicles on the complete days. */
  readonly daySums: readonly number[];
  /** The numbers of complete days. */
  readonly days: readonly number[];
}

export type AnnualMethod = 'FHWA' | 'AASHTO' | 'SIMPLE';

export interface AnnualOptions {
  /** How many months may lack hours (FHWA) or weekdays (AASHTO): then the figure is provisional. */
  readonly allowMissing?: 0 | 1;
  /** Whether the year is over. */
  readonly isOver?: boolean;
}

/** Annual average daily traffic, rounded to 0.001 vehicles a day. `n` is the number of months or, of the mean, days. */
export interface Aadt extends Figure {
  readonly method: AnnualMethod;
  /** As it is published: to 10 vehicles below 1,000, and to 100 from there. */
  readonly published: number | null;
  /** The average daily traffic of each month (FHWA); null where an hour of the week is not known. */
  readonly months: { readonly month: number; readonly value: number | null }[];
}

/** The smallest number of complete days of which a simple mean is annual. */
const MIN_DAYS = 350;
const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const;
const MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;

/** A day with its hours of which bins are known. */
interface DayOfHours {
  readonly day: DayOfBins;
  readonly hours: readonly LocalHour[];
}

function hoursByDay(bins: readonly Count[], range: Interval, zone: string): DayOfHours[] {
  return binsByDay(bins, range, zone).map((day) => ({ day, hours: hoursOf(day, zone) }));
}

/**
 * The twelve months of a year.
 * @param bins in order, from 15 minutes to an hour long
 */
export function monthsOf(bins: readonly Count[], year: number, zone: string): MonthOfHours[] {
  const [first, last] = [bins[0], bins.at(-1)];
  const days = first && last ? hoursByDay(bins, { from: first.start, until: last.end }, zone) : [];
  return monthsOfDays(days, year, zone);
}

function monthsOfDays(days: readonly DayOfHours[], year: number, zone: string): MonthOfHours[] {
  const months = MONTHS.map((month) => ({
    year,
    month,
    sums: zeros(168),
    hours: zeros(168),
    daySums: zeros(7),
    days: zeros(7),
  }));
  for (const { day, hours } of days) {
    const month = day.day.startsWith(String(year)) ? months[Number(day.day.slice(5, 7)) - 1] : undefined;
    if (!month) continue;
    const weekday = weekdayOf(day.day);
    const whole = dayVolume(day, zone, hours);
    if (whole.status === 'VALID') {
      add(month.daySums, weekday, whole.volume ?? 0);
      add(month.days, weekday, 1);
    }
    for (const hour of hours)
      if (isUsableHour(hour)) {
        add(month.sums, weekday * 24 + hour.hour, hour.volume ?? 0);
        add(month.hours, weekday * 24 + hour.hour, 1);
      }
  }
  return months;
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function add(sums: number[], index: number, part: number): void {
  sums[index] = (sums[index] ?? 0) + part;
}

/** What the figures of a year need of its hours. */
export interface YearOfHours {
  /** The twelve. */
  readonly months: readonly MonthOfHours[];
  /** The 100 hours with most vehicles, in descending order; of equal ones, the first. */
  readonly busiest: readonly { readonly start: Date; readonly volume: number }[];
  /** The time of the hours that are valid, in milliseconds. */
  readonly validMs: number;
}

/**
 * The hours of a local year as far as its figures need them.
 * @param bins in order, from 15 minutes to an hour long
 * @param range the year
 */
export function yearOf(
  bins: readonly Count[],
  { year, ...range }: Interval & { readonly year: number },
  zone: string,
): YearOfHours {
  const days = hoursByDay(bins, range, zone);
  return { months: monthsOfDays(days, year, zone), ...busiestHours(days) };
}

/** The number of hours that design hours need. */
const MAX_BUSIEST = 100;

function busiestHours(days: readonly DayOfHours[]): Pick<YearOfHours, 'busiest' | 'validMs'> {
  const valid = days.flatMap(({ hours }) => hours.filter(({ status }) => status === 'VALID'));
  // Of thousands of hours, only those that may be among the first are sorted.
  const least =
    Float64Array.from(valid, ({ volume }) => volume ?? 0)
      .sort()
      .at(-MAX_BUSIEST) ?? 0;
  const busiest = valid
    .filter(({ volume }) => (volume ?? 0) >= least)
    .sort((a, b) => (b.volume ?? 0) - (a.volume ?? 0) || a.start - b.start)
    .slice(0, MAX_BUSIEST)
    .map(({ start, volume }) => ({ start: new Date(start), volume: volume ?? 0 }));
  return { busiest, validMs: sumOf(valid.map(({ start, end }) => end - start)) };
}

/** The average volume of a weekday in a month: the sum of the means of its hours; null if one is not known. */
function weekdayMean({ sums, hours }: MonthOfHours, weekday: number): number | null {
  let mean = 0;
  for (let index = weekday * 24; index < weekday * 24 + 24; index++) {
    const n = hours[index] ?? 0;
    if (n === 0) return null;
    mean += (sums[index] ?? 0) / n;
  }
  return mean;
}

function daysIn({ year, month }: Pick<MonthOfHours, 'year' | 'month'>): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/**
 * Monthly average daily traffic (FHWA): the averages of the weekdays, each weighted with how often it occurs in the
 * month; null if one of the 168 hours of the week is not known.
 */
export function madt(month: MonthOfHours): number | null {
  const length = daysIn(month);
  const first = new Date(Date.UTC(month.year, month.month - 1, 1)).getUTCDay();
  let sum = 0;
  for (const weekday of WEEKDAYS) {
    const mean = weekdayMean(month, weekday);
    if (mean === null) return null;
    sum += mean * Math.ceil((length - ((weekday - first + 7) % 7)) / 7);
  }
  return sum / length;
}

/** A month with its average daily traffic (FHWA) in place of its hours. */
export interface MonthOfDays extends Pick<MonthOfHours, 'year' | 'month' | 'daySums' | 'days'> {
  readonly mean: number | null;
}

/** Annual average daily traffic. @param hours the twelve months of a year */
export function aadt(
  hours: readonly MonthOfHours[],
  method: AnnualMethod,
  options: AnnualOptions = {},
): Aadt {
  return aadtOf(
    hours.map((month) => ({ ...month, mean: madt(month) })),
    method,
    options,
  );
}

/** The same of months whose averages are known. */
export function aadtOf(
  months: readonly MonthOfDays[],
  method: AnnualMethod,
  { allowMissing = 0, isOver = true }: AnnualOptions = {},
): Aadt {
  const found = METHODS[method](months, allowMissing);
  const value = found.value === null ? null : roundTo(found.value, 3);
  return {
    method,
    value,
    n: found.n,
    status: value === null ? 'INSUFFICIENT' : isOver && found.reason === null ? 'VALID' : 'PROVISIONAL',
    reason: found.reason ?? (isOver ? null : 'The year is not over'),
    published: value === null ? null : publishedVolume(value),
    months: months.map(({ month, mean }) => ({ month, value: mean === null ? null : roundTo(mean, 3) })),
  };
}

type Found = Pick<Figure, 'value' | 'n' | 'reason'>;

const METHODS: Record<AnnualMethod, (months: readonly MonthOfDays[], allowMissing: number) => Found> = {
  FHWA: (months, allowMissing) => {
    const known = months.flatMap(({ mean, ...month }) =>
      mean === null ? [] : [{ days: daysIn(month), mean }],
    );
    const lacking = months.filter(({ mean }) => mean === null).map(({ month }) => month);
    const days = known.reduce((sum, each) => sum + each.days, 0);
    const sum = known.reduce((all, each) => all + each.days * each.mean, 0);
    return foundIn(sum / days, lacking, allowMissing, 'an hour of the week is not known');
  },
  AASHTO: (months, allowMissing) => {
    const lacking = months.filter(({ days }) => days.some((n) => n === 0)).map(({ month }) => month);
    const means = WEEKDAYS.map((weekday) =>
      meanOf(
        months.flatMap(({ days, daySums }) => {
          const n = days[weekday] ?? 0;
          return n === 0 ? [] : [(daySums[weekday] ?? 0) / n];
        }),
      ),
    );
    return foundIn(meanOf(means), lacking, allowMissing, 'a weekday has no complete day');
  },
  SIMPLE: (months) => {
    const n = sumOf(months.flatMap(({ days }) => days));
    if (n < MIN_DAYS)
      return { value: null, n, reason: `${n} days are complete, and the mean needs ${MIN_DAYS}` };
    return { value: sumOf(months.flatMap(({ daySums }) => daySums)) / n, n, reason: null };
  },
};

function foundIn(value: number, lacking: readonly number[], allowed: number, because: string): Found {
  const n = 12 - lacking.length;
  const reason = lacking.length > 0 ? `In month ${lacking.join(', ')}, ${because}` : null;
  return { value: lacking.length > allowed ? null : value, n, reason };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

/** A volume as it is published: to 10 vehicles below 1,000, and to 100 from there. */
export function publishedVolume(volume: number): number {
  const unit = volume < 1_000 ? 10 : 100;
  return Math.round(volume / unit) * unit;
}

export interface Factors {
  /** AADT / MADT, by month. */
  readonly months: { readonly month: number; readonly factor: number | null }[];
  /** AADT / the average volume of the weekday in the year. */
  readonly weekdays: { readonly weekday: number; readonly factor: number | null }[];
  /** AADT / the average volume of the weekday in the month. */
  readonly combined: {
    readonly month: number;
    readonly weekday: number;
    readonly factor: number | null;
  }[];
}

/** The factors by which short counts become annual ones, rounded to 0.001. @param annual AADT; null if not known */
export function factorsOf(months: readonly MonthOfHours[], annual: number | null): Factors {
  const factor = (mean: number | null): number | null =>
    annual === null || mean === null || mean === 0 ? null : roundTo(annual / mean, 3);
  return {
    months: months.map((month) => ({ month: month.month, factor: factor(madt(month)) })),
    weekdays: WEEKDAYS.map((weekday) => {
      const means = months.flatMap((month) => weekdayMean(month, weekday) ?? []);
      return { weekday, factor: means.length === months.length ? factor(meanOf(means)) : null };
    }),
    combined: months.flatMap((month) =>
      WEEKDAYS.map((weekday) => ({
        month: month.month,
        weekday,
        factor: factor(weekdayMean(month, weekday)),
      })),
    ),
  };
}

/** The mean of a factor over the stations of a group, and its coefficient of variation; null without (enough) stations. */
export function groupFactor(factors: readonly (number | null)[]): {
  readonly mean: number | null;
  readonly cv: number | null;
  readonly n: number;
} {
  const known = factors.filter((factor) => factor !== null);
  const n = known.length;
  if (n === 0) return { mean: null, cv: null, n };
  const mean = meanOf(known);
  const sd = Math.sqrt(sumOf(known.map((factor) => (factor - mean) ** 2)) / (n - 1));
  return { mean: roundTo(mean, 3), cv: n > 1 ? roundTo(sd / mean, 3) : null, n };
}

export interface DesignHours {
  /** The busiest hours of the year (`YearOfHours`). */
  readonly hours: { readonly start: Date; readonly volume: number }[];
  /** The 30th, 50th and 100th of them, divided by AADT. */
  readonly k30: number | null;
  readonly k50: number | null;
  readonly k100: number | null;
  /** The share of the hours of the range that are valid, from 0 to 1. */
  readonly validHours: number;
  readonly status: BinStatus;
  readonly reason: string | null;
}

/**
 * The design hours of a year.
 * @param bins in order, from 15 minutes to an hour long
 * @param range the year
 * @param annual AADT; null if not known
 */
export function designHours(
  bins: readonly Count[],
  range: Interval,
  zone: string,
  annual: number | null,
): DesignHours {
  return designHoursOf(busiestHours(hoursByDay(bins, range, zone)), range, annual);
}

/** The same of a year of which the busiest hours are known. */
export function designHoursOf(
  { busiest, validMs }: Pick<YearOfHours, 'busiest' | 'validMs'>,
  range: Interval,
  annual: number | null,
): DesignHours {
  const hours = [...busiest];
  const validHours = validMs / (range.until - range.from);
  const reason =
    validHours < COMPLETE_COVERAGE
      ? `${Math.floor(validHours * 100)} % of the hours are valid, and design hours need 95 %`
      : annual === null
        ? 'The annual average is not known'
        : null;
  const k = (rank: number): number | null =>
    reason === null && annual ? roundTo((hours[rank - 1]?.volume ?? 0) / annual, 4) : null;
  return {
    hours,
    k30: k(30),
    k50: k(50),
    k100: k(100),
    validHours: roundTo(validHours, 4),
    status: reason === null ? 'VALID' : 'INSUFFICIENT',
    reason,
  };
}

/**
 * The design hour volume AADT · K, and with the share of the heavier direction the directional one, AADT · K · D; from
 * 1,000 vehicles with two significant digits.
 */
export function designHourVolume(annual: number, k: number, d = 1): number {
  const volume = annual * k * d;
  const unit = volume < 1_000 ? 1 : 10 ** (Math.floor(Math.log10(volume)) - 1);
  return Math.round(volume / unit) * unit;
}
