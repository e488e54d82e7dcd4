import type { ExtractTablesWithRelations } from 'drizzle-orm';
import { NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Pool, PoolClient } from 'pg';
import { canGoOn, discard } from './client.ts';
import type { Database } from './pool.ts';

type NoTables = Record<string, never>;

/** A transaction in progress. Stores accept it in place of the database. */
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0];

/** What a store needs to run statements: the database or a transaction. */
export type Executor = Database | Transaction;

/**
 * Maximum wait for the answer to ROLLBACK, in milliseconds. After that the connection is closed, which has the same
 * effect.
 */
const ROLLBACK_TIMEOUT_MS = 5_000;

/**
 * Runs `work` in a transaction on a connection of its own: everything is stored or, if it throws, nothing. If BEGIN,
 * COMMIT or ROLLBACK fails, the connection is closed, because its state is unknown.
 */
export async function transact<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  begin = 'BEGIN',
): Promise<Result> {
  const client = await pool.connect();
  let hasBegun = false;
  try {
    await client.query(begin);
    hasBegun = true;
    const result = await work(client);
    await commit(client);
    client.release();
    return result;
  } catch (error) {
    if (hasBegun && canGoOn(client, error)) {
      await rollBack(client).then(
        () => client.release(),
        (reason: unknown) => discard(client, reason),
      );
    } else {
      discard(client, error);
    }
    throw error;
  }
}

const dialect = new PgDialect();

/** The transaction in progress on the connection, in the form that stores accept. */
export function over(client: PoolClient): Transaction {
  return new NodePgTransaction<NoTables, ExtractTablesWithRelations<NoTables>>(
    dialect,
    new NodePgSession(client, dialect, undefined),
    undefined,
  );
}

/**
 * Runs `work` in one transaction: everything is stored or, if it throws, nothing. Inside a transaction, `work` becomes
 * part of that transaction, and only this part is undone if it throws.
 */
export function inTransaction<Result>(
  db: Executor,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return '$client' in db ? transact(db.$client, (client) => work(over(client))) : db.transaction(work);
}

/** PostgreSQL answers COMMIT with ROLLBACK, without an error, if a statement of the transaction failed before. */
async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT');
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back: one of its statements failed');
}

function rollBack(client: PoolClient): Promise<unknown> {
  // pg supports a time-out for each query, but its types do not declare it.
  return client.query({ text: 'ROLLBACK', query_timeout: ROLLBACK_TIMEOUT_MS } as { text: string });
}
