import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { isDatabaseAway, isStopped, isTransient } from '../platform/database/failure.ts';
import { createPool, REPORT_CONNECTIONS } from '../platform/database/pool.ts';
import { inLongSnapshot } from '../platform/database/transaction.ts';
import { describeError, safeText } from '../platform/describe-error.ts';
import { AppError } from '../platform/error.ts';
import { lowerPriorityTo } from '../platform/process/own-process.ts';
import { ReportFiles } from './files.ts';
import type { Failure, MadeFile, Progress, ThreadJob, ThreadMessage } from './thread.ts';
import { writeReport } from './write.ts';

// The program of the thread that writes one report and ends: server/dist/report-worker.js.

/** Interval of progress messages, in milliseconds. */
const PROGRESS_MS = 200;

/**
 * Classifies an error. A statement that exceeded its time limit is refused from the second attempt on; before, another
 * attempt follows, because a lock or a high load may be over then.
 */
function failureOf(
  error: unknown,
  { report, statementTimeoutMs }: ThreadJob,
): { failure: Failure; message: string } {
  if (error instanceof AppError) return { failure: 'refused', message: error.message };
  if (isStopped(error) && report.attempts > 1) {
    const message = `Reading a part of it took the database longer than ${statementTimeoutMs / 1_000} s: choose a shorter range or a filter`;
    return { failure: 'refused', message };
  }
  const isPassing = isDatabaseAway(error) || isTransient(error);
  return { failure: isPassing ? 'passing' : 'broken', message: safeText(error) };
}

/**
 * Gives ingestion and other work precedence over reports (decision 13). Only on Linux do threads have a priority of
 * their own; elsewhere that of the whole service would be lowered.
 */
function lowerPriority(): void {
  if (process.platform === 'linux') lowerPriorityTo(constants.priority.PRIORITY_BELOW_NORMAL);
}

async function make(order: ThreadJob, progress: Progress, signal: AbortSignal): Promise<MadeFile> {
  const { connectionString, folder, fileKey, statementTimeoutMs } = order;
  // Errors of idle connections are ignored: the next statement fails too and reports the error.
  const pool = createPool(connectionString, REPORT_CONNECTIONS, () => undefined, {
    name: 'gantry reports',
    statementTimeoutMs,
  });
  try {
    const { size, result: rowCount } = await new ReportFiles(folder).write(fileKey, (to) =>
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
  const order = workerData as ThreadJob;
  const progress: Progress = { progress: 0, rowCount: 0 };
  const timer = setInterval(() => send({ type: 'progress', progress }), PROGRESS_MS);
  try {
    send({ type: 'made', file: await make(order, progress, stop.signal) });
  } catch (error) {
    send({ type: 'failed', ...failureOf(error, order), detail: describeError(error) });
  } finally {
    clearInterval(timer);
    parentPort?.close();
  }
}

await run();
