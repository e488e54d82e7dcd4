import { Worker } from 'node:worker_threads';
import { MINUTE_MS } from '@gantry/contract/durations';
import { createJobRunner, type JobRunner } from '../platform/database/jobs.ts';
import type { DescribedError } from '../platform/describe-error.ts';
import { hotlistWorker } from '../platform/installation.ts';
import { endThread } from '../platform/process/own-process.ts';
import type { Foundation } from '../platform/start.ts';
import type { Timings } from '../platform/timings.ts';
import type { ImportFiles } from './import-files.ts';
import { claimImport, extendImport, type ImportRow, listDueImports } from './imports-store.ts';

/** Maximum duration of a statement of an import, in milliseconds: the comparison of a million entries takes seconds. */
export const STATEMENT_MS = 10 * MINUTE_MS;

/** The input of a thread that works on an import. */
export interface ImportOrder {
  readonly connectionString: string;
  readonly dataDir: string;
  readonly row: ImportRow;
  readonly zone: string;
  readonly timings: Pick<Timings, 'hotlistChangeMs'>;
}

/** The only message of the thread. */
export interface ImportResult {
  /** Why it could not go on, for the log; null if it has recorded its result, or was asked to stop. */
  readonly failure: DescribedError | null;
}

const HEAP_MB = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };

/** Works on the imports that are due, one at a time in each process, in a thread, so that nothing else waits for them. */
export function createImportRunner(
  { core: { config, db, log, settings, timings } }: Pick<Foundation, 'core'>,
  files: ImportFiles,
  connectionString: string,
): JobRunner {
  const { hotlistLeaseMs, hotlistChangeMs } = timings;

  /** A process can only read files that are on its own machine. */
  const claim = async (): Promise<readonly ImportRow[]> => {
    for (const { id, hotlist_id: hotlistId, origin, state } of await listDueImports(db)) {
      if (state === 'STAGING' && origin !== 'REVERT' && !(await files.has({ hotlistId, id }))) continue;
      const row = await claimImport(db, id, hotlistLeaseMs);
      if (row) return [row];
    }
    return [];
  };

  const perform = async (row: ImportRow, ending: AbortSignal): Promise<void> => {
    const order: ImportOrder = {
      connectionString,
      dataDir: config.DATA_DIR,
      row,
      zone: settings.current().timezone,
      timings: { hotlistChangeMs },
    };
    const worker = new Worker(hotlistWorker, { workerData: order, resourceLimits: HEAP_MB });
    let failure: unknown = new Error('The thread that works on an import ended early');
    worker.on('message', (result: ImportResult) => {
      failure = result.failure;
    });
    worker.on('error', (error) => {
      failure = error;
    });
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const stop = () => void endThread(worker);
    ending.addEventListener('abort', stop, { once: true });
    const timer = setInterval(() => {
      extendImport(db, row, hotlistLeaseMs).then(
        (isOurs) => isOurs || stop(),
        (err: unknown) => log.debug({ err, importId: row.id }, 'an import could not be kept'),
      );
    }, hotlistLeaseMs / 4);
    await ended;
    clearInterval(timer);
    ending.removeEventListener('abort', stop);
    if (ending.aborted) {
      // Others need not wait for the end of the lease.
      await extendImport(db, row, 0);
    } else if (failure !== null) {
      log.warn({ err: failure, importId: row.id }, 'an import of a hotlist failed');
    }
  };

  return createJobRunner<ImportRow>({
    concurrency: 1,
    log,
    failure: 'imports of hotlists cannot be worked on now; the next sweep will try again',
    claim: async () => claim(),
    perform,
  });
}
