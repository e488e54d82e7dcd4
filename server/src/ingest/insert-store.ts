import type { QueryConfig } from 'pg';
import type { EventRow } from '../events/event-row.ts';
import type { KeptClient } from '../platform/database/client.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import {
  type Companion,
  INSERT_MISSING,
  insertNewOf,
  type Statement,
  tally,
} from './insert-statements-store.ts';

const INSERT_MISSING_ATTEMPTS = 3;
const NONE: ReadonlySet<string> = new Set();
const NO_ROWS: ReadonlySet<EventRow> = new Set();

/** A group of events to store. */
export interface EventsToInsert {
  readonly rows: readonly EventRow[];
  /** Those of the events that have effects; they are listed for follow-up. */
  readonly followed: readonly EventRow[];
  /** What is stored with some of the events. */
  readonly companions: ReadonlyMap<EventRow, Companion>;
}

/** The result of storing a group. */
export interface Inserted {
  /** The ids of events that were stored before or have been deleted by a user; they are not changed. */
  readonly known: ReadonlySet<string>;
  /** When the other events were stored; null if there are none, or if no event of the group has effects. */
  readonly at: Date | null;
  /** The events with companions that were not stored, because one of the group may be stored already. */
  readonly apart: ReadonlySet<EventRow>;
}

/**
 * Stores a group of events with their companions, and counts the events, in one transaction.
 * @param expectsKnown whether some are likely to be stored already; the statement that allows for it, without
 * companions, is then tried first
 */
export async function insertEvents(
  client: KeptClient,
  { rows, followed, companions }: EventsToInsert,
  expectsKnown: boolean,
): Promise<Inserted> {
  const ordered = inLockOrder(rows);
  if (!expectsKnown) {
    const added = [...companions.values()];
    const insert = insertNewOf({
      keyed: hasKeys(rows),
      followed: followed.length > 0,
      passing: rows.some(({ passage }) => passage !== null),
      companions: added[0]?.rows ?? null,
    });
    const group = { rows: ordered, followed, counts: tally(ordered), ends: endsOf(rows) };
    try {
      const query = queryOf(insert, { ...group, companions: added.map(({ row }) => row as never) });
      const { rows: stored } = await client.query<{ at: Date }>(query);
      return { known: NONE, at: stored[0]?.at ?? null, apart: NO_ROWS };
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
  }
  const isAlone = (row: EventRow): boolean => !companions.has(row);
  const alone = ordered.filter(isAlone);
  const apart = new Set(companions.keys());
  if (alone.length === 0) return { known: NONE, at: null, apart };
  return { ...(await insertMissing(client, alone, followed.filter(isAlone))), apart };
}

/** The content hashes, by id, of those of the events that are stored or were deleted by a user. */
export async function findContentHashes(
  client: Pick<KeptClient, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await client.query<{ id: string; content_hash: string | null }>({
    text: 'SELECT id, content_hash FROM events WHERE id = ANY($1::uuid[])',
    values: [ids],
  });
  const stored = new Map(rows.map((row) => [row.id, row.content_hash]));
  // Read after the events, so that an event deleted meanwhile is found here.
  const others = ids.filter((id) => !stored.has(id));
  if (others.length === 0) return stored;
  return new Map([...stored, ...(await findDeleted(client, others))]);
}

function hasKeys(rows: readonly EventRow[]): boolean {
  return rows.some(({ contentHash }) => contentHash !== null);
}

/** Events with a key may be sent to several processes at once. A common order makes these wait instead of deadlock. */
function inLockOrder(rows: readonly EventRow[]): readonly EventRow[] {
  return hasKeys(rows) ? [...rows].sort((a, b) => (a.id < b.id ? -1 : 1)) : rows;
}

/** The smallest and the largest of the ids, which are in the order of time. */
function endsOf(rows: readonly EventRow[]): (string | undefined)[] {
  let [first, last] = [rows[0]?.id, rows[0]?.id];
  for (const { id } of rows) {
    if (first === undefined || id < first) first = id;
    if (last === undefined || id > last) last = id;
  }
  return [first, last];
}

function queryOf<Input>({ name, text, valuesOf }: Statement<Input>, input: Input): QueryConfig {
  return { name, text, values: valuesOf(input) };
}

/** The content hashes, by id, of those of the events that a user deleted. */
async function findDeleted(
  client: Pick<KeptClient, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ event_id: string; content_hash: string }>({
    text: 'SELECT event_id, content_hash FROM deleted_events WHERE event_id = ANY($1::uuid[])',
    values: [ids],
  });
  return new Map(rows.map((row) => [row.event_id, row.content_hash]));
}

/** Stores the events that are new. */
async function insertMissing(
  client: KeptClient,
  rows: readonly EventRow[],
  followed: readonly EventRow[],
): Promise<Omit<Inserted, 'apart'>> {
  const known = new Set(rows.map(({ id }) => id));
  let left = rows;
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows: stored } = await client.query<{ id: string; at: Date }>(
        queryOf(INSERT_MISSING, { rows: left, followed }),
      );
      for (const { id } of stored) known.delete(id);
      return { known, at: stored[0]?.at ?? null };
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === INSERT_MISSING_ATTEMPTS) throw error;
      const deleted = await findDeleted(
        client,
        left.map(({ id }) => id),
      );
      left = left.filter(({ id }) => !deleted.has(id));
      if (left.length === 0) return { known, at: null };
    }
  }
}
