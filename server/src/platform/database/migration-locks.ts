import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { sqlState } from './failure.ts';

export type MigrationLog = Pick<Logger, 'info' | 'warn'>;

/** How long a migration waits for the locks it needs, in milliseconds. */
export interface LockPatience {
  /** Maximum wait for one lock, because other transactions on the table wait for it too. */
  readonly waitMs: number;
  /** The pause before another attempt, during which others proceed. */
  readonly pauseMs: number;
  /** Maximum duration of all attempts. */
  readonly inAllMs: number;
}

export const usualPatience: LockPatience = { waitMs: 1_000, pauseMs: 2_000, inAllMs: 300_000 };

// Without their statements, which may contain values that do not belong in a log.
const BLOCKERS = `
  SELECT format('pid %s (%s, user %s, %s, in a transaction for %s s)', pid,
    coalesce(nullif(application_name, ''), 'no name'), usename, state,
    round(extract(epoch FROM clock_timestamp() - xact_start))) AS holder
  FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY xact_start`;

interface BackendClient extends pg.Client {
  readonly processID: number;
}

/**
 * Runs `work`, one transaction that takes locks, and repeats it until it gets them, each time after a short wait.
 * @throws Error with the holders of the lock if it never becomes free; any other error of `work`
 */
export async function withShortLocks(
  connections: MigrationConnections,
  name: string,
  work: () => Promise<void>,
): Promise<void> {
  const { client, log, patience } = connections;
  await client.query(`SET lock_timeout = ${patience.waitMs}`);
  const began = performance.now();
  for (;;) {
    const { error, holders } = await attempt(connections, work);
    if (error === null) return;
    if (!isLockTimeout(error)) throw error;
    if (performance.now() - began > patience.inAllMs) {
      throw new Error(`It needs a lock that is held by ${holders}: end that transaction and start again`, {
        cause: error,
      });
    }
    log.warn({ migration: name, holders }, 'a migration waits for a lock that others hold');
    await sleep(patience.pauseMs);
  }
}

/** The connections for applying migrations. */
export interface MigrationConnections {
  readonly client: pg.Client;
  /** A second connection, for finding out who holds a lock. */
  readonly observer: pg.Client;
  readonly log: MigrationLog;
  readonly patience: LockPatience;
}

/** Runs `work`. @returns its error, if it failed, and the last holders of a lock that it waited for */
async function attempt(
  { client, observer, patience }: MigrationConnections,
  work: () => Promise<void>,
): Promise<{ error: unknown; holders: string }> {
  let holders = 'nobody who is still there';
  const over = new AbortController();
  const look = async (): Promise<void> => {
    // Several times during each wait for a lock. The pause ends with the work, which usually takes milliseconds.
    const pause = () => sleep(patience.waitMs / 4, undefined, { signal: over.signal });
    for (await pause(); ; await pause()) {
      const { rows } = await observer.query<{ holder: string }>(BLOCKERS, [
        (client as BackendClient).processID,
      ]);
      if (rows.length > 0) holders = rows.map(({ holder }) => holder).join(', ');
    }
  };
  const looking = look().catch(() => undefined);
  try {
    await work();
    return { error: null, holders };
  } catch (error) {
    return { error, holders };
  } finally {
    over.abort();
    await looking;
  }
}

function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03';
}
