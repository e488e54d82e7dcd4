import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';

/** Longest wait for a free connection, and for a statement, in milliseconds: together under the request's 30 s. */
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 20_000;

// Counts fit a JavaScript number; nothing here comes near 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// Days stay plain text (2026-01-31): a Date would move them by the machine's time zone.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

/**
 * Every statement is short, and many come at once. Left to itself PostgreSQL shares some out among helper processes, which
 * take longer to start than to work: a list of half a year took 18 ms, and takes 5 ms. The same goes for compiling them.
 */
const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off';

/** Opens the connections that all statements of this process share. */
export const createPool = (
  connectionString: string,
  size: number,
  onError: (error: Error) => void,
): pg.Pool => {
  const pool = new pg.Pool({
    connectionString,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + 1_000,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'gantry',
    options: SHORT_STATEMENTS,
  });
  pool.on('error', onError);
  // A connection that fails in the middle of a transaction, while no statement runs, tells nobody else, and an error
  // that nobody hears would end the process. The next statement fails and says so.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

/** The database as stores use it: drizzle over the pool, or a transaction of it. */
export type Database = NodePgDatabase;
export const createDatabase = (pool: pg.Pool): Database => drizzle(pool);
