import { constants } from 'node:os';
import { Worker } from 'node:worker_threads';
import { safeText } from '../platform/describe-error.ts';
import { lowerPriorityTo } from '../platform/process/own-process.ts';
import { makeRoads } from './make-roads.ts';
import { OUT_OF_TIME, type RoadsJob, type RoadsMessage } from './process.ts';
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

/**
 * Ends this process when the service has ended, or it has taken too much processor time. The thread that reads cannot do so: a
 * GeoPackage may contain a view without an end.
 * @param cpuMs processor time in milliseconds
 */
function watch(cpuMs: number): void {
  new Worker(
    `const { parent, cpuMs, signal } = require('node:worker_threads').workerData;
    setInterval(() => {
      const { user, system } = process.cpuUsage();
      if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
      if ((user + system) / 1000 > cpuMs) process.kill(process.pid, signal);
    }, 500);`,
    {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 8 },
      workerData: { parent: process.ppid, cpuMs, signal: OUT_OF_TIME },
    },
  ).unref();
}

lowerPriorityTo(constants.priority.PRIORITY_LOW);
process.on('disconnect', () => process.exit(0));
// A signal to the whole group is meant for the service, which ends this process itself.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('message', (job: RoadsJob) => {
  watch(job.cpuMs);
  make(job)
    .catch((error: unknown) =>
      say(error instanceof RoadsRefused ? { refusal: error.message } : { failure: safeText(error) }),
    )
    .finally(() => process.disconnect());
});
