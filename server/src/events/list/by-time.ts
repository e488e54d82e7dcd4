import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import type { SQL } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { runsOf, startOf } from '../counts/covering.ts';
import { idWithinAny } from '../counts/totals.ts';
import type { TotalledFilter } from './filters.ts';
import { narrow } from './narrow.ts';
import { type Direction, fromNearerEnd, type Reading, readFrom, type Window } from './page.ts';
import { type Count, countByPeriod, findHourSpan, rangesOf } from './seek.ts';

/** Events of an interval that meet filters that the totals contain. */
export interface EventQuery {
  readonly filters: readonly TotalledFilter[];
  readonly interval: Interval;
  /** Whether events are on several nodes (`Nodes`). */
  readonly isDistributed: boolean;
}

/** Up to this offset an index is read from its end instead of seeking. */
const NEAR = 1_000;

/** @param spans the parts of the interval that contain the events */
export function conditionsOf({ filters }: Pick<EventQuery, 'filters'>, spans: readonly Interval[]): SQL[] {
  return [...idWithinAny(spans), ...filters.map(({ onEvents }) => onEvents)];
}

/**
 * Reads a page in the order of time.
 * @param years the number of matching events in each year
 */
export async function readByTime(
  db: Executor,
  sought: EventQuery,
  direction: Direction,
  window: Window,
  years: readonly Count[],
): Promise<Event[]> {
  const total = sumOf(years);
  const [filter, ...more] = sought.filters;
  const isIndexed = filter === undefined || (filter.isIndexed && more.length === 0);
  const reading = fromNearerEnd(direction, window, total);
  if (!isIndexed || reading.skip > NEAR) return seek(db, sought, direction, window, years);
  return readFrom(db, { conditions: conditionsOf(sought, spansOf(years, sought, reading)) }, reading);
}

/** A page sorted by the time of the events. */
export async function listByTime(
  db: Executor,
  sought: EventQuery,
  direction: Direction,
  window: Window,
): Promise<Page<Event>> {
  const years = await countByPeriod(db, 'year', sought.filters, sought.interval);
  const total = sumOf(years);
  if (window.skip >= total) return { items: [], total };
  return { items: await readByTime(db, sought, direction, window, years), total };
}

/** The years that contain the events to read and those to skip. */
function spansOf(years: readonly Count[], { interval }: EventQuery, reading: Reading): Interval[] {
  const isAscending = reading.direction === 'asc';
  const needed: number[] = [];
  let n = 0;
  for (const year of isAscending ? years : [...years].reverse()) {
    if (n >= reading.skip + reading.take) break;
    needed.push(startOf('year', year.start));
    n += year.n;
  }
  return runsOf('year', isAscending ? needed : needed.reverse(), interval);
}

function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { n }) => sum + n, 0);
}

/** Reads a page after finding the hours that contain it in the totals. */
async function seek(
  db: Executor,
  sought: EventQuery,
  direction: Direction,
  { skip, take }: Window,
  years: readonly Count[],
): Promise<Event[]> {
  const total = sumOf(years);
  const length = Math.min(take, total - skip);
  if (length <= 0) return [];
  const firstRank = direction === 'asc' ? skip : total - skip - length;
  const stretch = await findHourSpan(db, { ...sought, years }, firstRank, firstRank + length - 1);
  if (stretch === null) return [];
  const ahead = firstRank - stretch.before;
  const within = {
    skip: Math.max(0, direction === 'asc' ? ahead : stretch.n - ahead - length),
    take: length,
  };
  const ranges = await rangesOf(db, sought.filters, stretch);
  const conditions = sought.filters.map(({ onEvents }) => onEvents);
  const reading = fromNearerEnd(direction, within, stretch.n);
  const [range] = ranges;
  const isFar = reading.skip > NEAR && range !== undefined && ranges.length === 1;
  if (!isFar || !sought.isDistributed) return readFrom(db, { conditions, ranges }, reading);
  const narrowed = await narrow(db, { range, conditions }, reading);
  return readFrom(db, { conditions, ranges: [narrowed.range] }, narrowed.reading);
}
