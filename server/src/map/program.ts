import { constants } from 'node:os';
import { safeText } from '../platform/describe-error.ts';
import { lowerPriorityTo } from '../platform/process/own-process.ts';
import { makeRoads } from './make-roads.ts';
import type { RoadsJob, RoadsMessage } from './process.ts';
import { RoadsRefused } from './road-file.ts';

// The program of the process that makes the tiles of roads for the service: server/dist/map-program.js.

const PROGRESS_MS = 1_000;

function say(message: RoadsMessage): void {
  if (process.connected) process.send?.(message);
}

async function make({ path, target, origin }: RoadsJob): Promise<void> {
  let reportedAt = performance.now();
  const report = await makeRoads(path, target, origin, (progress) => {
    if (performance.now() - reportedAt < PROGRESS_MS) return;
    reportedAt = performance.now();
    say({ progress });
  });
  say({ report });
}

lowerPriorityTo(constants.priority.PRIORITY_LOW);
process.on('disconnect', () => process.exit(0));
// A signal to the whole group is meant for the service, which ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('message', (job: RoadsJob) => {
  make(job)
    .catch((error: unknown) =>
      say(error instanceof RoadsRefused ? { refusal: error.message } : { failure: safeText(error) }),
    )
    .finally(() => process.disconnect());
});
