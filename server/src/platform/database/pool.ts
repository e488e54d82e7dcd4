import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { clientSettings } from './address.ts';
import { giveBackOnlyAtRest } from './client.ts';

/** Differences of a pool from the ordinary one. */
export interface PoolOptions {
  /** The name of its connections in `pg_stat_activity`. */
  readonly name?: string;
  /** Maximum wait for a free connection, in milliseconds. */
  readonly connectTimeoutMs?: number;
  /**
   * Maximum duration of one statement on the server, in milliseconds. The client waits one second longer for the
   * answer.
   */
  readonly statementTimeoutMs?: number;
  /** Number of connections that stay open while they are not used; 0 by default. */
  readonly kept?: number;
}

/** Together less than the 30 s of a request. */
const CONNECT_TIMEOUT_MS = 5_000;
export const STATEMENT_TIMEOUT_MS = 20_000;
const ANSWER_GRACE_MS = 1_000;

/** The time without traffic after which the operating system probes a connection. */
const KEEP_ALIVE_MS = 10_000;

// Counts fit into a JavaScript number; none here comes near 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// Dates stay plain text (2026-01-31): a Date would shift them by the machine's time zone.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

/**
 * Statements are short and numerous. By default PostgreSQL runs some of them in parallel workers, which take longer
 * to start than to work: a list of half a year took 18 ms, and takes 5 ms without. The same applies to compiling
 * them. The cost of reading a page at random is that of flash storage, as on the embedded server: with the default,
 * PostgreSQL reads whole indexes and tables of counts for some lists.
 */
const SHORT_STATEMENTS = '-c max_parallel_workers_per_gather=0 -c jit=off -c random_page_cost=1.1';

/**
 * On the coordinator of a Citus cluster, each session keeps up to this many connections to each node. By default it keeps
 * one and opens the others for every statement: a group of 100 events took 33 ms, and takes 8 ms with 16. Other servers
 * ignore the setting.
 */
const NODE_CONNECTIONS = '-c citus.max_cached_conns_per_worker=16';

/** Connections wait for their next statement for any length of time, whatever the server allows its sessions. */
export const UNLIMITED_IDLENESS = '-c idle_session_timeout=0';

/** Opens a pool of up to `size` connections. `pools.ts` says what each pool is for. */
export function createPool(
  connectionString: string,
  size: number,
  onError: (error: Error) => void,
  options: PoolOptions = {},
): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool(
    clientSettings(connectionString, {
      max: size,
      min: options.kept ?? 0,
      connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: options.name ?? 'gantry',
      options: `${SHORT_STATEMENTS} ${NODE_CONNECTIONS} ${UNLIMITED_IDLENESS}`,
    }),
  );
  pool.on('error', onError);
  // An error of a connection between two statements of a transaction reaches only this event, and without a handler
  // it would end the process. The next statement fails and reports it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  giveBackOnlyAtRest(pool);
  return pool;
}

/** The database as stores use it: drizzle on the pool, or on a transaction. */
export type Database = NodePgDatabase & { readonly $client: pg.Pool };

export function createDatabase(pool: pg.Pool): Database {
  return drizzle(pool);
}
