import type { Interval } from '../../platform/time.ts';
import type { Batch, ReportScope, Row } from '../document.ts';

/** How far ahead of now an event may be dated, and a little more, in milliseconds. */
const AHEAD_MS = 600_000;

/** What one statement looks through at most, so that it stays short however rare is what it looks for. */
const SLICE_MS = 31 * 86_400_000;

/** The interval up to now, as nothing can have happened later. */
export function untilNow({ interval, now }: Pick<ReportScope, 'interval' | 'now'>): Interval {
  return {
    from: interval.from,
    until: Math.max(interval.from, Math.min(interval.until, now + AHEAD_MS)),
  };
}

/** The interval in parts of a month. */
export function* slicesOf({ from, until }: Interval): Generator<Interval> {
  for (let at = from; at < until; at += SLICE_MS) yield { from: at, until: Math.min(until, at + SLICE_MS) };
}

/** How much of an interval lies before a moment, from 0 to 1. */
export function shareBefore(moment: number, { from, until }: Interval): number {
  return until <= from ? 1 : Math.min(1, Math.max(0, (moment - from) / (until - from)));
}

/** An item's place in the order in which items are read. */
export interface Place {
  readonly at: Date;
  readonly id: string;
}

/** Rows read a page at a time: the next page begins behind the last item of the one before. */
export interface Paged<Item> {
  readonly take: number;
  readonly read: (after: Place | null, take: number) => Promise<Item[]>;
  readonly placeOf: (item: Item) => Place;
  readonly toRows: (items: readonly Item[]) => Promise<Row[]> | Row[];
  readonly progress: (place: Place) => number;
}

export async function* pagesOf<Item>(paged: Paged<Item>): AsyncGenerator<Batch> {
  for (let after: Place | null = null; ; ) {
    const items = await paged.read(after, paged.take);
    const last = items.at(-1);
    if (last === undefined) return;
    after = paged.placeOf(last);
    yield { rows: await paged.toRows(items), progress: paged.progress(after) };
    if (items.length < paged.take) return;
  }
}
