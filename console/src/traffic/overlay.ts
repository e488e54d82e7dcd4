import { HOUR_MS } from '@gantry/contract/durations';
import type { FlowPoint } from '@gantry/contract/traffic';
import type { TimeFormat } from '../time/format.ts';

/** What stands at one position of a chart: an interval, and the one that it is compared with. */
export interface Pair {
  readonly first: FlowPoint | null;
  readonly second: FlowPoint | null;
}

/** The figures of one place alone. */
export function alone(points: readonly FlowPoint[]): Pair[] {
  return points.map((first) => ({ first, second: null }));
}

/**
 * Lays two periods over each other: the first days on each other, and the same times of day. A time that a day has only once
 * or not at all, because the clocks change, stands alone.
 */
export function overlay(first: readonly FlowPoint[], second: readonly FlowPoint[], time: TimeFormat): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const [key, point] of keyed(first, time)) pairs.set(key, { first: point, second: null });
  for (const [key, point] of keyed(second, time))
    pairs.set(key, { first: pairs.get(key)?.first ?? null, second: point });
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, pair]) => pair);
}

/** An interval as long as this is a whole day, in milliseconds. */
const WHOLE_DAY_MS = 20 * HOUR_MS;

/**
 * Names each interval by its day from the first one, its time of day, and whether that comes again on this day. A whole day
 * is named by itself: where the clocks change at midnight, one begins at 01:00.
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
