import { join } from 'node:path';
import { channels } from '../platform/database/notify.ts';
import { startJobs } from '../platform/jobs/jobs.ts';
import type { Foundation } from '../platform/start.ts';
import { createReportFiles, type ReportFiles } from './files.ts';
import { createReportRunner } from './runner.ts';
import { createReportMaker } from './thread.ts';
import { createUpkeep } from './upkeep.ts';

/** What this room adds to the service. */
export interface ReportServices {
  readonly reportFiles: ReportFiles;
}

/** Makes reports as soon as they are asked for or due. At the end of the process the one under way is given back. */
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
  const upkeep = createUpkeep({ db, log, files, deadMs: timings.reportDeadMs });
  resources.use(
    startJobs({
      runner,
      listener,
      channel: channels.reports,
      everyMs: timings.sweepReportsMs,
      log,
      failure: 'reports that are due cannot be looked for now; the next sweep will',
      async sweep() {
        await upkeep();
        runner.wake();
      },
    }),
  );
  return { reportFiles: files };
}
