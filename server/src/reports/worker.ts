import { parentPort, workerData } from 'node:worker_threads';
import { verifyPackage } from '../evidence/verify-package.ts';
import { isDatabaseAway, isStopped, isTransient } from '../platform/database/failure.ts';
import { createPool, REPORT_CONNECTIONS } from '../platform/database/pool.ts';
import { inLongSnapshot } from '../platform/database/transaction.ts';
import { describeError, safeText } from '../platform/describe-error.ts';
import { AppError } from '../platform/error.ts';
import { lowerThreadPriority } from '../platform/process/own-process.ts';
import type { ReportDocument } from './document.ts';
import { ReportFiles } from './files.ts';
import { pdf } from './formats/pdf.ts';
import type { CaseJob, Failure, MadeFile, Progress, ThreadJob, ThreadMessage, VerifyJob } from './thread.ts';
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
  job: ThreadJob | CaseJob | VerifyJob,
): { failure: Failure; message: string } {
  if (error instanceof AppError) return { failure: 'refused', message: error.message };
  if (isStopped(error) && 'report' in job && job.report.attempts > 1) {
    const message = `Reading a part of it took the database longer than ${job.statementTimeoutMs / 1_000} s: choose a shorter range or a filter`;
    return { failure: 'refused', message };
  }
  const isPassing = isDatabaseAway(error) || isTransient(error);
  return { failure: isPassing ? 'passing' : 'broken', message: safeText(error) };
}

async function make(
  order: ThreadJob | CaseJob | VerifyJob,
  progress: Progress,
  signal: AbortSignal,
): Promise<MadeFile> {
  if ('caseDocument' in order) return drawPages(order);
  if ('packagePath' in order) return verifyOwn(order);
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

/** Draws the pages of a case, which need no data but those that they are given. */
async function drawPages({ folder, fileKey, caseDocument }: CaseJob): Promise<MadeFile> {
  const document: ReportDocument = {
    ...caseDocument,
    columns: [],
    rows: (async function* () {})(),
    summary: async () => ({ figures: [], charts: [] }),
  };
  const { size } = await new ReportFiles(folder).write(fileKey, (to) => pdf.write(document, to));
  return { size, rowCount: 0 };
}

/** A package that is not verified is not offered: something is wrong that only its seals show. */
function verifyOwn({ packagePath }: VerifyJob): MadeFile {
  const { verified, faults } = verifyPackage(packagePath);
  if (verified) return { size: 0, rowCount: 0 };
  const said = faults.map(({ fault, at, message }) => `${fault} ${at ?? ''}: ${message}`);
  throw new AppError('conflict', `The package would not be verified. ${said.join('; ')}`);
}

async function run(): Promise<void> {
  lowerThreadPriority();
  const stop = new AbortController();
  const send = (message: ThreadMessage) => parentPort?.postMessage(message);
  parentPort?.on('message', () => stop.abort());
  const order = workerData as ThreadJob | CaseJob | VerifyJob;
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
