import { MINUTE_MS } from '@gantry/contract/durations';
import type { Interval } from '../platform/time.ts';

/** The lengths of the slots of traffic counts, in minutes. */
export type SlotMinutes = 5 | 15 | 60 | 1_440;

/** A part of a range that is read from slots of one length. */
export interface Segment extends Interval {
  readonly minutes: SlotMinutes;
}

/** Covers a range with the fewest slots: whole days in UTC, and shorter slots at the ends, which are rounded outwards. */
export function segmentsOf(range: Interval, lengths: readonly SlotMinutes[] = [1_440, 60, 15, 5]): Segment[] {
  const [minutes = 5, ...shorter] = lengths;
  if (shorter.length === 0)
    return [{ minutes, from: floor(range.from, minutes), until: ceil(range.until, minutes) }];
  const [from, until] = [ceil(range.from, minutes), floor(range.until, minutes)];
  if (from >= until) return segmentsOf(range, shorter);
  return [
    ...(range.from < from ? segmentsOf({ from: range.from, until: from }, shorter) : []),
    { minutes, from, until },
    ...(until < range.until ? segmentsOf({ from: until, until: range.until }, shorter) : []),
  ];
}

const LENGTHS: readonly SlotMinutes[] = [1_440, 60, 15, 5];

/** Above this number of cuts the statement would be too long, and everything is read in the shortest slots. */
const MAX_CUTS = 100;

/** The same segments in slots such that each of the times (on five minutes, in order) is a boundary between two of them. */
export function cutSegments(segments: readonly Segment[], moments: readonly number[]): Segment[] {
  return segments.flatMap((segment) => {
    const { from, until, minutes } = segment;
    const cuts = moments.filter((at) => at > from && at < until && at % (minutes * MINUTE_MS) !== 0);
    if (cuts.length === 0) return [segment];
    if (cuts.length > MAX_CUTS) return [{ minutes: 5, from, until }];
    const lengths = LENGTHS.filter((length) => length <= minutes);
    const bounds = [from, ...cuts, until];
    return bounds.slice(1).flatMap((end, n) => segmentsOf({ from: bounds[n] ?? from, until: end }, lengths));
  });
}

/** The parts of segments within some intervals, which begin and end on five minutes. */
export function partsWithin(segments: readonly Segment[], intervals: readonly Interval[]): Segment[] {
  return segments.flatMap((segment) =>
    intervals.flatMap((interval) => {
      const from = Math.max(segment.from, interval.from);
      const until = Math.min(segment.until, interval.until);
      if (from >= until) return [];
      if (from === segment.from && until === segment.until) return [segment];
      return segmentsOf(
        { from, until },
        LENGTHS.filter((length) => length <= segment.minutes),
      );
    }),
  );
}

/** The longest slots, up to an hour, that contain none of these times in their middle. */
export function slotsWithin(bounds: readonly number[]): SlotMinutes {
  return (
    ([60, 15] as const).find((minutes) => bounds.every((bound) => bound % (minutes * MINUTE_MS) === 0)) ?? 5
  );
}

function floor(time: number, minutes: number): number {
  return Math.floor(time / (minutes * MINUTE_MS)) * minutes * MINUTE_MS;
}

function ceil(time: number, minutes: number): number {
  return Math.ceil(time / (minutes * MINUTE_MS)) * minutes * MINUTE_MS;
}
