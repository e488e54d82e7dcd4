import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { giveBackOnlyAtRest } from './client.ts';

/** How a pool differs from the ordinary one. */
export interface PoolOptions {
  /** What `pg_stat_activity` calls its connections. */
  readonly name?: string;
  /** Longest wait for a free connection, in milliseconds. */
  readonly connectTimeoutMs?: number;
  /** Longest time the server works on one statement, in milliseconds. Its answer is waited for a second longer. */
  readonly statementTimeoutMs?: number;
}

/** Together under the request's 30 s. */
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 20_000;
const ANSWER_GRACE_MS = 1_000;

/** After a connection was silent for this long, the operating system asks whether the other end is still there. */
const KEEP_ALIVE_MS = 10_000;

// Counts fit a JavaScript number; nothing here comes near 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// Days stay plain text (2026-01-31): a Date would move them by the machine's time zone.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

/**
 * Every statement is short, and many come at once. Left to itself PostgreSQL shares some out among helper processes, which
 * take longer to start than to work: a list of half a year took 18 ms, and takes 5 ms. The same goes for compiling them.
 */
const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off';

/** Opens a pool of up to `size` connections. What they are for is in `pools.ts`. */
export function createPool(
  connectionString: string,
  size: number,
  onError: (error: Error) => void,
  options: PoolOptions = {},
): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool({
    connectionString,
    max: size,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: options.name ?? 'gantry',
    options: SHORT_STATEMENTS,
  });
  pool.on('error', onError);
  // A connection that fails in the middle of a transaction, while no statement runs, tells nobody else, and an error
  // that nobody hears would end the process. The next statement fails and says so.
  pool.on('connect', (client) => client.on('error', () => undefined));
  giveBackOnlyAtRest(pool);
  return pool;
}

/** The database as stores use it: drizzle over the pool, or a transaction of it. */
export type Database = NodePgDatabase & { readonly $client: pg.Pool };

export function createDatabase(pool: pg.Pool): Database {
  return drizzle(pool);
}
