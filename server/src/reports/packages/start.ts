import { join } from 'node:path';
import { HOUR_MS } from '@gantry/contract/durations';
import {
  expireExports,
  findPackageKeys,
  hasOpenExports,
  requeueAbandonedExports,
} from '../../cases/exports-store.ts';
import type { EvidenceServices } from '../../evidence/start.ts';
import type { ImageServices } from '../../images/start.ts';
import { startJobs } from '../../platform/database/jobs.ts';
import { channels } from '../../platform/database/notify.ts';
import type { Foundation } from '../../platform/start.ts';
import type { RealtimeServices } from '../../realtime/start.ts';
import { ReportFiles } from '../files.ts';
import { createPackageRunner } from './runner.ts';

/** Files without a package are looked for at this interval, in rounds, and removed at this age, in milliseconds. */
const ROUNDS_BETWEEN_CLEARING = 240;
const LEFT_OVER_MS = HOUR_MS;

/** The services of evidence packages that the application context contains. */
export interface PackageServices {
  readonly packageFiles: ReportFiles;
}

/** Makes evidence packages when they are requested, and removes their files when their time is over. */
export function startPackages(
  { core, listener, resources }: Foundation,
  services: EvidenceServices & ImageServices & Pick<RealtimeServices, 'outbox'>,
): PackageServices {
  const { config, db, log, timings } = core;
  const folder = join(config.DATA_DIR, 'packages');
  const files = new ReportFiles(folder);
  const runner = createPackageRunner({ ...core, ...services }, files, folder);
  let rounds = 0;
  resources.use(
    startJobs({
      runner,
      listener,
      channel: channels.packages,
      everyMs: timings.sweepReportsMs,
      restMs: 6 * timings.sweepReportsMs,
      log,
      failure: 'evidence packages that are due cannot be looked for now; the next sweep will try again',
      async sweep() {
        await requeueAbandonedExports(db, timings.reportDeadMs);
        if (rounds++ % ROUNDS_BETWEEN_CLEARING === 0) {
          for (const key of await expireExports(db)) await files.remove(key);
          await files.removeUnused(LEFT_OVER_MS, (keys) => findPackageKeys(db, keys));
        }
        runner.wake();
        return hasOpenExports(db);
      },
    }),
  );
  return { packageFiles: files };
}
