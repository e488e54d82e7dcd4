import type { Channel, Listener } from '../database/notify.ts';
import { type PeriodicOptions, startPeriodic } from '../periodic.ts';
import type { JobRunner } from './runner.ts';

export interface JobsOptions extends PeriodicOptions {
  readonly runner: JobRunner;
  readonly listener: Pick<Listener, 'on'>;
  /** A channel whose messages name a group with due jobs. */
  readonly channel: Channel;
  /** Wakes the runner for every group with due jobs: retries, expired leases, and jobs whose message was lost. */
  readonly sweep: () => Promise<void>;
}

/**
 * Performs the jobs of a table: shortly after the commit that adds them, by NOTIFY, and otherwise in a sweep every
 * `everyMs`. Every process does so; the lease gives each job to one of them. Disposing waits for the jobs in
 * progress.
 */
export function startJobs({ runner, listener, channel, sweep, ...options }: JobsOptions): AsyncDisposable {
  const sweeps = startPeriodic(options, sweep);
  listener.on(channel, (group) => runner.wake(group), sweeps.startNow);
  return {
    async [Symbol.asyncDispose]() {
      await sweeps[Symbol.asyncDispose]();
      await runner[Symbol.asyncDispose]();
    },
  };
}
