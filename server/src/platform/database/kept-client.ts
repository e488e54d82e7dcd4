import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { discard } from './client.ts';
import { hasEndedSession, sqlState } from './failure.ts';

/** One connection that is kept from statement to statement, as long as it is sound. */
export interface KeptClient {
  /**
   * Runs one statement, which is its own transaction. An error that PostgreSQL raises for it leaves the connection as it
   * is, which the pool's own `query` would not: that ends it, and the next statement waits for another to be opened.
   */
  query<Row extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<Row>>;
  /** Gives the connection back. */
  release(): void;
}

/**
 * @param pool where it comes from: when it is first needed, and when the one before was lost
 * @param answerMs longest wait for the answer to a statement, in milliseconds; left out, that of the pool
 */
export function keepClient(pool: Pool, answerMs?: number): KeptClient {
  let kept: PoolClient | null = null;

  const drop = (client: PoolClient, reason: unknown): void => {
    if (kept !== client) return;
    kept = null;
    discard(client, reason);
  };

  const open = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    // Lost while nothing runs on it, it is replaced before anybody has to fail.
    client.once('error', (error) => drop(client, error));
    client.once('end', () => drop(client, null));
    kept = client;
    return client;
  };

  return {
    async query<Row extends QueryResultRow>(query: QueryConfig) {
      const client = kept ?? (await open());
      try {
        // pg takes a time-out for each query, but its types do not name it.
        const limited = answerMs === undefined ? query : { ...query, query_timeout: answerMs };
        return await client.query<Row>(limited);
      } catch (error) {
        if (sqlState(error) === null || hasEndedSession(error)) drop(client, error);
        throw error;
      }
    },
    release() {
      kept?.release();
      kept = null;
    },
  };
}
