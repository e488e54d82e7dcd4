import { sql } from 'drizzle-orm';
import type { Executor } from './transaction.ts';

/** The present time of the database, in Unix milliseconds. */
export async function readDatabaseTime(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ at: number }>(
    sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`,
  );
  if (!rows[0]) throw new Error('PostgreSQL did not return its time');
  return Math.round(rows[0].at);
}
