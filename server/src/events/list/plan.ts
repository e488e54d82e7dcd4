import type { ListEventsInput } from '@gantry/contract/events';
import type { Interval } from '../../platform/time.ts';
import { type Count, runsOf, startOf } from '../counts/covering.ts';
import type { ListFilters, TotalledFilter } from './filters.ts';

// Decides how a page of the list is read, from what was asked for and from the counts of matching events. It knows no
// database: server/test/list-plan.test.ts is its table.

export type Direction = 'asc' | 'desc';
export type SortBy = ListEventsInput['sortBy'];

/** A part of a list: an offset and a number of items. */
export interface Window {
  readonly skip: number;
  readonly take: number;
}

/** Up to this offset an index is read from its end instead of seeking in the counts. */
const NEAR = 1_000;

/**
 * Up to this number of matching events all are read and sorted by arrival; if there are more, a scan of the index soon
 * finds enough.
 */
const FEW_TO_SORT = 5_000;

/** The same for events that were counted one by one, instead of trusting the planner's estimate. */
const FEW_TO_SORT_OF_SEARCH = 20_000;

/** Matching events of one kind; of all kinds, unless the list is sorted by kind. */
export interface Group {
  /** The filter for the kind, and its place in the order of kinds: a type, or a rank of severity (0: none). */
  readonly kind: { readonly key: string | number; readonly filter: TotalledFilter } | null;
  /** The number of events in each year, in order. */
  readonly years: readonly Count[];
}

/** What is known of the matching events before a page is planned. */
export type Counted = {
  /** The parts of the interval that contain the events. */
  readonly spans: readonly Interval[];
} & (
  | {
      /** Counted by the totals. */
      readonly by: 'totals';
      /** In ascending order of their keys. */
      readonly groups: readonly Group[];
    }
  | {
      /** Counted one by one, because the totals do not have the filters. */
      readonly by: 'events';
      /** Null when they were not counted. */
      readonly total: number | null;
      /** Whether the index that finds them has them in the order of time. */
      readonly isInOrder: boolean;
    }
);

/** How a part of a page is read in an order, from one end of the list. */
export interface Reading extends Window {
  readonly sortBy: SortBy;
  readonly direction: Direction;
  /** Whether the events are in reverse order then. */
  readonly isReversed: boolean;
}

/** Ranks of a list in ascending order of time (from 0, the earliest), to be read in a direction. */
export interface Ranks {
  readonly first: number;
  readonly last: number;
  readonly direction: Direction;
}

/** One step of a plan. */
export type Step =
  /** Reads the index of an order, within parts of the interval. */
  | {
      readonly by: 'index';
      readonly filters: readonly TotalledFilter[];
      readonly spans: readonly Interval[];
      readonly reading: Reading;
    }
  /** Seeks the hours with some ranks in the totals, from the years on, and reads these hours. */
  | {
      readonly by: 'hours';
      readonly filters: readonly TotalledFilter[];
      readonly years: readonly Count[];
      readonly ranks: Ranks;
    }
  /** Seeks the hours in which the events of some ranks arrived, and reads these hours in the order of arrival. */
  | { readonly by: 'arrivals'; readonly spans: readonly Interval[]; readonly ranks: Ranks };

/** How a page is read. */
export type Plan =
  /** Step by step. */
  | { readonly by: 'steps'; readonly total: number; readonly steps: readonly Step[] }
  /** Finds all matching events, counts and sorts them. */
  | { readonly by: 'sorting'; readonly spans: readonly Interval[] }
  /** The same in the hours that contain events, which the totals give. */
  | { readonly by: 'sorting hours'; readonly years: readonly Count[]; readonly total: number };

/** The fields of a list that decide on its plan. */
type Asked = Pick<ListFilters, 'filters' | 'interval'> & {
  readonly input: Window & { readonly sortBy: SortBy; readonly sortOrder: Direction };
};

/** Plans a page. */
export function planPage(asked: Asked, counted: Counted): Plan {
  if (counted.by === 'events') return planSearch(asked, counted);
  if (asked.input.sortBy === 'createdAt') return planByArrival(asked, counted);
  return planByTime(asked, inOrder(counted.groups, asked.input));
}

/** How to read some ranks within a range of time, from its nearer end. */
export function readingWithin(
  sortBy: 'timestamp' | 'createdAt',
  { first, last, direction }: Ranks,
  span: { readonly before: number; readonly n: number },
): Reading {
  const length = last + 1 - first;
  const ahead = first - span.before;
  const skip = Math.max(0, direction === 'asc' ? ahead : span.n - ahead - length);
  return fromNearerEnd(sortBy, direction, { skip, take: length }, span.n);
}

function planSearch(
  { filters, input }: Asked,
  { spans, total, isInOrder }: Counted & { by: 'events' },
): Plan {
  const { sortBy, sortOrder, skip, take } = input;
  if (total !== null && skip >= total) return { by: 'steps', total, steps: [] };
  if (total === null || !isInOrder || (sortBy !== 'timestamp' && total <= FEW_TO_SORT_OF_SEARCH))
    return { by: 'sorting', spans };
  const reading =
    sortBy === 'timestamp'
      ? fromNearerEnd(sortBy, sortOrder, input, total)
      : { sortBy, direction: sortOrder, skip, take, isReversed: false };
  return { by: 'steps', total, steps: [{ by: 'index', filters, spans, reading }] };
}

