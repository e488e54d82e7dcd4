import { constants } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, createPool } from '../platform/database/pool.ts';
import { describeError } from '../platform/describe-error.ts';
import { lowerPriorityTo } from '../platform/process/own-process.ts';
import { ImportFiles } from './import-files.ts';
import { type ImportOrder, type ImportResult, STATEMENT_MS } from './import-thread.ts';
import { workOnImport } from './import-work.ts';

// The program of the thread that works on one import and ends: server/dist/hotlist-worker.js.

async function run(): Promise<ImportResult> {
  // Only on Linux do threads have a priority of their own; elsewhere that of the whole service would be lowered.
  if (process.platform === 'linux') lowerPriorityTo(constants.priority.PRIORITY_BELOW_NORMAL);
  const stop = new AbortController();
  parentPort?.on('message', () => stop.abort());
  const { connectionString, dataDir, row, zone, timings } = workerData as ImportOrder;
  // Errors of idle connections are ignored: the next statement fails too and reports the error.
  const pool = createPool(connectionString, 2, () => undefined, {
    name: 'gantry hotlists',
    statementTimeoutMs: STATEMENT_MS,
  });
  try {
    const files = new ImportFiles(dataDir);
    await workOnImport({ db: createDatabase(pool), files, zone, timings, signal: stop.signal }, row);
    return { failure: null };
  } catch (error) {
    return { failure: stop.signal.aborted ? null : describeError(error) };
  } finally {
    await pool.end();
  }
}

parentPort?.postMessage(await run());
parentPort?.close();
