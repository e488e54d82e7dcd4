import type { Database } from './pool.ts';

/** A transaction in progress: stores take it where they take the database. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** What a store needs to run statements: the database itself or a transaction of it. */
export type Executor = Database | Transaction;

/** Runs `work` in one transaction: all of it is stored, or, when it throws, nothing. */
export const inTransaction = <Result>(
  db: Executor,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> => db.transaction(work);
