import type { Pool, PoolClient } from 'pg';
import { isUnanswered, sqlState } from './failure.ts';

// Who has a connection (pg calls it a client) to themselves, and in which state they give it back.

/** Whether somebody else may use the connection: nothing runs on it, and no transaction is open. */
export function isAtRest(client: PoolClient): boolean {
  return isAnswered(client) && client.getTransactionStatus() === 'I';
}

/** Whether a statement sent now would be answered, after an error that came out of the connection or of its user. */
export function canGoOn(client: PoolClient, error: unknown): boolean {
  return sqlState(error) !== null || isAnswered(client);
}

/** Gives the connection back in order to have it ended. PostgreSQL rolls back what was not committed on it. */
export function discard(client: PoolClient, reason: unknown): void {
  hangUp(client);
  client.release(reason instanceof Error ? reason : true);
}

/**
 * Holds for everything that uses the pool, `pool.query` too: a connection on which a statement still runs, or a transaction
 * is open, is ended when it is given back, so that nobody else's statement becomes part of what was left behind.
 */
export function giveBackOnlyAtRest(pool: Pool): void {
  // The pool asks for the state of the connection after this event, and keeps none that is about to end.
  pool.on('release', (error: unknown, client) => {
    if (isAtRest(client) || sqlState(error) !== null) return;
    hangUp(client);
    if (isUnanswered(error)) replaceIdle(pool);
  });
}

/**
 * Whether everything that was asked on the connection is answered. After a query time-out of pg it is not: the statement
 * goes on, and what is asked next waits behind it. pg keeps this property, but its types do not name it.
 */
function isAnswered(client: PoolClient): boolean {
  return (client as PoolClient & { readonly readyForQuery: boolean }).readyForQuery;
}

/** Ends the connection at once, without the farewell that a server which hears nothing would not take. */
function hangUp(client: PoolClient): void {
  void client.end();
  client.connection.stream.destroy();
}

/** No answer came on one connection. The others go the same way, and are opened anew rather than tried one by one. */
function replaceIdle(pool: Pool): void {
  for (let count = pool.idleCount; count > 0; count--) {
    pool.connect().then(
      (client) => discard(client, null),
      () => undefined,
    );
  }
}
