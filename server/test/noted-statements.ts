import type pg from 'pg';
import { onTestFinished } from 'vitest';
import { createDatabase, createPool, type Database } from '../src/platform/database/pool.ts';

/** A statement as sent to the database. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

const CONTROLS_TRANSACTION = /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)/i;

/**
 * Records every statement of a pool from now on, except those that control transactions. It does so at the
 * connections, because a logger of Drizzle does not see statements inside a transaction, which has a client of its
 * own.
 */
export const noteStatements = (pool: pg.Pool, note: (statement: Statement) => void): void => {
  const noting = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (noting.has(client)) return;
    noting.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    client.query = ((config: string | { text: string }, ...rest: unknown[]) => {
      const text = typeof config === 'string' ? config : config.text;
      const values = rest.find(Array.isArray) ?? [];
      if (!CONTROLS_TRANSACTION.test(text)) note({ text, values });
      return query(config, ...rest);
    }) as typeof client.query;
  });
};

/** The database of a service, through a pool of its own, which a test uses alone: the jobs of the service have statements, too. */
export const notedDatabase = (of: pg.Pool, note: (statement: Statement) => void): Database => {
  const pool = createPool(of.options.connectionString ?? '', 1, () => undefined);
  onTestFinished(() => pool.end());
  noteStatements(pool, note);
  return createDatabase(pool);
};
