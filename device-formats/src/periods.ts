import type { ConnectionOptions } from '@gantry/contract/connections';
import { type CountPeriod, isPeriodLength, motorVehiclesOf, readPeriod } from '@gantry/contract/counts';
import type { ObservedPeriod } from './format.ts';

/** The interval of a count. */
export interface Interval {
  /** Unix milliseconds, inclusive. */
  readonly start: number;
  /** A divisor of a day. */
  readonly seconds: number;
}

/** An interval, or why a count of it cannot be read, as a sentence. */
export type IntervalFound = Interval | { readonly flaw: string };

/** The interval between two times in Unix milliseconds. Devices also name its last second or millisecond as its end. */
export function intervalBetween(start: number | null, end: number | null): IntervalFound {
  if (start === null || end === null) return { flaw: 'The counts do not name the interval that they are of' };
  const seconds = [0, 1_000, 1].map((ms) => (end + ms - start) / 1_000).find(isPeriodLength);
  if (seconds !== undefined) return { start, seconds };
  return {
    flaw: `The interval of ${Math.round((end - start) / 1_000)} s of a count is not a divisor of a day of at least 10 s, so that the count was not read`,
  };
}

/**
 * The interval that a single time stands for.
 * @param at Unix milliseconds
 * @param seconds the length that the message names; null for that of the connection
 * @param label which end of the interval the time is; null if the message does not say it
 * @param knownAt when the count was published or received, in Unix milliseconds: an interval is over by then
 */
export function intervalAt(
  at: number | null,
  seconds: number | null,
  label: 'START' | 'END' | null,
  knownAt: number,
  options: ConnectionOptions,
): IntervalFound {
  const length = seconds ?? options.periodSeconds ?? null;
  if (at === null) return { flaw: 'The counts have no time' };
  if (length === null) {
    return { flaw: 'The counts do not name the length of their interval: set the option periodSeconds' };
  }
  if (!isPeriodLength(length)) return intervalBetween(at, at + length * 1_000);
  const named = label ?? options.periodTime ?? (at + length * 1_000 > knownAt ? 'END' : 'START');
  return { start: named === 'END' ? at - length * 1_000 : at, seconds: length };
}

/** What a device counted, without its interval; absent fields were not measured. */
export type Counted = Partial<Omit<CountPeriod, 'start' | 'seconds'>>;

/** The count of an interval, or why it cannot be one, as a sentence. */
export type CountFound =
  | { readonly period: ObservedPeriod }
  | { readonly is: 'aggregate'; readonly note: string };

/** Makes the period of what a device counted in an interval. */
export function periodFound(
  device: readonly string[],
  interval: IntervalFound,
  counted: Counted,
): CountFound {
  if ('flaw' in interval) return { is: 'aggregate', note: interval.flaw };
  const { start, seconds } = interval;
  const read = readPeriod({ ...counted, start: new Date(start).toISOString(), seconds });
  return 'period' in read
    ? { period: { ...read.period, device } }
    : { is: 'aggregate', note: `A count was not read: ${read.error.message}` };
}

/**
 * Periods of which no two have the same key: senders report each class of vehicles in a count of its own. Of others with the
 * same key, the last one counts.
 */
export function joinedPeriods(periods: readonly ObservedPeriod[]): ObservedPeriod[] {
  const byKey = new Map<string, ObservedPeriod>();
  for (const period of periods) {
    const { device, direction, lane, movement, start, seconds } = period;
    const key = JSON.stringify([device, direction, lane, movement, start, seconds]);
    const before = byKey.get(key);
    byKey.set(key, (before && sumOf(before, period)) ?? period);
  }
  return [...byKey.values()];
}

/**
 * Two counts with the same key as one: the last count of each class. Means of some of the classes do not hold for all. Null if
 * they are not counts by class, or the other one has all classes of this one.
 */
function sumOf(one: ObservedPeriod, other: ObservedPeriod): ObservedPeriod | null {
  if (!one.byClass || !other.byClass || one.byClass.scheme !== other.byClass.scheme) return null;
  const counts = { ...one.byClass.counts, ...other.byClass.counts };
  if (Object.keys(counts).length === Object.keys(other.byClass.counts).length) return null;
  const byClass = { scheme: one.byClass.scheme, counts };
  return {
    ...other,
    volume: motorVehiclesOf(byClass),
    byClass,
    speed: undefined,
    meanHeadway: undefined,
    occupancy: undefined,
  };
}

/** The note of a reading with counts. */
export function countsRead(periods: readonly ObservedPeriod[]): string {
  return periods.length === 1
    ? 'The count of an interval was read'
    : `${periods.length} counts of intervals were read`;
}
