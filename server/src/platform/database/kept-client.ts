import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { discard } from './client.ts';
import { hasEndedSession, sqlState } from './failure.ts';

/** A connection that is kept between statements as long as it works. */
export interface KeptClient {
  /**
   * Runs one statement as a transaction of its own. Unlike `pool.query`, it keeps the connection after an error that
   * PostgreSQL raises for the statement, so that the next one need not wait for a new connection.
   */
  query<Row extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<Row>>;
  /** Returns the connection to the pool. */
  release(): void;
}

/**
 * Keeps a connection of a pool.
 * @param pool where the connection comes from when it is first needed and after it was lost
 * @param answerMs maximum wait for the answer to a statement, in milliseconds; by default that of the pool
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
    // A connection that is lost while idle is replaced before a statement fails.
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
        const limited = answerMs === undefined ? query : Object.assign({ query_timeout: answerMs }, query);
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
