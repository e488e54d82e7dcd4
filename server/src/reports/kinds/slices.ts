import { DAY_MS } from '@gantry/contract/durations';
import { divideByEvents } from '../../events/counts/totals.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import type { Batch, ReportScope, Row } from '../document.ts';

/** How far ahead of now an event may be dated, with a margin, in milliseconds. */
const AHEAD_MS = 600_000;

/** Maximum range of one statement, so that it reads few partitions. */
const SLICE_MS = 31 * DAY_MS;

/** The interval up to now and the margin above, because no event can be dated later. */
export function untilNow({ interval, now }: Pick<ReportScope, 'interval' | 'now'>): Interval {
  return {
    from: interval.from,
    until: Math.max(interval.from, Math.min(interval.until, now + AHEAD_MS)),
  };
}

/** The interval in parts of at most a month, each with as many events as one statement can read. */
export async function* slicesOf(db: Executor, { from, until }: Interval): AsyncGenerator<Interval> {
  for (let at = from; at < until; at += SLICE_MS)
    yield* await divideByEvents(db, { from: at, until: Math.min(until, at + SLICE_MS) });
}

/** The fraction of an interval before a time, from 0 to 1. */
export function shareBefore(moment: number, { from, until }: Interval): number {
  return until <= from ? 1 : Math.min(1, Math.max(0, (moment - from) / (until - from)));
}

/** The position of an item in reading order. */
export interface Place {
  readonly at: Date;
  readonly id: string;
}

/** Rows that are read in pages: each page begins after the last item of the previous one. */
export interface Paged<Item> {
  readonly take: number;
  readonly read: (after: Place | null, take: number) => Promise<Item[]>;
  readonly placeOf: (item: Item) => Place;
  readonly toRows: (items: readonly Item[]) => Promise<Row[]> | Row[];
  readonly progress: (place: Place) => number;
}

/** The rows of one page after another, until a page is not full. */
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
