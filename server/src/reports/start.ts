import { join } from 'node:path';
import { HOUR_MS } from '@gantry/contract/durations';
import { startJobs } from '../platform/database/jobs.ts';
import { channels } from '../platform/database/notify.ts';
import type { Database } from '../platform/database/pool.ts';
import type { Foundation } from '../platform/start.ts';
import { scheduledKinds } from '../system/features.ts';
import { startDispatching } from './dispatch.ts';
import { removeOrphanDispatches } from './dispatches-store.ts';
import { ReportFiles } from './files.ts';
import { runDueSchedules } from './run-schedules.ts';
import { createReportRunner } from './runner.ts';
import { findKeysInUse, hasOpenReports, requeueAbandonedReports } from './store.ts';
import { createReportMaker } from './thread.ts';

/** Orphan files are looked for at this interval, in rounds, and removed at this age, in milliseconds. */
const ROUNDS_BETWEEN_CLEARING = 240;
const LEFT_OVER_MS = HOUR_MS;

/**
 * Removes files on this machine that belong to no report, because the report was deleted on another machine, or the
 * process that wrote the file has ended.
 */
export function removeOrphanFiles(db: Database, files: ReportFiles, olderMs: number): Promise<void> {
  return files.removeUnused(olderMs, (keys) => findKeysInUse(db, keys));
}

/** The services of reports that the application context contains. */
export interface ReportServices {
  readonly reportFiles: ReportFiles;
}

/**
 * Generates reports when they are requested or due. When the process ends, the report in progress is returned to the
 * queue.
 */
export function startReports(
  { core, listener, resources }: Foundation,
  connectionString: string,
): ReportServices {
  const { config, db, log, clock, timings } = core;
  const folder = join(config.DATA_DIR, 'reports');
  const files = new ReportFiles(folder);
  const { SPEED_UNITS: speedUnits } = config;
  const makeReport = createReportMaker({ connectionString, folder, speedUnits, now: clock.now });
  const runner = createReportRunner({ db, log, files, makeReport });
  let rounds = 0;
  resources.use(
    startJobs({
      runner,
      listener,
      channel: channels.reports,
      everyMs: timings.sweepReportsMs,
      restMs: 6 * timings.sweepReportsMs,
      log,
      failure: 'reports that are due cannot be looked for now; the next sweep will try again',
      async sweep() {
        await runDueSchedules(db, log, scheduledKinds(config));
        await requeueAbandonedReports(db, timings.reportDeadMs);
        if (rounds++ % ROUNDS_BETWEEN_CLEARING === 0) {
          await removeOrphanFiles(db, files, LEFT_OVER_MS);
          await removeOrphanDispatches(db);
        }
        runner.wake();
        return hasOpenReports(db);
      },
    }),
  );
  resources.use(
    startDispatching({
      ...{ app: core, files, listener },
      outFolder: (name) => join(config.DATA_DIR, 'reports-out', name),
      sweepMs: timings.sweepReportsMs,
      mailMs: timings.mailMs,
    }),
  );
  return { reportFiles: files };
}
