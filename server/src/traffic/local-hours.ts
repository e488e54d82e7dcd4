import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { dayBounds, type Interval, type LocalDay, localDays, offsetsOf } from '../platform/time.ts';
import { type Count, joinCounts } from './bin.ts';

/** A local day with the bins that begin in it. */
export interface DayOfBins<Each extends Count = Count> extends LocalDay {
  readonly bins: readonly Each[];
}

/** Every local day that overlaps a range, from midnight to midnight. @param bins in order, not longer than an hour */
export function binsByDay<Each extends Count>(
  bins: readonly Each[],
  range: Interval,
  zone: string,
): DayOfBins<Each>[] {
  const bounds = dayBounds(range, zone);
  const whole = { from: bounds[0] ?? range.from, until: bounds.at(-1) ?? range.until };
  let next = bins.findIndex(({ start }) => start >= whole.from);
  if (next === -1) next = bins.length;
  return [...localDays(whole, zone)].map((day) => {
    const first = next;
    while (next < bins.length && (bins[next]?.start ?? day.until) < day.until) next++;
    return { ...day, bins: bins.slice(first, next) };
  });
}

/**
 * What clocks show during a local day: the minute of the day, from 0 to 1,439, and how far clocks were set forward since
 * the day began, in minutes.
 */
export function clockOf(
  { from, until }: Interval,
  zone: string,
): (time: number) => { minute: number; moved: number } {
  if (until - from === DAY_MS) return (time) => ({ minute: (time - from) / MINUTE_MS, moved: 0 });
  const offsetAt = offsetsOf(zone);
  const offset = offsetAt(from);
  return (time) => {
    const current = offsetAt(time);
    const local = time + current * MINUTE_MS;
    return { minute: (((local % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS, moved: current - offset };
  };
}

/** An hour that clocks show, with the counts of its bins as one. An hour that a change of clocks cuts or repeats is two. */
export interface LocalHour extends Count {
  /** From 0 to 23. */
  readonly hour: number;
}

/** The hours of a day of which bins are known. */
export function hoursOf(day: DayOfBins, zone: string): LocalHour[] {
  const clock = clockOf(day, zone);
  const hours: { hour: number; moved: number; bins: Count[] }[] = [];
  for (const bin of day.bins) {
    const { minute, moved } = clock(bin.start);
    const hour = Math.floor(minute / 60);
    const last = hours.at(-1);
    if (last?.hour === hour && last.moved === moved) last.bins.push(bin);
    else hours.push({ hour, moved, bins: [bin] });
  }
  return hours.map(({ hour, bins }) => {
    // Not copied with `...`, which takes several times as long for the hours of a year.
    const { start, end, status, coverage, volume, hasLongGap = false } = joinCounts(bins);
    return { start, end, status, coverage, volume, hasLongGap, hour };
  });
}

/** The coverage from which an hour is used. */
export const MIN_HOUR_COVERAGE = 0.75;

/** Whether an hour is over and known well enough for an hour of the week: whole, covered by at least 75 %, and without a long gap. */
export function isUsableHour({ start, end, status, coverage, hasLongGap = false }: Count): boolean {
  return (
    end - start === HOUR_MS &&
    coverage >= MIN_HOUR_COVERAGE &&
    (status === 'VALID' || status === 'PARTIAL') &&
    !hasLongGap
  );
}
