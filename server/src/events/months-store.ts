import { sql } from 'drizzle-orm';
import { readTableBytes } from '../platform/database/nodes.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { timeOfId } from './id.ts';

/** A partition of events: one month, or several for old events. It begins and ends at months in UTC. */
export interface EventMonth extends Interval {
  /** The table name, quoted for SQL. */
  readonly table: string;
}

const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;

/** Lists the partitions in any order. A partition is identified by its bounds, not by its name. */
export const PARTITIONS = `
  SELECT pg_class.oid::regclass::text AS table, pg_get_expr(relpartbound, pg_class.oid) AS bounds
  FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'events'::regclass`;

/** A row of `PARTITIONS`. */
export type PartitionRow = { table: string; bounds: string };

/** Parses the rows of `PARTITIONS`, oldest first. */
export function partitionsOf(rows: readonly PartitionRow[]): EventMonth[] {
  return rows
    .flatMap(({ table, bounds }) => {
      const [, first, last] = BOUNDS.exec(bounds) ?? [];
      if (first === undefined || last === undefined) return [];
      return [{ table, from: timeOfId(first), until: timeOfId(last) }];
    })
    .sort((a, b) => a.from - b.from);
}

/** All partitions, oldest first. */
export async function listEventMonths(db: Executor): Promise<EventMonth[]> {
  return partitionsOf((await db.execute<PartitionRow>(sql.raw(PARTITIONS))).rows);
}

/** Whether a partition contains a month (`YYYY-MM` in UTC). */
export function holdsMonth({ from, until }: Interval, month: string): boolean {
  const start = Date.parse(`${month}-01T00:00:00Z`);
  return start >= from && start < until;
}

/** The size of each month with its indexes, in bytes, by table; null where it is unknown. */
export function readMonthSizes(
  db: Executor,
  months: readonly EventMonth[],
): Promise<ReadonlyMap<string, number | null>> {
  return readTableBytes(
    db,
    months.map(({ table }) => table),
  );
}
