import { is } from 'drizzle-orm';
import { PgTransaction } from 'drizzle-orm/pg-core';
import type { Executor } from './transaction.ts';

/**
 * Runs `work` so that all of its statements see the database as it was at the first of them; it may not write. Inside a
 * transaction it is a part of that, and sees what that sees.
 */
export const inSnapshot = <Result>(db: Executor, work: (db: Executor) => Promise<Result>): Promise<Result> =>
  is(db, PgTransaction)
    ? work(db)
    : db.transaction(work, { isolationLevel: 'repeatable read', accessMode: 'read only' });
