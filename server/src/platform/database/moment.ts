import { type SQL, sql } from 'drizzle-orm';

/** A moment (Unix milliseconds) as a value in a statement. */
export const moment = (time: number): SQL => sql`${new Date(time).toISOString()}::timestamptz`;
