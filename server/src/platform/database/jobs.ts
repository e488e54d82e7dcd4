import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Logger } from 'pino';
import { type PeriodicOptions, startPeriodic } from '../periodic.ts';
import type { Channel, Listener } from './notify.ts';

export interface JobsOptions extends PeriodicOptions {
  readonly runner: JobRunner;
  readonly listener: Pick<Listener, 'on'>;
  /** A channel whose messages name a group with due jobs. */
  readonly channel: Channel;
  /**
   * Wakes the runner for every group with due jobs: retries, expired leases, and jobs whose message was lost.
   * @returns whether there are jobs that are due, or will be
   */
  readonly sweep: () => Promise<boolean>;
}

/**
 * Performs the jobs of a table: shortly after the commit that adds them, by NOTIFY, and otherwise in a sweep every
 * `everyMs`. Every process does so; the lease gives each job to one of them. Disposing waits for the jobs in
 * progress.
 */
export function startJobs({ runner, listener, channel, sweep, ...options }: JobsOptions): AsyncDisposable {
  const sweeps = startPeriodic(options, sweep);
  const wake = (group: string): void => {
    sweeps.rouse();
    runner.wake(group);
  };
  listener.on(channel, wake, sweeps.startNow);
  return {
    async [Symbol.asyncDispose]() {
      await sweeps[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
    },
  };
}

export interface JobRunnerOptions<Job> {
  /** Claims up to `most` due jobs of a group, so that no other process takes them for some time. */
  readonly claim: (group: string, most: number) => Promise<readonly Job[]>;
  /**
   * Performs a job and records the result. A job without a recorded result becomes due again when its lease expires.
   * @param ending aborts when the process is about to end
   */
  readonly perform: (job: Job, ending: AbortSignal) => Promise<void>;
  /** How many jobs of one group this process performs at once. */
  readonly concurrency: number;
  readonly log: Logger;
  /** The log message when jobs cannot be claimed or their results cannot be recorded. */
  readonly failure: string;
}

/** Performs the jobs of a table. Disposing stops claiming jobs and waits for those in progress. */
export interface JobRunner extends AsyncDisposable {
  /** Looks for due jobs of a group, or of '' if there are no groups. Returns before they are performed. */
  wake(group?: string): void;
}

/** The state of one group in this process. */
interface Group {
  underWay: number;
  isLooking: boolean;
  /** Whether jobs may have become due since the search began. */
  lookAgain: boolean;
}

/** A job was cancelled, deleted, or taken over by another process. */
export class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted';
}

/** This process is about to end. */
export class ProcessEnds extends Error {
  override readonly name = 'ProcessEnds';
}

/** Interval in milliseconds at which a process records that it works on a job, and so learns that it should stop. */
const LIVENESS_MS = 1_000;

interface LivenessOptions {
  /** Records that the process works on the job. @returns false if it should stop */
  readonly note: () => Promise<boolean>;
  /** Called when that cannot be recorded. A process that cannot reach the database cannot finish the job either. */
  readonly onFailure: (error: unknown) => void;
  /** As for `perform`. */
  readonly ending: AbortSignal;
}

/**
 * Works on a job of which it is recorded, at intervals, that its process is alive.
 * @param work receives a signal that aborts with `NoLongerWanted` or `ProcessEnds`
 */
export async function whileAlive(
  { note, onFailure, ending }: LivenessOptions,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const end = () => stop.abort(new ProcessEnds());
  ending.addEventListener('abort', end);
  if (ending.aborted) end();
  let asking = false;
  const timer = setInterval(() => {
    if (asking) return;
    asking = true;
    note()
      .then((goesOn) => {
        if (!goesOn) stop.abort(new NoLongerWanted());
      })
      .catch(onFailure)
      .finally(() => {
        asking = false;
      });
  }, LIVENESS_MS);
  try {
    await work(stop.signal);
  } finally {
    clearInterval(timer);
    ending.removeEventListener('abort', end);
  }
}

/** Maximum number of attempts at a job. One that fails more often probably ends its process. */
const MAX_ATTEMPTS = 5;
const GIVEN_UP = `It could not be finished in ${MAX_ATTEMPTS} attempts; the log of the service has the cause`;

/** The condition for jobs whose process has shown no liveness for some milliseconds. */
export function isAbandoned(deadMs: number): SQL {
  return sql`status = 'RUNNING' AND alive_at < now() - ${deadMs} * interval '1 millisecond'`;
}

/** What an UPDATE sets for such jobs: they are due again, and those with too many attempts fail. */
export function requeued(attempts: PgColumn) {
  const isGivenUp = sql`${attempts} >= ${MAX_ATTEMPTS}`;
  return {
    status: sql`CASE WHEN ${isGivenUp} THEN 'FAILED' ELSE 'QUEUED' END`,
    error: sql`CASE WHEN ${isGivenUp} THEN ${GIVEN_UP} END`,
    finishedAt: sql`CASE WHEN ${isGivenUp} THEN now() END`,
    progress: 0,
  };
}

/** Groups are independent: each may have as many jobs in progress as `concurrency` says. */
export function createJobRunner<Job>(options: JobRunnerOptions<Job>): JobRunner {
  const { claim, perform, concurrency, log, failure } = options;
  const groups = new Map<string, Group>();
  const working = new Set<Promise<void>>();
  const ending = new AbortController();

  const track = (name: string, group: Group, work: Promise<void>): void => {
    const tracked = work
      .catch((err: unknown) => log.warn({ err, ...(name !== '' && { group: name }) }, failure))
      .finally(() => {
        working.delete(tracked);
        if (!group.isLooking && group.underWay === 0) groups.delete(name);
      });
    working.add(tracked);
  };

  const performOne = async (name: string, group: Group, job: Job): Promise<void> => {
    try {
      await perform(job, ending.signal);
    } finally {
      group.underWay--;
      look(name, group);
    }
  };

  const claimDue = async (name: string, group: Group): Promise<void> => {
    try {
      do {
        group.lookAgain = false;
        for (const job of await claim(name, concurrency - group.underWay)) {
          group.underWay++;
          track(name, group, performOne(name, group, job));
        }
      } while (group.lookAgain && group.underWay < concurrency && !ending.signal.aborted);
    } finally {
      group.isLooking = false;
    }
  };

  const look = (name: string, group: Group): void => {
    group.lookAgain = true;
    if (ending.signal.aborted || group.isLooking || group.underWay === concurrency) return;
    group.isLooking = true;
    track(name, group, claimDue(name, group));
  };

  return {
    wake(name = '') {
      const group = groups.get(name) ?? { underWay: 0, isLooking: false, lookAgain: false };
      groups.set(name, group);
      look(name, group);
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      while (working.size > 0) await Promise.all(working);
    },
  };
}

export interface ClaimOptions {
  /** The condition for rows that are due: new ones, and those whose lease has expired by the clock of the database. */
  readonly due: SQL;
  /** The order in which they are claimed. */
  readonly order: SQL;
  readonly most: number;
}

/**
 * The ids of up to `most` due rows, as an array: `UPDATE … SET attempts = attempts + 1, <lease> WHERE id = ANY (…)`
 * claims them. Rows that another process is claiming are skipped. `attempts` identifies the claim: a result may be
 * recorded only if it is unchanged. Otherwise the lease has expired and another process has the row.
 */
export function claimableIds(table: PgTable, { due, order, most }: ClaimOptions): SQL {
  return sql`ARRAY(SELECT id FROM ${table} WHERE ${due} ORDER BY ${order} LIMIT ${most} FOR NO KEY UPDATE SKIP LOCKED)`;
}
