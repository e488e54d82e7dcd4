import { drizzle } from 'drizzle-orm/node-postgres';
import pLimit from 'p-limit';
import type { Pool, PoolClient } from 'pg';
import type { Database } from './pool.ts';

/** How long the reader may take between two statements before the server ends the transaction. */
const LONGEST_PAUSE = '10min';

/**
 * A client whose statements run one after the other, each rolled back to the same savepoint: what was read stays read,
 * the snapshot stays the same, and the locks of the statement are released.
 */
const releasingLocks = (client: PoolClient): Pick<PoolClient, 'query'> => {
  const inTurn = pLimit(1);
  const query = (...args: Parameters<PoolClient['query']>) =>
    inTurn(async () => {
      const result = await client.query(...args);
      await client.query('ROLLBACK TO SAVEPOINT start');
      return result;
    });
  return { query: query as unknown as PoolClient['query'] };
};

/**
 * Reads the database as it was at one moment: all that `work` reads comes from one snapshot. It holds no lock between its
 * statements, so that partitions can be attached and dropped meanwhile; it cannot write. Its connection is closed at the end.
 * A statement that fails ends the whole.
 */
export const inSnapshot = async <Result>(
  pool: Pool,
  work: (db: Database) => Promise<Result>,
): Promise<Result> => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // The first statement takes the snapshot.
    await client.query("SELECT set_config('idle_in_transaction_session_timeout', $1, true)", [LONGEST_PAUSE]);
    await client.query('SAVEPOINT start');
    return await work(drizzle(releasingLocks(client) as PoolClient));
  } finally {
    // Closing the connection ends the transaction, whatever state it is in.
    client.release(true);
  }
};
