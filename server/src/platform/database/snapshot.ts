import pLimit from 'p-limit';
import type { Pool, PoolClient } from 'pg';
import type { Database } from './pool.ts';
import { type Executor, over, transact } from './transaction.ts';

/** Begins a transaction whose statements see the database as of the first one. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Runs `work` in a snapshot: all its statements see the database as of the first one, and it cannot write. Inside a
 * transaction, `work` becomes part of that transaction instead.
 */
export function inSnapshot<Result>(db: Executor, work: (db: Executor) => Promise<Result>): Promise<Result> {
  return '$client' in db ? transact(db.$client, (client) => work(over(client)), BEGIN_SNAPSHOT) : work(db);
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
 * A client whose statements run one after another, each followed by a rollback to the same savepoint: this releases
 * the locks of the statement and keeps the snapshot.
 */
function releasingLocks(client: PoolClient): Pick<PoolClient, 'query'> {
  const inTurn = pLimit(1);
  const query = (...args: Parameters<PoolClient['query']>) =>
    inTurn(async () => {
      const result = await client.query(...args);
      await client.query('ROLLBACK TO SAVEPOINT start');
      return result;
    });
  return { query: query as unknown as PoolClient['query'] };
}
