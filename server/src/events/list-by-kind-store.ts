import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import { readByTime, type Sought } from './list-by-time-store.ts';
import { ofSeverity, ofType, type TotalledFilter, where } from './list-filters.ts';
import type { Direction, Window } from './page-store.ts';
import { countedEvents } from './totals.ts';

// A list that is sorted by event type or severity is the lists of each of them, sorted by time, one after another; the
// totals say how long each is.

/** The events of one kind. */
interface Group {
  readonly filter: TotalledFilter;
  readonly n: number;
}

const countGroups = async <Key>(
  db: Executor,
  { filters, interval }: Sought,
  key: SQL,
): Promise<{ key: Key; n: number }[]> => {
  // Plan: as for statistics.
  const { rows } = await db.execute<{ key: Key; n: number }>(sql`
    SELECT ${key} AS key, sum(n)::bigint AS n FROM ${countedEvents(interval)}
    ${where(filters.map(({ onTotals }) => onTotals))} GROUP BY 1 HAVING sum(n) > 0 ORDER BY 1`);
  return rows;
};

const readGroups = async (
  db: Executor,
  { filters, interval }: Sought,
  groups: readonly Group[],
  direction: Direction,
  { skip, take }: Window,
): Promise<Page<Event>> => {
  const items: Event[] = [];
  let before = 0;
  for (const { filter, n } of groups) {
    const window = { skip: Math.max(0, skip - before), take: take - items.length };
    if (window.skip < n && window.take > 0) {
      const sought = { filters: [...filters, filter], interval };
      items.push(...(await readByTime(db, sought, direction, window, { total: n })));
    }
    before += n;
  }
  return { items, total: before };
};

/** A page sorted by event type, those of one type by time. */
export const listByEventType = async (
  db: Executor,
  sought: Sought,
  direction: Direction,
  window: Window,
): Promise<Page<Event>> => {
  const counts = await countGroups<string>(db, sought, sql`event_type`);
  const groups = counts.map(({ key, n }) => ({ filter: ofType(key), n }));
  return readGroups(db, sought, direction === 'asc' ? groups : groups.reverse(), direction, window);
};

/** A page sorted by severity, those of one severity by time, and those without one last, whatever the direction. */
export const listBySeverity = async (
  db: Executor,
  sought: Sought,
  direction: Direction,
  window: Window,
): Promise<Page<Event>> => {
  const counts = await countGroups<number>(db, sought, sql`severity`);
  const groups = counts.map(({ key, n }) => ({ rank: key, filter: ofSeverity(key), n }));
  const ranked = groups.filter(({ rank }) => rank > 0);
  const unranked = groups.filter(({ rank }) => rank === 0);
  const ordered = [...(direction === 'asc' ? ranked : ranked.reverse()), ...unranked];
  return readGroups(db, sought, ordered, direction, window);
};