function planByArrival(
  { filters, interval, input }: Asked,
  { groups, spans }: Counted & { by: 'totals' },
): Plan {
  const { sortOrder: direction, skip, take } = input;
  const years = groups.flatMap((group) => group.years);
  const total = sumOf(years);
  if (skip >= total) return { by: 'steps', total, steps: [] };
  const isOfAll = filters.length === 0 && !Number.isFinite(interval.from) && !Number.isFinite(interval.until);
  if (isOfAll && skip > NEAR)
    return {
      by: 'steps',
      total,
      steps: [{ by: 'arrivals', spans, ranks: ranksOf(direction, input, total) }],
    };
  if (!isOfAll && total <= FEW_TO_SORT) return { by: 'sorting hours', years, total };
  const reading = { sortBy: 'createdAt', direction, skip, take, isReversed: false } as const;
  return { by: 'steps', total, steps: [{ by: 'index', filters, spans, reading }] };
}

/** The lists of the groups, one after another, each in the order of time. */
function planByTime({ filters, interval, input }: Asked, groups: readonly Group[]): Plan {
  const steps: Step[] = [];
  let before = 0;
  let left = input.take;
  for (const { kind, years } of groups) {
    const n = sumOf(years);
    const window = { skip: Math.max(0, input.skip - before), take: left };
    if (window.skip < n && window.take > 0) {
      const wanted = kind === null ? filters : [...filters, kind.filter];
      steps.push(stepByTime(wanted, interval, input.sortOrder, window, years));
      left -= Math.min(window.take, n - window.skip);
    }
    before += n;
  }
  return { by: 'steps', total: before, steps };
}

function stepByTime(
  filters: readonly TotalledFilter[],
  interval: Interval,
  direction: Direction,
  window: Window,
  years: readonly Count[],
): Step {
  const total = sumOf(years);
  const [filter, ...more] = filters;
  const isIndexed = filter === undefined || (filter.isIndexed && more.length === 0);
  const reading = fromNearerEnd('timestamp', direction, window, total);
  if (!isIndexed || reading.skip > NEAR)
    return { by: 'hours', filters, years, ranks: ranksOf(direction, window, total) };
  return { by: 'index', filters, spans: spansOf(years, interval, reading), reading };
}

/** Events without a severity come last in both directions. */
function inOrder(groups: readonly Group[], { sortBy, sortOrder }: Asked['input']): readonly Group[] {
  const ordered = sortBy === 'timestamp' || sortOrder === 'asc' ? [...groups] : [...groups].reverse();
  return ordered.sort((a, b) => Number(a.kind?.key === 0) - Number(b.kind?.key === 0));
}

function ranksOf(direction: Direction, { skip, take }: Window, total: number): Ranks {
  const length = Math.min(take, total - skip);
  const first = direction === 'asc' ? skip : total - skip - length;
  return { first, last: first + length - 1, direction };
}

function fromNearerEnd(sortBy: SortBy, direction: Direction, { skip, take }: Window, total: number): Reading {
  const length = Math.min(take, total - skip);
  const behind = total - skip - length;
  if (skip <= behind) return { sortBy, direction, skip, take: length, isReversed: false };
  return {
    sortBy,
    direction: direction === 'asc' ? 'desc' : 'asc',
    skip: behind,
    take: length,
    isReversed: true,
  };
}

/** The years that contain the events to read and those to skip. */
function spansOf(
  years: readonly Count[],
  interval: Interval,
  { direction, skip, take }: Reading,
): Interval[] {
  const isAscending = direction === 'asc';
  const needed: number[] = [];
  let n = 0;
  for (const year of isAscending ? years : [...years].reverse()) {
    if (n >= skip + take) break;
    needed.push(startOf('year', year.start));
    n += year.n;
  }
  return runsOf('year', isAscending ? needed : needed.reverse(), interval);
}

/** A page of a list that is divided into spans of time, in order. */
export interface SpanPlan {
  readonly total: number;
  /** The first and the last span that the page touches. */
  readonly first: number;
  readonly last: number;
  /** How they are read in the order of time, as one list; null if the page is empty. */
  readonly reading: Reading | null;
}

/** Plans a page by the numbers of events in spans of time. */
export function planSpans(
  counts: readonly number[],
  { sortOrder, ...window }: Window & { readonly sortOrder: Direction },
): SpanPlan {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (window.skip >= total || window.take === 0) return { total, first: 0, last: -1, reading: null };
  const ranks = ranksOf(sortOrder, window, total);
  let [first, last, before, n, seen] = [-1, -1, 0, 0, 0];
  for (const [at, count] of counts.entries()) {
    if (count > 0 && seen <= ranks.last && seen + count > ranks.first) {
      if (first === -1) [first, before] = [at, seen];
      last = at;
      n += count;
    }
    seen += count;
  }
  return { total, first, last, reading: readingWithin('timestamp', ranks, { before, n }) };
}

function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { n }) => sum + n, 0);
}
