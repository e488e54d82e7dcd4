import pLimit from 'p-limit';
import type { Pool, PoolClient } from 'pg';
import type { Database } from './pool.ts';
import { type Executor, over, transact } from './transaction.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Runs `work` so that all of its statements see the database as it was at the first of them; it may not write. Inside a
 * transaction it is a part of that, and sees what that sees.
 */
export function inSnapshot<Result>(db: Executor, work: (db: Executor) => Promise<Result>): Promise<Result> {
  return '$client' in db ? transact(db.$client, (client) => work(over(client)), BEGIN) : work(db);
}

/** How long the reader may take between two statements before the server ends the transaction. */
const LONGEST_PAUSE = '10min';

/**
 * The same for work that takes minutes: all that `work` reads comes from one snapshot. It holds no lock between its
 * statements, so that partitions can be attached and dropped meanwhile; it cannot write. Its connection is closed at the end.
 * A statement that fails ends the whole.
 */
export async function inLongSnapshot<Result>(
  pool: Pool,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    await client.query(BEGIN);
    // The first statement takes the snapshot.
    await client.query("SELECT set_config('idle_in_transaction_session_timeout', $1, true)", [LONGEST_PAUSE]);
    await client.query('SAVEPOINT start');
    // It is a transaction to whoever opens one inside, and the database to all others.
    return await work(over(releasingLocks(client) as PoolClient) as unknown as Database);
  } finally {
    // Closing the connection ends the transaction, whatever state it is in.
    client.release(true);
  }
}

/**
 * A client whose statements run one after the other, each rolled back to the same savepoint: what was read stays read,
 * the snapshot stays the same, and the locks of the statement are released.
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
