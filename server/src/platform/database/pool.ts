import { DAY_MS } from '@gantry/contract/durations';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg, { type Pool } from 'pg';
import type { Config } from '../config.ts';
import type { Timings } from '../timings.ts';
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

/**
 * How long a connection that is not used stays open. Pages that stay open ask again after at most two minutes, and a new
 * connection plans its first statements with empty caches, which takes PostgreSQL tens of milliseconds.
 */
const IDLE_TIMEOUT_MS = 150_000;

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

/** Opens a pool of up to `size` connections. `Pools` says what each is for. */
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
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
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

/** The connections of one process, divided by purpose, so that one kind of request does not delay another. */
export interface Pools {
  /** Everything that has no pool of its own: logins, changes, cheap queries, webhooks and reports. */
  readonly ordinary: Pool;
  /** The one connection on which events are stored. */
  readonly writer: Pool;
  /** Other needs of devices: keys, heartbeats, times last seen, partitions, and the effects of events. */
  readonly devices: Pool;
  /**
   * Storing and processing the messages that devices send through gateways. The process that receives from the MQTT
   * broker keeps one of these connections.
   */
  readonly gateways: Pool;
  /**
   * Queries whose cost depends on the input: lists, searches, figures. The number of connections limits how many run
   * at once.
   */
  readonly questions: Pool;
  /** Roll-up of counts and of traffic. */
  readonly rollUp: Pool;
  /** The maintenance of partitions, whose statements may take hours. */
  readonly upkeep: Pool;
  /** The check whether the database responds. */
  readonly health: Pool;
}

/** Less than the 3 s for which a health check waits. */
export const HEALTH_TIMEOUT_MS = 2_000;

/** Devices wait for these statements, and should not wait half a minute on a connection that does not respond. */
const DEVICES_TIMEOUT_MS = 3_000;

/** Longer than for other needs of devices, because a group of messages may have several megabytes. */
const GATEWAYS_TIMEOUT_MS = 8_000;

/** Maintenance proceeds slowly, and is interrupted in other ways. */
const UPKEEP_TIMEOUT_MS = DAY_MS;

interface Special extends PoolOptions {
  readonly size: number;
}

/** Connections for devices are kept open, so that other requests cannot take all connections that the server allows. */
const special = {
  writer: { size: 1, kept: 1, name: 'gantry writer' },
  devices: { size: 3, kept: 3, name: 'gantry devices', statementTimeoutMs: DEVICES_TIMEOUT_MS },
  gateways: { size: 4, kept: 4, name: 'gantry gateways', statementTimeoutMs: GATEWAYS_TIMEOUT_MS },
  questions: { size: 4, name: 'gantry questions' },
  rollUp: { size: 2, name: 'gantry roll-up' },
  upkeep: { size: 1, name: 'gantry upkeep', statementTimeoutMs: UPKEEP_TIMEOUT_MS },
  health: {
    size: 1,
    kept: 1,
    name: 'gantry health',
    connectTimeoutMs: HEALTH_TIMEOUT_MS,
    statementTimeoutMs: HEALTH_TIMEOUT_MS,
  },
} as const satisfies Record<Exclude<keyof Pools, 'ordinary'>, Special>;

/** Maximum number of connections of one process besides the ordinary ones. */
export const SPECIAL_CONNECTIONS = Object.values(special).reduce((sum, { size }) => sum + size, 0);

/** Connections for writing reports: a process writes one report at a time, and its statements run one by one. */
export const REPORT_CONNECTIONS = 1;

/** Connections for making seals: one holds the lock. */
export const SEAL_CONNECTIONS = 2;

/**
 * Connections of a process besides its ordinary pool, including one for notifications. The two connections for
 * migrations are closed before these are opened.
 */
export const FURTHER_CONNECTIONS = SPECIAL_CONNECTIONS + REPORT_CONNECTIONS + SEAL_CONNECTIONS + 1;

/** Maximum number of connections of all processes of a service. */
export function connectionsOf({
  WORKERS,
  DATABASE_POOL_SIZE,
}: Pick<Config, 'WORKERS' | 'DATABASE_POOL_SIZE'>): number {
  return WORKERS * (DATABASE_POOL_SIZE + FURTHER_CONNECTIONS);
}

/** @param size maximum number of connections of the ordinary pool */
export function openPools(
  connectionString: string,
  size: number,
  { questionMs }: Pick<Timings, 'questionMs'>,
  onError: (error: Error) => void,
): Pools & AsyncDisposable {
  let isEnding = false;
  // PostgreSQL may be stopped before it has closed the connections that a pool gave up.
  const onFailure = (error: Error): void => {
    if (!isEnding) onError(error);
  };
  const open = (options: Special): Pool => createPool(connectionString, options.size, onFailure, options);
  const pools = {
    ordinary: open({ size }),
    writer: open(special.writer),
    devices: open(special.devices),
    gateways: open(special.gateways),
    questions: open({ ...special.questions, connectTimeoutMs: questionMs, statementTimeoutMs: questionMs }),
    rollUp: open(special.rollUp),
    upkeep: open(special.upkeep),
    health: open(special.health),
  };
  return {
    ...pools,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}

/** Opens the connections that are kept. @throws the error of the first one that cannot be opened */
export async function openKept(pools: Pools): Promise<void> {
  const entries = Object.entries(special) as [keyof typeof special, Special][];
  const opened = await Promise.allSettled(
    entries.flatMap(([name, { kept }]) => Array.from({ length: kept ?? 0 }, () => pools[name].connect())),
  );
  for (const each of opened) if (each.status === 'fulfilled') each.value.release();
  const failed = opened.find((each) => each.status === 'rejected');
  if (failed) throw failed.reason;
}
