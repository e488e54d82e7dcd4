import { and, type Column, type SQL, sql } from 'drizzle-orm';
import type { Interval } from '../time.ts';
import type { Executor } from './transaction.ts';

/** A time (Unix milliseconds) as a value in a statement. */
export function moment(time: number): SQL {
  return sql`${new Date(time).toISOString()}::timestamptz`;
}

/**
 * The time of a change to a row, for a statement that updates it. It is later than the time of the previous change, so
 * that a change that a user has not seen is always recognized.
 */
export function timeOfUpdate(updatedAt: Column | SQL = sql`updated_at`): SQL<Date> {
  return sql`greatest(statement_timestamp(), ${updatedAt} + interval '1 millisecond')`;
}

/** The condition that a time is within the interval; undefined without bounds. */
export function isWithin(column: Column, { from, until }: Interval): SQL | undefined {
  return and(
    Number.isFinite(from) ? sql`${column} >= to_timestamp(${from / 1000}::float8)` : undefined,
    Number.isFinite(until) ? sql`${column} < to_timestamp(${until / 1000}::float8)` : undefined,
  );
}

/** The present time of the database, in Unix milliseconds. */
export async function readDatabaseTime(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ at: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`,
  );
  if (!rows[0]) throw new Error('PostgreSQL did not return its time');
  return Math.round(rows[0].at);
}
