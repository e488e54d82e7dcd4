import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Measures the duration of durable writes to a disk, without a database. */
export interface DiskProbe extends AsyncDisposable {
  /** Returns the durations of all writes since the last call, in milliseconds. */
  take(): Promise<number[]>;
}

/** Minimum interval between two writes, in milliseconds, long enough for the writes not to be a load. */
const PAUSE_MS = 20;
const BYTES = 8192;

// The writes run in a thread of their own, so that the load generator does not delay them. Its program is a text, so that
// it runs with and without a loader for TypeScript.
const LOOP = `
const { fdatasyncSync, openSync, writeSync } = require('node:fs');
const { parentPort, workerData: { path, bytes, pauseMs } } = require('node:worker_threads');
const file = openSync(path, 'w');
const block = Buffer.alloc(bytes, 1);
let times = [];
setInterval(() => {
  const start = performance.now();
  writeSync(file, block, 0, bytes, 0);
  fdatasyncSync(file);
  times.push(performance.now() - start);
}, pauseMs);
parentPort.on('message', () => {
  parentPort.postMessage(times);
  times = [];
});
`;

/** Starts writing the same block of a file in the folder repeatedly, each time waiting for the disk. */
export function startDiskProbe(folder: string): DiskProbe {
  const workerData = { path: join(folder, 'disk-probe'), bytes: BYTES, pauseMs: PAUSE_MS };
  const worker = new Worker(LOOP, { eval: true, workerData, execArgv: [] });
  worker.unref();
  return {
    async take() {
      const answer = once(worker, 'message');
      worker.postMessage('take');
      const [times]: number[][] = await answer;
      return times ?? [];
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
