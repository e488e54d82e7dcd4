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

/** @param pool the source of the connection when it is first needed and after it was lost */
export function keepClient(pool: Pool): KeptClient {
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
        return await client.query<Row>(query);
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
