import { sql } from 'drizzle-orm';
import { countedEvents } from '../events/counts/totals.ts';
import { timeOfId } from '../events/id.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

const EVER = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

interface StatsRow extends Record<string, unknown> {
  database_bytes: number;
  event_count: number;
  oldest: string | null;
  newest: string | null;
  image_count: number;
  image_bytes: number;
}

/** What the tables say of what is stored. */
export interface StoredTotals {
  readonly databaseBytes: number;
  readonly eventCount: number;
  readonly oldestEvent: Date | null;
  readonly newestEvent: Date | null;
  readonly images: { readonly count: number; readonly bytes: number };
}

const timeOf = (id: string | null): Date | null => (id === null ? null : new Date(timeOfId(id)));

/** What is stored, from the totals and the ends of the events' primary key; images are counted row by row. */
export const readStoredTotals = async (db: Executor): Promise<StoredTotals> => {
  const { rows } = await db.execute<StatsRow>(sql`
    SELECT pg_database_size(current_database()) AS database_bytes,
      (SELECT coalesce(sum(n), 0)::bigint FROM ${countedEvents(EVER)}) AS event_count,
      (SELECT id FROM events ORDER BY id LIMIT 1) AS oldest,
      (SELECT id FROM events ORDER BY id DESC LIMIT 1) AS newest,
      count(*) AS image_count, coalesce(sum(bytes), 0)::bigint AS image_bytes
    FROM images WHERE stored_at IS NOT NULL`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not answer the storage statistics');
  return {
    databaseBytes: row.database_bytes,
    eventCount: row.event_count,
    oldestEvent: timeOf(row.oldest),
    newestEvent: timeOf(row.newest),
    images: { count: row.image_count, bytes: row.image_bytes },
  };
};

/** A partition of events: a month, or several that are long ago. Its ends are ends of months in UTC. */
export interface EventMonth extends Interval {
  /** The table, quoted as SQL needs it. */
  readonly table: string;
}

const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;

/** Asks for the partitions, in any order. A partition is known by its bounds, whatever its name is. */
export const PARTITIONS = `
  SELECT pg_class.oid::regclass::text AS table, pg_get_expr(relpartbound, pg_class.oid) AS bounds
  FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'events'::regclass`;

/** What is answered for a partition. */
export type PartitionRow = { table: string; bounds: string };

/** The partitions, oldest first. */
export const partitionsOf = (rows: readonly PartitionRow[]): EventMonth[] =>
  rows
    .flatMap(({ table, bounds }) => {
      const [, first, last] = BOUNDS.exec(bounds) ?? [];
      if (first === undefined || last === undefined) return [];
      return [{ table, from: timeOfId(first), until: timeOfId(last) }];
    })
    .sort((a, b) => a.from - b.from);

/** The partitions that there are, oldest first. */
export const listEventMonths = async (db: Executor): Promise<EventMonth[]> =>
  partitionsOf((await db.execute<PartitionRow>(sql.raw(PARTITIONS))).rows);

/** Whether a partition holds the events of a month (`YYYY-MM` in UTC). */
export const holdsMonth = ({ from, until }: Interval, month: string): boolean => {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return start >= from && start < until;
};

/**
 * The size of each month with its indexes, in bytes, by table; null where it cannot be told. On a cluster the partitions lie
 * on other nodes, so what counts there is what its own function says.
 */
export const readMonthSizes = async (
  db: Executor,
  months: readonly EventMonth[],
): Promise<ReadonlyMap<string, number | null>> => {
  const tables = months.map(({ table }) => table);
  const { rows: found } = await db.execute<{ cluster: boolean }>(sql`
    SELECT to_regprocedure('citus_total_relation_size(regclass, boolean)') IS NOT NULL AS cluster`);
  const size = found[0]?.cluster
    ? sql`citus_total_relation_size(to_regclass(name), false)`
    : sql`pg_total_relation_size(to_regclass(name))`;
  const { rows } = await db.execute<{ name: string; bytes: number | null }>(
    sql`SELECT name, ${size} AS bytes FROM unnest(${sql.param(tables)}::text[]) AS name`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
};
