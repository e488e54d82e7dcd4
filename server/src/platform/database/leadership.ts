import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { startPeriodic } from '../periodic.ts';
import { discard } from './client.ts';

export interface LeadershipOptions {
  /** Keeps one of its connections while this process leads. */
  readonly pool: Pool;
  /** The number of an advisory lock of the session. */
  readonly lock: number;
  /** How often to try to become the leader or, as the leader, to check the connection, in milliseconds. */
  readonly everyMs: number;
  readonly log: Logger;
  /** The log message when a term cannot begin or end. */
  readonly failure: string;
  /** Begins the work that only one process may do. It is disposed of when the term ends. */
  readonly lead: () => Promise<AsyncDisposable>;
}

interface Term {
  readonly client: PoolClient;
  readonly work: AsyncDisposable;
}

/**
 * Runs work in one of the processes that use the database, and in another one when that process ends or loses its
 * connection. Two processes may run it for a moment, because a lost connection is noticed late.
 */
export function startLeading({ pool, lock, lead, ...options }: LeadershipOptions): AsyncDisposable {
  let term: Term | null = null;

  const end = async (reason: unknown): Promise<void> => {
    const ended = term;
    if (!ended) return;
    term = null;
    try {
      await ended.work[Symbol.asyncDispose]();
    } finally {
      discard(ended.client, reason);
    }
  };

  const begin = async (): Promise<void> => {
    const client = await pool.connect();
    let isLost = false;
    const lose = (): void => {
      isLost = true;
      end(null).catch((err: unknown) => options.log.warn({ err }, options.failure));
    };
    client.once('error', lose);
    try {
      const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [lock]);
      if (!rows[0]?.got || isLost) {
        // Others use this connection next, and its loss must not end a term that began on another one.
        client.off('error', lose);
        client.release(isLost);
        return;
      }
      term = { client, work: await lead() };
    } catch (error) {
      discard(client, error);
      throw error;
    }
  };

  const rounds = startPeriodic(options, async () => {
    const current = term;
    if (!current) return begin();
    await current.client.query('SELECT 1').catch(end);
  });
  rounds.startNow();

  return {
    async [Symbol.asyncDispose]() {
      await rounds[Symbol.asyncDispose]();
      await end(null);
    },
  };
}
