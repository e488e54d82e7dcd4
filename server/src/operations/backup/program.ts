import { constants } from 'node:os';
import { openImageFiles } from '../../images/blobs.ts';
import { safeText } from '../../platform/describe-error.ts';
import { lowerPriorityTo } from '../../platform/process/own-process.ts';
import { makeBackup } from './make.ts';
import type { BackupJob, BackupMessage } from './process.ts';
import { BackupRefused } from './refusal.ts';

// The program of the process that makes a backup for the service: server/dist/backup-program.js. The service answers
// its callers meanwhile, so this one has less priority.

const PROGRESS_MS = 1_000;

function say(message: BackupMessage): void {
  if (process.connected) process.send?.(message);
}

async function make({ config, connectionString, folder, keep, recipients }: BackupJob): Promise<void> {
  let reportedAt = performance.now();
  await using files = await openImageFiles(config);
  const made = await makeBackup({
    connectionString,
    files,
    dataDir: config.DATA_DIR,
    folder,
    keep,
    recipients,
    log: { warn: (details: object, warning: string) => say({ warning, details }) } as never,
    onProgress(progress) {
      if (performance.now() - reportedAt < PROGRESS_MS) return;
      reportedAt = performance.now();
      say({ progress });
    },
  });
  say({ made });
}

lowerPriorityTo(constants.priority.PRIORITY_LOW);
// The service has ended. What was written is removed by the next backup.
process.on('disconnect', () => process.exit(0));
// A signal to the whole group is meant for the service, which ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('message', (job: BackupJob) => {
  make(job)
    .catch((error: unknown) =>
      say(error instanceof BackupRefused ? { refusal: error.message } : { failure: safeText(error) }),
    )
    .finally(() => process.disconnect());
});
