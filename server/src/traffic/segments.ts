import { MINUTE_MS } from '@gantry/contract/durations';
import type { Interval } from '../platform/time.ts';

/** The lengths of the slots of traffic counts, in minutes. */
export type SlotMinutes = 5 | 15 | 60 | 1_440;

/** A part of a range that is read from slots of one length. */
export interface Segment extends Interval {
  readonly minutes: SlotMinutes;
}

/**
 * How a range is read: from slots, and from the periods of sensors that no slot contains. These count as well if they contain no
 * edge in their middle: what is between two edges is one figure.
 */
export interface ReadRange {
  /** In order, without gaps. */
  readonly segments: readonly Segment[];
  /** In order, with the start of the first segment and the end of the last one. */
  readonly edges: readonly number[];
}

/** The same with further edges, which no slot contains in its middle. @param moments on five minutes */
export function cutAt({ segments, edges }: ReadRange, moments: readonly number[]): ReadRange {
  const [from = 0, until = 0] = [edges[0], edges.at(-1)];
  const inside = moments.filter((at) => at > from && at < until);
  if (inside.length === 0) return { segments, edges };
  return {
    segments: cutSegments(segments, moments),
    edges: [...new Set([...edges, ...inside])].sort((a, b) => a - b),
  };
}

/** Whether anything that no slot contains can be between two edges. */
export function canCross({ segments, edges }: ReadRange): boolean {
  const shortest = Math.min(...segments.map(({ minutes }) => minutes)) * MINUTE_MS;
  return edges.some((edge, n) => edge - (edges[n - 1] ?? edge) > shortest);
}

/** Whether an interval is between two edges, and no slot contains it. */
export function isCrossing({ segments, edges }: ReadRange, { from, until }: Interval): boolean {
  const segment = segments.find((each) => from >= each.from && from < each.until);
  if (!segment || until <= floor(from, segment.minutes) + segment.minutes * MINUTE_MS) return false;
  const next = edges[indexOf(edges, from) + 1];
  return next !== undefined && until <= next;
}

/** Which of the intervals between successive bounds contains a time; the first or the last one if none does. */
export function indexOf(bounds: readonly number[], time: number): number {
  let [low, high] = [0, bounds.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  return low;
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
