import { setTimeout as sleep } from 'node:timers/promises';
import type { Runner } from 'graphile-worker';
import { type JobsOptions, startRunner, untilFailure } from './runner.ts';

const RESTART_MS = 1_000;
/** Longest wait for its end, in milliseconds: the database may be away. */
const STOP_MS = 5_000;

/**
 * Does the jobs in the queue, until it is disposed of; disposing waits up to 5 s for those under way. A runner that loses
 * the database is given up, and another one started until it is back.
 */
export const startJobs = (options: JobsOptions): AsyncDisposable => {
  const ending = new AbortController();
  let runner: Runner | null = null;

  const runOnce = async (): Promise<void> => {
    try {
      runner = await startRunner(options);
      if (ending.signal.aborted) return;
      await untilFailure(runner);
    } catch (err) {
      if (ending.signal.aborted) return;
      options.log.warn({ err }, 'the job queue cannot be processed now: trying again');
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
