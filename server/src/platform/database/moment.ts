import { type SQL, sql } from 'drizzle-orm';

/** A time (Unix milliseconds) as a value in a statement. */
export function moment(time: number): SQL {
  return sql`${new Date(time).toISOString()}::timestamptz`;
}
