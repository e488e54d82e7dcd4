import { join } from 'node:path';
import { startJobs } from '../platform/database/jobs.ts';
import { channels } from '../platform/database/notify.ts';
import type { Foundation } from '../platform/start.ts';
import { scheduledKinds } from '../system/features.ts';
import { createReportFiles, type ReportFiles } from './files.ts';
import { createReportRunner } from './runner.ts';
import { createReportMaker } from './thread.ts';
import { createUpkeep } from './upkeep.ts';

/** The services of reports that the application context contains. */
export interface ReportServices {
  readonly reportFiles: ReportFiles;
}

/**
 * Generates reports when they are requested or due. When the process ends, the report in progress is returned to the
 * queue.
 */
export function startReports(
  { core: { config, db, log, clock, timings }, listener, resources }: Foundation,
  connectionString: string,
): ReportServices {
  const folder = join(config.DATA_DIR, 'reports');
  const files = createReportFiles(folder);
  const runner = createReportRunner({
    db,
    log,
    files,
    makeReport: createReportMaker({ connectionString, folder, now: clock.now }),
  });
  const upkeep = createUpkeep({
    db,
    log,
    files,
    deadMs: timings.reportDeadMs,
    scheduledKinds: scheduledKinds(config),
  });
  resources.use(
    startJobs({
      runner,
      listener,
      channel: channels.reports,
      everyMs: timings.sweepReportsMs,
      log,
      failure: 'reports that are due cannot be looked for now; the next sweep will try again',
      async sweep() {
        await upkeep();
        runner.wake();
      },
    }),
  );
  return { reportFiles: files };
}
