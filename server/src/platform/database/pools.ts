import { DAY_MS } from '@gantry/contract/durations';
import type { Pool } from 'pg';
import type { Config } from '../config.ts';
import type { Timings } from '../timings.ts';
import { createPool, type PoolOptions } from './pool.ts';

/** The connections of one process, divided by purpose, so that one kind of request does not delay another. */
export interface Pools {
  /** Everything that has no pool of its own: logins, changes, cheap queries, webhooks and reports. */
  readonly ordinary: Pool;
  /** The one connection on which events are stored. */
  readonly writer: Pool;
  /** Other needs of devices: keys, heartbeats, last contacts, partitions, and the effects of events. */
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
  /** Folding of counts and of traffic. */
  readonly folding: Pool;
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
  folding: { size: 2, name: 'gantry folding' },
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

/**
 * Connections of a process besides its ordinary pool, including one for notifications. The two connections for
 * migrations are closed before these are opened.
 */
export const FURTHER_CONNECTIONS = SPECIAL_CONNECTIONS + REPORT_CONNECTIONS + 1;

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
    folding: open(special.folding),
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
