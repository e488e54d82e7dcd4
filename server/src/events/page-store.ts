import type { Event } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import { where } from './list-filters.ts';
import type { IdRange } from './seek-store.ts';
import { type EventRecord, listedColumns, toEvent } from './store.ts';

export type Direction = 'asc' | 'desc';

/** A part of a list: so many items, after those that are passed over. */
export interface Window {
  readonly skip: number;
  readonly take: number;
}

/** From how many passed over on ids are looked up first, from an index alone where there is one, and their rows after that. */
const FAR = 1_000;

export const orders = {
  timestamp: { asc: sql`id ASC`, desc: sql`id DESC` },
  createdAt: { asc: sql`created_at ASC, id ASC`, desc: sql`created_at DESC, id DESC` },
  eventType: { asc: sql`event_type ASC, id ASC`, desc: sql`event_type DESC, id DESC` },
  severity: { asc: sql`severity ASC NULLS LAST, id ASC`, desc: sql`severity DESC NULLS LAST, id DESC` },
} as const satisfies Record<string, Record<Direction, SQL>>;

export type SortBy = keyof typeof orders;

/** What is needed to sort, and no more, so that an index alone may have it. */
const keys = {
  timestamp: sql`id`,
  createdAt: sql`id, created_at`,
  eventType: sql`id, event_type`,
  severity: sql`id, severity`,
} as const satisfies Record<SortBy, SQL>;

/** What a page is read from: events, or those in some ranges of ids, that meet the conditions. */
export interface Source {
  readonly conditions: readonly SQL[];
  readonly ranges?: readonly IdRange[];
}

const fromSource = ({ conditions, ranges }: Source): SQL => {
  if (ranges === undefined) return sql`events ${where(conditions)}`;
  const [range] = ranges;
  if (ranges.length === 1 && range !== undefined) {
    const within = sql`id >= ${range.from}::uuid AND id < ${range.until}::uuid`;
    return sql`events ${where([within, ...conditions])}`;
  }
  const bounds = (of: keyof IdRange): SQL => sql`${sql.param(ranges.map((one) => one[of]))}::uuid[]`;
  return sql`
    unnest(${bounds('from')}, ${bounds('until')}) AS range (first, next)
    JOIN events ON id >= first AND id < next ${where(conditions)}`;
};

const read = async (db: Executor, query: SQL): Promise<Event[]> => {
  const { rows } = await db.execute<EventRecord>(query);
  return rows.map(toEvent);
};

/** Reads a page in an order that an index has, so that no more is read than what is passed over and taken. */
export const readPage = (
  db: Executor,
  source: Source,
  order: SQL,
  { skip, take }: Window,
): Promise<Event[]> => {
  const part = sql`${fromSource(source)} ORDER BY ${order} LIMIT ${take} OFFSET ${skip}`;
  if (skip < FAR) return read(db, sql`SELECT ${listedColumns} FROM ${part}`);
  return read(
    db,
    sql`SELECT ${listedColumns} FROM events WHERE id IN (SELECT id FROM ${part}) ORDER BY ${order}`,
  );
};

/** Reads a page by finding all that meet the conditions and sorting them: where these are few, whatever their order. */
export const readSorted = (
  db: Executor,
  source: Source,
  sortBy: SortBy,
  direction: Direction,
  { skip, take }: Window,
): Promise<Event[]> =>
  read(
    db,
    sql`
      WITH found AS MATERIALIZED (SELECT ${keys[sortBy]} FROM ${fromSource(source)})
      SELECT ${listedColumns} FROM events
      WHERE id IN (SELECT id FROM found ORDER BY ${orders[sortBy][direction]} LIMIT ${take} OFFSET ${skip})
      ORDER BY ${orders[sortBy][direction]}`,
  );

/**
 * Reads a page in the order of time, from whichever end of the list is nearer.
 * @param total the length of the list
 */
export const readFromNearerEnd = async (
  db: Executor,
  source: Source,
  direction: Direction,
  { skip, take }: Window,
  total: number,
): Promise<Event[]> => {
  const length = Math.min(take, total - skip);
  const behind = total - skip - length;
  if (skip <= behind) return readPage(db, source, orders.timestamp[direction], { skip, take: length });
  const opposite = direction === 'asc' ? 'desc' : 'asc';
  const events = await readPage(db, source, orders.timestamp[opposite], { skip: behind, take: length });
  return events.reverse();
};
