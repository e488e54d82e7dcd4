import { Worker } from 'node:worker_threads';
import type { ReportFormat } from '@gantry/contract/reports';
import type { SpeedUnits } from '@gantry/contract/values';
import { hasErrno } from '@gantry/embedded-postgres/errno';
import { STATEMENT_TIMEOUT_MS } from '../platform/database/pool.ts';
import type { DescribedError } from '../platform/describe-error.ts';
import { reportWorker } from '../platform/installation.ts';
import { endThread } from '../platform/process/own-process.ts';
import type { CaseDocument } from './packages/case-document.ts';
import type { ReportRow } from './store.ts';

/** The input of a thread that writes a report. */
export interface ThreadJob {
  readonly connectionString: string;
  /** The folder for the files of reports, and the name of this one. */
  readonly folder: string;
  readonly fileKey: string;
  readonly report: ReportRow;
  /** The time in Unix milliseconds when it was ordered. */
  readonly now: number;
  /** The units of the service (`SPEED_UNITS`). */
  readonly speedUnits: SpeedUnits;
  /** Maximum duration of each statement, in milliseconds. */
  readonly statementTimeoutMs: number;
}

/** The input of a thread that draws the pages of a case into a file. */
export interface CaseJob {
  readonly folder: string;
  readonly fileKey: string;
  readonly caseDocument: CaseDocument;
}

/** The input of a thread that verifies an evidence package. */
export interface VerifyJob {
  readonly packagePath: string;
}

/** The progress of a report. */
export interface Progress {
  progress: number;
  rowCount: number;
}

/** A report whose file is stored. */
export interface MadeFile {
  /** In bytes. */
  readonly size: number;
  readonly rowCount: number;
}

/** `refused`: the message is for the user; `passing`: another attempt may succeed; `broken`: the cause is unknown. */
export type Failure = 'refused' | 'passing' | 'broken';

/** The messages of a thread: progress several times, then one of the others. */
export type ThreadMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'made'; readonly file: MadeFile }
  | {
      readonly type: 'failed';
      readonly failure: Failure;
      readonly message: string;
      /** For the log. */
      readonly detail: DescribedError;
    };

/** Memory limit of a thread for objects and text, in MB: pages are kept until they are numbered. */
const HEAP_MB: Readonly<Record<ReportFormat, number>> = { CSV: 64, PDF: 192, XLSX: 96 };
const YOUNG_HEAP_MB = 8;

/** A report that failed. With `refused`, the message is for the user. */
export class ReportFailure extends Error {
  override readonly name = 'ReportFailure';
  readonly failure: Failure;

  constructor(failure: Failure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

/**
 * Generates a report and stores its file under the key.
 * @param onProgress called with the progress a few times a second
 * @throws ReportFailure; any error after the signal is aborted
 */
export type MakeReport = (
  report: ReportRow,
  fileKey: string,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<MadeFile>;

interface MakerOptions {
  readonly connectionString: string;
  /** The folder for the files. */
  readonly folder: string;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
  readonly speedUnits: SpeedUnits;
  /** In MB. */
  readonly heapMb?: Readonly<Record<ReportFormat, number>>;
  /** Maximum duration of each statement, in milliseconds. */
  readonly statementTimeoutMs?: number;
}

const OUT_OF_MEMORY = 'It takes more memory than a report may have: choose a shorter range';

/** Generates each report in a thread with limited memory of its own, so that nothing else waits for it. */
export function createReportMaker({
  connectionString,
  folder,
  now,
  speedUnits,
  heapMb = HEAP_MB,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: MakerOptions): MakeReport {
  return (report, fileKey, onProgress, signal) => {
    const order: ThreadJob = {
      ...{ connectionString, folder, fileKey, report, speedUnits, statementTimeoutMs },
      now: now(),
    };
    return runInThread(order, heapMb[report.format], onProgress, signal);
  };
}

/**
 * Draws the pages of a case, and stores them as a file under the key.
 * @throws ReportFailure; any error after the signal is aborted
 */
export async function drawCase(job: CaseJob, signal: AbortSignal): Promise<void> {
  await runInThread(job, HEAP_MB.PDF, () => undefined, signal);
}

/**
 * Verifies an evidence package as its readers do.
 * @throws ReportFailure `refused` with what is wrong; any error after the signal is aborted
 */
export async function verifyInThread(packagePath: string, signal: AbortSignal): Promise<void> {
  await runInThread({ packagePath }, HEAP_MB.PDF, () => undefined, signal);
}

/** Runs a job in a thread of its own with limited memory (MB). */
async function runInThread(
  job: ThreadJob | CaseJob | VerifyJob,
  maxOldGenerationSizeMb: number,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<MadeFile> {
  signal.throwIfAborted();
  const worker = new Worker(reportWorker, {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  });
  let outcome: MadeFile | ReportFailure = new ReportFailure(
    'broken',
    'The thread that writes a report ended early',
  );
  worker.on('message', (message: ThreadMessage) => {
    if (message.type === 'progress') onProgress(message.progress);
    else if (message.type === 'made') outcome = message.file;
    else outcome = new ReportFailure(message.failure, message.message, errorOf(message.detail));
  });
  worker.on('error', (error) => {
    outcome = failureOf(error);
  });
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const stop = () => void endThread(worker);
  signal.addEventListener('abort', stop, { once: true });
  await ended;
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (outcome instanceof ReportFailure) throw outcome;
  return outcome;
}

/** Converts the description of an error by a thread to an error that can be logged. */
function errorOf({ type, message, cause, ...rest }: DescribedError): Error {
  return Object.assign(new Error(message, { cause: cause && errorOf(cause) }), { name: type, ...rest });
}

function failureOf(error: unknown): ReportFailure {
  return hasErrno(error, 'ERR_WORKER_OUT_OF_MEMORY')
    ? new ReportFailure('refused', OUT_OF_MEMORY, error)
    : new ReportFailure('broken', 'The thread that writes a report failed', error);
}
