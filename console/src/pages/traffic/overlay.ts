import { HOUR_MS } from '@gantry/contract/durations';
import type { FlowPoint } from '@gantry/contract/traffic';
import type { TimeFormat } from '../../shared/time/format.ts';

/** One position of a chart: an interval, and the interval that it is compared with. */
export interface Pair {
  readonly first: FlowPoint | null;
  readonly second: FlowPoint | null;
}

/** The positions of a chart without a comparison. */
export function alone(points: readonly FlowPoint[]): Pair[] {
  return points.map((first) => ({ first, second: null }));
}

/**
 * Aligns two periods by day, counted from the first day of each, and by time of day. An interval without a counterpart
 * stays unpaired, for example where a clock change skips or repeats its time of day in one of the periods.
 */
export function overlay(first: readonly FlowPoint[], second: readonly FlowPoint[], time: TimeFormat): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [key, point] of keyed(first, time)) pairs.set(key, { first: point, second: null });
  for (const [key, point] of keyed(second, time))
    pairs.set(key, { first: pairs.get(key)?.first ?? null, second: point });
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
}

/** An interval longer than this, in milliseconds, is a whole day. */
const WHOLE_DAY_MS = 20 * HOUR_MS;

/**
 * Gives each interval a key of its day, counted from the first one, its time of day, and whether that time occurs for
 * the second time on the day. The key of a whole day is the day alone: where the clocks change at midnight, a day
 * starts at 01:00.
 */
function keyed(points: readonly FlowPoint[], { zone, isoDay }: TimeFormat): [string, FlowPoint][] {
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const seen = new Set<string>();
  let day = -1;
  let last = '';
  return points.map((point) => {
    const today = isoDay(point.start);
    if (today !== last) day += 1;
    last = today;
    if (point.end.getTime() - point.start.getTime() > WHOLE_DAY_MS)
      return [String(day).padStart(5, '0'), point];
    const [hour, minute] = clock.format(point.start).split(':');
    const key = (turn: string) => `${String(day).padStart(5, '0')} ${hour}${turn}${minute}`;
    const isAgain = seen.has(key('a'));
    seen.add(key('a'));
    return [key(isAgain ? 'b' : 'a'), point];
  });
}
