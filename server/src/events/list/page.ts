import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import { where } from '../counts/totals.ts';
import { type EventRecord, findEvents, listedColumns, toEvent } from '../store.ts';
import type { IdRange } from './hours.ts';
import type { Direction, Reading, SortBy, Window } from './plan.ts';

/** From this offset on, ids are found first, by an index-only scan where possible, and their rows afterwards. */
const MIN_FAR = 1_000;

const orders = {
  timestamp: { asc: sql`id ASC`, desc: sql`id DESC` },
  createdAt: { asc: sql`created_at ASC, id ASC`, desc: sql`created_at DESC, id DESC` },
  eventType: { asc: sql`event_type ASC, id ASC`, desc: sql`event_type DESC, id DESC` },
  severity: { asc: sql`severity ASC NULLS LAST, id ASC`, desc: sql`severity DESC NULLS LAST, id DESC` },
} as const satisfies Record<SortBy, Record<Direction, SQL>>;

/** Only the columns that are needed for sorting, so that an index-only scan is possible. */
const keys = {
  timestamp: sql`id`,
  createdAt: sql`id, created_at`,
  eventType: sql`id, event_type`,
  severity: sql`id, severity`,
} as const satisfies Record<SortBy, SQL>;

/** The source of a page: the events that meet the conditions, optionally within ranges of ids. */
export interface Source {
  readonly conditions: readonly SQL[];
  readonly ranges?: readonly IdRange[];
}

/** Up to this number, ranges are listed one by one. */
export const MAX_LISTED_RANGES = 256;

/** Reads a page in the order of an index, so that only the offset and the page itself are read. */
export async function readPage(db: Executor, source: Source, reading: Reading): Promise<Event[]> {
  // Plan: the index of the order, from its end or at a range of ids; or events_pkey at each of the ranges. With 10
  // million events: 0.1 ms for the first 50, and 0.5 ms for planning.
  const order = orders[reading.sortBy][reading.direction];
  const part = sql`
    ${fromSource(source, sql`id`)} ORDER BY ${order} LIMIT ${reading.take} OFFSET ${reading.skip}`;
  const isInOnePiece = source.ranges === undefined || source.ranges.length === 1;
  const events =
    reading.skip < MIN_FAR && isInOnePiece
      ? await read(db, sql`SELECT ${listedColumns} FROM ${part}`)
      : await readIds(db, sql`SELECT id FROM ${part}`);
  return reading.isReversed ? events.reverse() : events;
}

/** Reads a page and the total by finding and sorting all events that meet the conditions, whatever their order. */
export async function readSorted(
  db: Executor,
  source: Source,
  sortBy: SortBy,
  direction: Direction,
  { skip, take }: Window,
): Promise<Page<Event>> {
  // Plan: the index of the condition, or events_pkey for each range; then events_pkey for the rows of the page.
  const { rows } = await db.execute<{ total: number; ids: string[] }>(sql`
    WITH found AS MATERIALIZED (SELECT ${keys[sortBy]} FROM ${fromSource(source, keys[sortBy])})
    SELECT (SELECT count(*) FROM found) AS total, ARRAY(
      SELECT id FROM found ORDER BY ${orders[sortBy][direction]} LIMIT ${take} OFFSET ${skip}
    ) AS ids`);
  return { items: await readRows(db, rows[0]?.ids ?? []), total: rows[0]?.total ?? 0 };
}

function within({ from, until }: IdRange): SQL {
  return sql`id >= ${from}::uuid AND id < ${until}::uuid`;
}

// If ranges are listed one by one, the planner knows how small each is, at 0.1 ms a range. It has no estimate for a
// join and reads the whole history, which is acceptable only for ranges that are a large part of it.
function fromRanges(ranges: readonly IdRange[], conditions: readonly SQL[], columns: SQL): SQL {
  const [first, last] = [ranges.at(0), ranges.at(-1)];
  if (first === undefined || last === undefined) return sql`events WHERE false`;
  if (ranges.length === 1) return sql`events ${where([within(first), ...conditions])}`;
  if (ranges.length <= MAX_LISTED_RANGES) {
    const parts = ranges.map(
      (range) => sql`SELECT ${columns} FROM events ${where([within(range), ...conditions])}`,
    );
    return sql`(${sql.join(parts, sql` UNION ALL `)}) AS found`;
  }
  const bounds = (of: keyof IdRange): SQL => sql`${sql.param(ranges.map((range) => range[of]))}::uuid[]`;
  const span = within({ from: first.from, until: last.until });
  return sql`
    unnest(${bounds('from')}, ${bounds('until')}) AS range (first, next)
    JOIN events ON id >= first AND id < next ${where([span, ...conditions])}`;
}

/** @param columns the columns to read */
function fromSource({ conditions, ranges }: Source, columns: SQL): SQL {
  return ranges === undefined ? sql`events ${where(conditions)}` : fromRanges(ranges, conditions, columns);
}

async function read(db: Executor, query: SQL): Promise<Event[]> {
  const { rows } = await db.execute<EventRecord>(query);
  return rows.map(toEvent);
}

/** The events with these ids, in the same order. They are read by id, so that other partitions are not planned. */
async function readRows(db: Executor, ids: readonly string[]): Promise<Event[]> {
  if (ids.length === 0) return [];
  const events = await findEvents(db, ids);
  return ids.flatMap((id) => events.get(id) ?? []);
}

async function readIds(db: Executor, query: SQL): Promise<Event[]> {
  const { rows } = await db.execute<{ id: string }>(query);
  return readRows(
    db,
    rows.map(({ id }) => id),
  );
}
