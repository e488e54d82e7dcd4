import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, createPool } from '../platform/database/pool.ts';
import { describeError } from '../platform/describe-error.ts';
import { lowerThreadPriority } from '../platform/process/own-process.ts';
import { ImportFiles } from './import-files.ts';
import { type ImportOrder, type ImportResult, STATEMENT_MS } from './import-thread.ts';
import { workOnImport } from './import-work.ts';

// The program of the thread that works on one import and ends: server/dist/hotlist-worker.js.

async function run(): Promise<ImportResult> {
  lowerThreadPriority();
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
