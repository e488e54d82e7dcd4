import { setTimeout as sleep } from 'node:timers/promises';
import { type Runner, run } from 'graphile-worker';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
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
const RESTART_MS = 1_000;
/** Longest wait for its end, in milliseconds: the database may be away. */
const STOP_MS = 5_000;

const startRunner = ({ pool, tasks, log, concurrency }: JobsOptions): Promise<Runner> =>
  run({
    pgPool: pool,
    taskList: { ...tasks },
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
 * Does the jobs in the queue, until it is disposed of; disposing waits up to 5 s for those under way. The runner ends when
 * the database goes away in the wrong moment, and is then started again until the database is back.
 */
export const startJobs = (options: JobsOptions): AsyncDisposable => {
  const ending = new AbortController();
  let runner: Runner | null = null;

  const runOnce = async (): Promise<void> => {
    try {
      runner = await startRunner(options);
      if (ending.signal.aborted) return;
      await runner.promise;
    } catch (err) {
      options.log.warn({ err }, 'the job queue cannot be worked on now: it is tried again');
    }
  };

  const keepRunning = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await runOnce();
      await sleep(RESTART_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };

  const stop = async (): Promise<void> => {
    const last = runner;
    runner = null;
    // It rejects when it cannot say goodbye to the database: then it is over too.
    await last?.stop().catch((err: unknown) => options.log.debug({ err }, 'the job queue has ended'));
  };

  const running = keepRunning();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      // Once more at the end, because it may have been starting.
      const stopped = stop()
        .then(() => running)
        .then(stop);
      await Promise.race([stopped, sleep(STOP_MS, undefined, { ref: false })]);
    },
  };
};
