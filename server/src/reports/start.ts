import { channels, type Listener } from '../platform/database/notify.ts';
import { startJobs } from '../platform/jobs/jobs.ts';
import { createReportRunner, type RunnerOptions } from './runner.ts';
import { createUpkeep } from './upkeep.ts';

export interface ReportOptions extends RunnerOptions {
  readonly listener: Pick<Listener, 'on'>;
}

const SWEEP_MS = 5_000;

/** Makes reports as soon as they are asked for or due. Disposing gives back the report that is under way. */
export const startReports = ({ listener, ...options }: ReportOptions): AsyncDisposable => {
  const runner = createReportRunner(options);
  const upkeep = createUpkeep(options);
  return startJobs({
    runner,
    listener,
    channel: channels.reports,
    everyMs: SWEEP_MS,
    log: options.log,
    failure: 'reports that are due cannot be looked for now; the next sweep will',
    async sweep() {
      await upkeep();
      runner.wake();
    },
  });
};
