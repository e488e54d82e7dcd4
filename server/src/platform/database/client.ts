import type { Pool, PoolClient } from 'pg';
import { isUnanswered, sqlState } from './failure.ts';

// Who has a connection (pg calls it a client) to themselves, and in which state they give it back.

/**
 * Whether everything that was asked on the connection is answered. After a query time-out of pg it is not: the statement
 * goes on, and what is asked next waits behind it. pg keeps this property, but its types do not name it.
 */
const isAnswered = (client: PoolClient): boolean =>
  (client as PoolClient & { readonly readyForQuery: boolean }).readyForQuery;

/** Whether somebody else may use the connection: nothing runs on it, and no transaction is open. */
export const isAtRest = (client: PoolClient): boolean =>
  isAnswered(client) && client.getTransactionStatus() === 'I';

/** Whether a statement sent now would be answered, after an error that came out of the connection or of its user. */
export const canGoOn = (client: PoolClient, error: unknown): boolean =>
  sqlState(error) !== null || isAnswered(client);

/** Ends the connection at once, without the farewell that a server which hears nothing would not take. */
const hangUp = (client: PoolClient): void => {
  void client.end();
  client.connection.stream.destroy();
};

/** Gives the connection back in order to have it ended. PostgreSQL rolls back what was not committed on it. */
export const discard = (client: PoolClient, reason: unknown): void => {
  hangUp(client);
  client.release(reason instanceof Error ? reason : true);
};

/** No answer came on one connection. The others go the same way, and are opened anew rather than tried one by one. */
const replaceIdle = (pool: Pool): void => {
  for (let count = pool.idleCount; count > 0; count--) {
    pool.connect().then(
      (client) => discard(client, null),
      () => undefined,
    );
  }
};

/**
 * Holds for everything that uses the pool, `pool.query` too: a connection on which a statement still runs, or a transaction
 * is open, is ended when it is given back, so that nobody else's statement becomes part of what was left behind.
 */
export const giveBackOnlyAtRest = (pool: Pool): void => {
  // The pool asks for the state of the connection after this event, and keeps none that is about to end.
  pool.on('release', (error: unknown, client) => {
    if (isAtRest(client) || sqlState(error) !== null) return;
    hangUp(client);
    if (isUnanswered(error)) replaceIdle(pool);
  });
};
