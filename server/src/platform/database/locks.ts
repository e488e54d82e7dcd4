import { sql } from 'drizzle-orm';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { unavailable } from '../error.ts';
import { startPeriodic } from '../periodic.ts';
import { discard } from './client.ts';
import { sqlState } from './failure.ts';
import type { Transaction } from './transaction.ts';

/**
 * The advisory locks by which processes on one database exclude one another. The numbers must differ from one
 * another, and should differ from those of other software on the same server.
 */
export const locks = {
  migration: 4_202_611,
  partition: 4_202_612,
  sweep: 4_202_613,
  rollUp: 4_202_614,
  prune: 4_202_615,
  /** With the hash of the sensor's id as second number. */
  incidentsOfSensor: 4_202_617,
  webhooks: 4_202_616,
  traffic: 4_202_618,
  /** Held by the transaction that stores years of traffic, or removes those that are no longer right. */
  trafficYears: 4_202_635,
  /** Shared by transactions that remove events, so that they exclude those that set a legal hold. */
  holds: 4_202_620,
  /** Held by the process that receives from the MQTT broker. */
  mqtt: 4_202_621,
  /** Held by the process that maintains the partitions of events. */
  upkeep: 4_202_622,
  /** With the hash of the sensor's id as second number. */
  alertsOfSensor: 4_202_632,
  /** Held by the process that makes a backup. */
  backup: 4_202_629,
  /** Shared by transactions in which retention removes events and images, so that they exclude a backup. */
  removal: 4_202_630,
  /** Held by the transaction that opens missing incidents. */
  rebuild: 4_202_631,
  /** Held by the transaction that renews keys of plates. */
  plateKeys: 4_202_633,
  /** Held by transactions that announce alarms, so that the limits on messages hold. */
  notices: 4_202_641,
  /** Held by the transaction that evaluates alarm rules, and by those that change the rules. */
  alarms: 4_202_636,
  /** Held by transactions that change measuring points or assignments, which must not count a vehicle twice. */
  assignments: 4_202_634,
  /** Held by transactions that link incidents, so that none is a consequence of itself through others. */
  incidentLinks: 4_202_640,
  /** Held by the transaction during which a process makes seals. */
  seals: 4_202_642,
  /** Held by transactions that add rows to a table of limited size, with the hash of its name as second number. */
  additions: 4_202_643,
} as const;

/**
 * Excludes other transactions that add rows to a table, or rename them, so that the number of its rows stays limited and their names
 * different. A lock of the table would deadlock with the deletion of a row to which the added row refers: the deletion
 * waits to change the table, and the addition for the deletion.
 */
export async function lockAdditions(tx: Transaction, table: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.additions}, hashtext(${table}))`);
}

/** Limits how long statements of the transaction wait for a lock, in milliseconds. */
export async function waitForLocksAtMost(tx: Transaction, ms: number): Promise<void> {
  await tx.execute(sql`SELECT set_config('lock_timeout', ${`${ms}ms`}, true)`);
}

/**
 * Maximum wait of a user's call for a lock, in milliseconds. While it waits, it delays others: events with an idempotency
 * key wait for deletions in progress.
 */
const CALL_WAIT_MS = 2_000;

/**
 * Runs statements for the call of a user that may have to wait for a lock, and limits their waits and those of later
 * statements of the transaction.
 * @param refusal what to tell the user who would have to wait for longer
 * @param ms the maximum wait, in milliseconds
 * @throws AppError `unavailable` when a wait exceeds it
 */
export async function withShortWaits<Result>(
  tx: Transaction,
  refusal: string,
  work: () => Promise<Result>,
  ms = CALL_WAIT_MS,
): Promise<Result> {
  await waitForLocksAtMost(tx, ms);
  try {
    return await work();
  } catch (error) {
    throw sqlState(error) === '55P03' ? unavailable(refusal, error) : error;
  }
}

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
