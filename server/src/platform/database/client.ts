import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { hasEndedSession, isUnanswered, sqlState } from './failure.ts';

// Exclusive use of a connection, which pg calls a client, and the state in which it is returned.

/** Whether the connection can be reused: no statement is running and no transaction is open. */
function isAtRest(client: PoolClient): boolean {
  return isAnswered(client) && client.getTransactionStatus() === 'I';
}

/**
 * Whether the connection would answer another statement, after an error of the connection or of the code that uses
 * it.
 */
export function canGoOn(client: PoolClient, error: unknown): boolean {
  return sqlState(error) !== null || isAnswered(client);
}

/** Returns the connection so that the pool closes it. PostgreSQL rolls back what was not committed on it. */
export function discard(client: PoolClient, reason: unknown): void {
  hangUp(client);
  client.release(reason instanceof Error ? reason : true);
}

/**
 * Makes the pool close a connection that is returned while a statement is running or a transaction is open, so that
 * the next user's statement does not become part of it. This applies to `pool.query` too.
 */
export function giveBackOnlyAtRest(pool: Pool): void {
  // The pool checks the state of the connection after this event and keeps none that is about to end.
  pool.on('release', (error: unknown, client) => {
    if (isAtRest(client) || sqlState(error) !== null) return;
    hangUp(client);
    if (isUnanswered(error)) replaceIdle(pool);
  });
}

/**
 * Whether every statement on the connection has been answered. After a query time-out of pg the statement is still
 * running, and the next one would have to wait for it. pg has this property, but its types do not declare it.
 */
function isAnswered(client: PoolClient): boolean {
  return (client as PoolClient & { readonly readyForQuery: boolean }).readyForQuery;
}

/** Closes the connection at once, without the closing message, which an unresponsive server would not receive. */
function hangUp(client: PoolClient): void {
  void client.end();
  client.connection.stream.destroy();
}

/**
 * After one connection got no answer, the idle ones, which use the same route, are replaced instead of tried one by
 * one.
 */
function replaceIdle(pool: Pool): void {
  for (let count = pool.idleCount; count > 0; count--) {
    pool.connect().then(
      (client) => discard(client, null),
      () => undefined,
    );
  }
}

/** A connection of a pool that is kept between statements as long as it works. */
export class KeptClient {
  readonly #pool: Pool;
  readonly #answerMs: number | undefined;
  #kept: PoolClient | null = null;

  /**
   * @param pool where the connection comes from when it is first needed and after it was lost
   * @param answerMs maximum wait for the answer to a statement, in milliseconds; by default that of the pool
   */
  constructor(pool: Pool, answerMs?: number) {
    this.#pool = pool;
    this.#answerMs = answerMs;
  }

  /**
   * Runs one statement as a transaction of its own. Unlike `pool.query`, it keeps the connection after an error that
   * PostgreSQL raises for the statement, so that the next one need not wait for a new connection.
   */
  async query<Row extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<Row>> {
    const client = this.#kept ?? (await this.#open());
    try {
      // pg takes a time-out for each query, but its types do not name it.
      const limited =
        this.#answerMs === undefined ? query : Object.assign({ query_timeout: this.#answerMs }, query);
      return await client.query<Row>(limited);
    } catch (error) {
      if (sqlState(error) === null || hasEndedSession(error)) this.#drop(client, error);
      throw error;
    }
  }

  /** Returns the connection to the pool. */
  release(): void {
    this.#kept?.release();
    this.#kept = null;
  }

  async #open(): Promise<PoolClient> {
    const client = await this.#pool.connect();
    // A connection that is lost while idle is replaced before a statement fails.
    client.once('error', (error) => this.#drop(client, error));
    client.once('end', () => this.#drop(client, null));
    this.#kept = client;
    return client;
  }

  #drop(client: PoolClient, reason: unknown): void {
    if (this.#kept !== client) return;
    this.#kept = null;
    discard(client, reason);
  }
}
