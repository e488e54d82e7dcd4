import type { ExtractTablesWithRelations, SQL } from 'drizzle-orm';
import { NodePgSession, NodePgTransaction } from 'drizzle-orm/node-postgres';
import { PgDialect } from 'drizzle-orm/pg-core';
import pLimit from 'p-limit';
import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
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
  return '$client' in db ? transact(db.$client, (client) => inTurn(client, work)) : db.transaction(work);
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

/** Begins a transaction whose statements see the database as of the first one. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Runs `work` in a snapshot: all its statements see the database as of the first one, and it cannot write. Inside a
 * transaction, `work` becomes part of that transaction instead.
 */
export function inSnapshot<Result>(db: Executor, work: (db: Executor) => Promise<Result>): Promise<Result> {
  if (!('$client' in db)) return work(db);
  return transact(db.$client, (client) => inTurn(client, work), BEGIN_SNAPSHOT);
}

/** Maximum pause of the reader between two statements before the server ends the transaction. */
const MAX_PAUSE = '10min';

/**
 * Runs work that takes minutes in a snapshot. It holds no lock between statements, so that partitions can be attached and
 * dropped meanwhile. Its connection is closed at the end. A statement that fails ends the whole work.
 */
export async function inLongSnapshot<Result>(
  pool: Pool,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(BEGIN_SNAPSHOT);
    // The first statement takes the snapshot.
    await client.query("SELECT set_config('idle_in_transaction_session_timeout', $1, true)", [MAX_PAUSE]);
    await client.query('SAVEPOINT start');
    // It acts as a transaction for code that opens one inside, and as the database for all other code.
    return await work(over(releasingLocks(client) as PoolClient) as unknown as Database);
  } finally {
    // Closing the connection ends the transaction, whatever its state.
    client.release(true);
  }
}

/**
 * Runs `work` in the transaction in progress on the connection. Statements that it sends at once run one after another. If it
 * throws, those that wait are not run, so that the connection is free for ROLLBACK.
 */
async function inTurn<Result>(
  client: PoolClient,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const { query, drop } = oneByOne(client);
  try {
    return await work(over({ query } as PoolClient));
  } catch (error) {
    drop();
    throw error;
  }
}

/** A client whose statements run one after another, also if they are sent at once. @param after follows each */
function oneByOne(
  client: PoolClient,
  after: () => Promise<unknown> = async () => undefined,
): Pick<PoolClient, 'query'> & { readonly drop: () => void } {
  const limit = pLimit(1);
  const query = (...args: Parameters<PoolClient['query']>) =>
    limit(async () => {
      const result = await client.query(...args);
      await after();
      return result;
    });
  return { query: query as unknown as PoolClient['query'], drop: () => limit.clearQueue() };
}

/** A client whose statements are each followed by a rollback to a savepoint: this releases locks and keeps the snapshot. */
function releasingLocks(client: PoolClient): Pick<PoolClient, 'query'> {
  return oneByOne(client, () => client.query('ROLLBACK TO SAVEPOINT start'));
}

/**
 * An expression to select so that the commit of this transaction does not wait for the disk. For what is done again if a
 * power failure undoes it.
 */
export const WITHOUT_WAITING = "set_config('synchronous_commit', 'off', true)";

/** A prepared statement; `values` are those of its placeholders, by name. */
export type Prepared<Row> = (db: Executor, values: Readonly<Record<string, unknown>>) => Promise<Row[]>;

/**
 * Prepares a statement that runs many times a second: its text is built once, here, and each connection parses and
 * plans it on first use. As elsewhere in drizzle, times are returned as text.
 * @param name must be unique among all statements
 */
export function prepare<Row extends QueryResultRow>(name: string, statement: SQL): Prepared<Row> {
  const query = dialect.sqlToQuery(statement);
  return async (db, values) => {
    const ready = db._.session.prepareQuery<{ execute: QueryResult<Row>; all: unknown; values: unknown }>(
      query,
      undefined,
      name,
      false,
    );
    try {
      const { rows } = await ready.execute({ ...values });
      return rows;
    } catch (error) {
      // The log identifies the statement by name, because it may not contain its text and values.
      throw error instanceof Error ? Object.assign(error, { statement: name }) : error;
    }
  };
}
