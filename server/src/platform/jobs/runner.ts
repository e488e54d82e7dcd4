import { type Runner, run } from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { safeText } from '../describe-error.ts';
import type { TaskName } from './jobs-store.ts';
import { createJobLogger } from './logger.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';

export interface JobsOptions {
  /** Connections of its own: it listens on one for as long as it runs, and uses the others for moments. */
  readonly pool: Pool;
  /** What is done for each name. Whatever throws is tried again by the queue, up to 25 times over three days. */
  readonly tasks: Readonly<Partial<Record<TaskName, (payload: unknown) => Promise<void>>>>;
  readonly log: Logger;
  /** How many jobs are done at once. */
  readonly concurrency: number;
}

/** How often it looks for jobs that become due, each of the workers, in milliseconds; new ones are announced. */
const POLL_MS = 2_000;

type OnConnect = (err: Error | undefined, client: PoolClient | undefined, release: () => void) => void;

/**
 * The pool as a runner sees it: a connection may be given back twice. A runner does so with the one it listens on, when
 * that is lost while it stops, and the complaint of the pool would end the process.
 */
const allowSecondRelease = (pool: Pool): Pool => {
  const connect = (callback?: OnConnect): Promise<PoolClient> | undefined => {
    if (!callback) return pool.connect();
    pool.connect((err, client, release) => {
      let isReleased = false;
      callback(err, client, () => {
        if (!isReleased) release();
        isReleased = true;
      });
    });
    return undefined;
  };
  return Object.create(pool, { connect: { value: connect } });
};

/** The queue stores and logs the message of what a task throws, so it is told a text without values. */
const withSafeErrors =
  (task: (payload: unknown) => Promise<void>) =>
  async (payload: unknown): Promise<void> => {
    try {
      await task(payload);
    } catch (error) {
      throw new Error(safeText(error));
    }
  };

/** Starts to do jobs. @throws when the database cannot be reached */
export const startRunner = ({ pool, tasks, log, concurrency }: JobsOptions): Promise<Runner> =>
  run({
    pgPool: allowSecondRelease(pool),
    taskList: Object.fromEntries(Object.entries(tasks).map(([name, task]) => [name, withSafeErrors(task)])),
    // Otherwise a file named crontab in the working directory would be read.
    parsedCronItems: [],
    schema: QUEUE_SCHEMA,
    concurrency,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    logger: createJobLogger(log),
    // With a delay (of none) a job whose end cannot be written down stops the runner. Without, nobody hears of it,
    // and a rejection that nobody hears ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  });

/**
 * Waits until a runner gives up, and ends it when it cannot take a job. Neither is left to itself: one that stops because
 * it could not write down the end of a job may never come to its own end (graphile/worker issue 636), and one whose first
 * look at its tasks failed would fail the same way for good.
 */
export const untilFailure = (runner: Runner): Promise<unknown> =>
  new Promise((resolve, reject) => {
    runner.promise.then(resolve, reject);
    runner.events.once('pool:gracefulShutdown', ({ message }) => reject(new Error(message)));
    runner.events.once('worker:getJob:error', ({ error }) => {
      reject(error);
      // Not before its worker has noted the failure: one that is ended in the middle prints it.
      setImmediate(() => runner.stop().catch(() => undefined));
    });
  });
