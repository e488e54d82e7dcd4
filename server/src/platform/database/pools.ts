import type { Pool } from 'pg';
import type { Timings } from '../timings.ts';
import { createPool, type PoolOptions } from './pool.ts';

/** The connections of one process, shared out by purpose: nobody waits because of what somebody else asks for. */
export interface Pools {
  /** Everything that is not named below: logins, changes, cheap reading, webhooks and reports. */
  readonly ordinary: Pool;
  /** The one connection on which events are stored. */
  readonly writer: Pool;
  /** What devices need besides: keys, heartbeats, last contacts, partitions, and what follows from events. */
  readonly devices: Pool;
  /** Reading whose cost depends on what is asked: lists, searches, figures. As many run at once as there are connections. */
  readonly questions: Pool;
  /** Whether the database answers. */
  readonly health: Pool;
}

/** Whoever asks for the state of the service waits for 3 s. */
const HEALTH_TIMEOUT_MS = 2_000;

/** Devices wait for it: on a connection that hears nothing any more they must not wait for half a minute. */
const DEVICES_TIMEOUT_MS = 3_000;

interface Special extends PoolOptions {
  readonly size: number;
}

const special = {
  writer: { size: 1, name: 'gantry writer' },
  devices: { size: 3, name: 'gantry devices', statementTimeoutMs: DEVICES_TIMEOUT_MS },
  questions: { size: 4, name: 'gantry questions' },
  health: {
    size: 1,
    name: 'gantry health',
    connectTimeoutMs: HEALTH_TIMEOUT_MS,
    statementTimeoutMs: HEALTH_TIMEOUT_MS,
  },
} as const satisfies Record<Exclude<keyof Pools, 'ordinary'>, Special>;

/** How many connections one process opens at most besides the ordinary ones. */
export const SPECIAL_CONNECTIONS = Object.values(special).reduce((sum, { size }) => sum + size, 0);

/** @param size the most connections of the ordinary pool */
export function openPools(
  connectionString: string,
  size: number,
  { questionMs }: Pick<Timings, 'questionMs'>,
  onError: (error: Error) => void,
): Pools & AsyncDisposable {
  const open = (options: Special): Pool => createPool(connectionString, options.size, onError, options);
  const pools = {
    ordinary: open({ size }),
    writer: open(special.writer),
    devices: open(special.devices),
    questions: open({ ...special.questions, connectTimeoutMs: questionMs, statementTimeoutMs: questionMs }),
    health: open(special.health),
  };
  return {
    ...pools,
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
    },
  };
}
