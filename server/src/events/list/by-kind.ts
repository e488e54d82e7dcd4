import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import { countedByPeriod } from '../counts/totals.ts';
import { type EventQuery, readByTime } from './by-time.ts';
import { ofSeverity, ofType, type TotalledFilter, where } from './filters.ts';
import type { Direction, Window } from './page.ts';
import type { Count } from './seek.ts';

// A list sorted by event type or severity consists of the lists of each value, sorted by time, one after another. The
// totals give their lengths.

/** The events of one kind. */
interface Group {
  readonly filter: TotalledFilter;
  /** The number of events in each year. */
  readonly years: readonly Count[];
}

/** A page sorted by event type, then by time. */
export async function listByEventType(
  db: Executor,
  sought: EventQuery,
  direction: Direction,
  window: Window,
): Promise<Page<Event>> {
  const counts = await countGroups<string>(db, sought, sql`event_type`);
  const groups = counts.map(({ key, years }) => ({ filter: ofType(key), years }));
  return readGroups(db, sought, direction === 'asc' ? groups : groups.reverse(), direction, window);
}

/** A page sorted by severity, then by time. Events without a severity come last in both directions. */
export async function listBySeverity(
  db: Executor,
  sought: EventQuery,
  direction: Direction,
  window: Window,
): Promise<Page<Event>> {
  const counts = await countGroups<number>(db, sought, sql`severity`);
  const groups = counts.map(({ key, years }) => ({ rank: key, filter: ofSeverity(key), years }));
  const ranked = groups.filter(({ rank }) => rank > 0);
  const unranked = groups.filter(({ rank }) => rank === 0);
  const ordered = [...(direction === 'asc' ? ranked : ranked.reverse()), ...unranked];
  return readGroups(db, sought, ordered, direction, window);
}

/** Counts the matching events by kind and year, in the order of both. */
async function countGroups<Key>(
  db: Executor,
  { filters, interval }: EventQuery,
  key: SQL,
): Promise<{ key: Key; years: Count[] }[]> {
  // Plan: as for statistics.
  const { rows } = await db.execute<Count & { key: Key } & Record<string, unknown>>(sql`
    SELECT ${key} AS key, (extract(epoch FROM at) * 1000)::bigint AS start, sum(n)::bigint AS n
    FROM ${countedByPeriod('year', interval)} ${where(filters.map(({ onTotals }) => onTotals))}
    GROUP BY 1, at HAVING sum(n) > 0 ORDER BY 1, at`);
  return [...new Set(rows.map((row) => row.key))].map((one) => ({
    key: one,
    years: rows.filter((row) => row.key === one),
  }));
}

async function readGroups(
  db: Executor,
  sought: EventQuery,
  groups: readonly Group[],
  direction: Direction,
  { skip, take }: Window,
): Promise<Page<Event>> {
  const items: Event[] = [];
  let before = 0;
  for (const { filter, years } of groups) {
    const n = years.reduce((sum, year) => sum + year.n, 0);
    const window = { skip: Math.max(0, skip - before), take: take - items.length };
    if (window.skip < n && window.take > 0) {
      const ofGroup = { ...sought, filters: [...sought.filters, filter] };
      items.push(...(await readByTime(db, ofGroup, direction, window, years)));
    }
    before += n;
  }
  return { items, total: before };
}
