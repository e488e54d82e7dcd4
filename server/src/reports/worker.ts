import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { isDatabaseAway, isTransient } from '../platform/database/failure.ts';
import { createPool } from '../platform/database/pool.ts';
import { REPORT_CONNECTIONS } from '../platform/database/pools.ts';
import { inLongSnapshot } from '../platform/database/snapshot.ts';
import { describeError, safeText } from '../platform/describe-error.ts';
import { AppError } from '../platform/error.ts';
import { lowerPriorityTo } from '../platform/process/priority.ts';
import { createReportFiles } from './files.ts';
import type { Failure, MadeFile, Progress, ThreadJob, ThreadMessage } from './thread-messages.ts';
import { writeReport } from './write.ts';

// The program of the thread that writes one report and ends: server/dist/report-worker.js.

/** Interval of progress messages, in milliseconds. */
const PROGRESS_MS = 200;

function failureOf(error: unknown): Failure {
  if (error instanceof AppError) return 'refused';
  return isDatabaseAway(error) || isTransient(error) ? 'passing' : 'broken';
}

/**
 * Gives ingestion and other work precedence over reports (decision 13). Only on Linux do threads have a priority of
 * their own; elsewhere that of the whole service would be lowered.
 */
function lowerPriority(): void {
  if (process.platform === 'linux') lowerPriorityTo(constants.priority.PRIORITY_BELOW_NORMAL);
}

async function make(order: ThreadJob, progress: Progress, signal: AbortSignal): Promise<MadeFile> {
  const { connectionString, folder, fileKey } = order;
  // The next statement fails too and reports the error.
  const pool = createPool(connectionString, REPORT_CONNECTIONS, () => undefined, {
    name: 'gantry reports',
  });
  try {
    const { size, result: rowCount } = await createReportFiles(folder).write(fileKey, (to) =>
      inLongSnapshot(pool, (db) => writeReport(db, order, to, progress, signal)),
    );
    return { size, rowCount };
  } finally {
    await pool.end();
  }
}

async function run(): Promise<void> {
  lowerPriority();
  const stop = new AbortController();
  const send = (message: ThreadMessage) => parentPort?.postMessage(message);
  parentPort?.on('message', () => stop.abort());
  const progress: Progress = { progress: 0, rowCount: 0 };
  const timer = setInterval(() => send({ type: 'progress', progress }), PROGRESS_MS);
  try {
    send({ type: 'made', file: await make(workerData as ThreadJob, progress, stop.signal) });
  } catch (error) {
    const message = error instanceof AppError ? error.message : safeText(error);
    send({ type: 'failed', failure: failureOf(error), message, detail: describeError(error) });
  } finally {
    clearInterval(timer);
    parentPort?.close();
  }
}

await run();
