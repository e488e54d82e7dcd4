import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Interval } from '../../platform/time.ts';

/** The periods by which events are counted, in UTC, from the shortest to the longest. */
export const PERIODS = ['hour', 'day', 'month', 'year'] as const;
export type Period = (typeof PERIODS)[number];

/** The number of events in a period. */
export interface Count {
  /** Unix milliseconds. */
  readonly start: number;
  readonly n: number;
}

/** A part of an interval with the source of its count: the totals of whole periods, or the events themselves. */
export interface Piece extends Interval {
  readonly source: Period | 'events';
  /** Whether the count is added or subtracted. */
  readonly sign: 1 | -1;
}

/** The start of the period that contains a time (Unix milliseconds). Infinite times are returned unchanged. */
export function startOf(period: Period, time: number): number {
  if (!Number.isFinite(time)) return time;
  if (period === 'hour') return Math.floor(time / HOUR_MS) * HOUR_MS;
  if (period === 'day') return Math.floor(time / DAY_MS) * DAY_MS;
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), period === 'month' ? date.getUTCMonth() : 0);
}

/** The start of the next period after the one that contains a time. */
export function endOf(period: Period, time: number): number {
  const start = startOf(period, time);
  if (!Number.isFinite(time)) return time;
  if (period === 'hour') return start + HOUR_MS;
  if (period === 'day') return start + DAY_MS;
  const date = new Date(start);
  if (period === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return Date.UTC(date.getUTCFullYear() + 1, 0);
}

/**
 * Joins adjacent periods.
 * @param starts of the periods, in order
 * @param whole the interval to which the result is cut
 */
export function runsOf(period: Period, starts: readonly number[], whole: Interval): Interval[] {
  const runs: { from: number; until: number }[] = [];
  for (const start of starts) {
    const last = runs.at(-1);
    if (last?.until === start) last.until = endOf(period, start);
    else runs.push({ from: start, until: endOf(period, start) });
  }
  return runs
    .map(({ from, until }) => ({ from: Math.max(whole.from, from), until: Math.min(whole.until, until) }))
    .filter(({ from, until }) => from < until);
}

/** The way to count an interval. */
export interface Covering {
  /** Pieces whose counts add up to that of the interval. */
  readonly pieces: readonly Piece[];
  /** The whole hours within it, for which counts that are not rolled up yet must be added. Null when there are none. */
  readonly hours: Interval | null;
}

/**
 * Covers an interval with as few reads as possible: years, then months, days and hours at both ends, then events. At
 * each end the shorter way is taken: the part is added, or the whole period is added and the rest of it subtracted,
 * so that no more than half a period is read.
 */
export function cover(interval: Interval): Covering {
  if (interval.from >= interval.until) return { pieces: [], hours: null };
  const hours = { from: nearestStart('hour', interval.from), until: nearestStart('hour', interval.until) };
  return {
    pieces: coverBy('events', PERIODS, interval),
    hours: hours.from < hours.until ? hours : null,
  };
}

function nearestStart(period: Period, time: number): number {
  const [start, end] = [startOf(period, time), endOf(period, time)];
  return time - start <= end - time ? start : end;
}

/** From one time to another; subtracted when the second one is earlier. */
function between(source: Piece['source'], from: number, until: number): Piece[] {
  if (from === until) return [];
  return from < until ? [{ source, from, until, sign: 1 }] : [{ source, from: until, until: from, sign: -1 }];
}

function coverBy(source: Piece['source'], longer: readonly Period[], { from, until }: Interval): Piece[] {
  const [next, ...rest] = longer;
  if (next === undefined) return between(source, from, until);
  const inner = { from: nearestStart(next, from), until: nearestStart(next, until) };
  if (inner.from >= inner.until) return between(source, from, until);
  return [
    ...between(source, from, inner.from),
    ...coverBy(next, rest, inner),
    ...between(source, inner.until, until),
  ];
}
