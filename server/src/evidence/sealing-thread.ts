import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, createPool, SEAL_CONNECTIONS } from '../platform/database/pool.ts';
import { describeError } from '../platform/describe-error.ts';
import { lowerThreadPriority, STOP } from '../platform/process/own-process.ts';
import { checkOfTheNight } from './check.ts';
import { sealNew } from './sealer.ts';
import { openSealingKey } from './seals.ts';
import type { SealingOrder, SealingResult, SealingSettings } from './start.ts';

// The program of the thread that makes seals and checks them, one order at a time: server/dist/sealing-thread.js.

lowerThreadPriority();

const { connectionString, dataDir, folder, mode } = workerData as SealingSettings;
// One connection holds the lock, the other one reads and writes. Errors of idle connections are ignored: the next
// statement fails too and reports the error.
const pool = createPool(connectionString, SEAL_CONNECTIONS, () => undefined, { name: 'gantry seals' });
const db = createDatabase(pool);

let isOver = false;
let last: Promise<unknown> = Promise.resolve();

async function perform(order: SealingOrder): Promise<SealingResult> {
  try {
    const parts = { db, key: await openSealingKey(dataDir), mode, folder };
    const stopped = () => isOver;
    const count =
      order.do === 'seal' ? await sealNew(parts, stopped) : await checkOfTheNight(parts, order.now, stopped);
    return { count };
  } catch (error) {
    return { failure: describeError(error) };
  }
}

parentPort?.on('message', (sent: SealingOrder | typeof STOP) => {
  if (sent === STOP) {
    isOver = true;
    last = last.then(() => pool.end()).finally(() => parentPort?.close());
  } else {
    last = perform(sent).then((result) => parentPort?.postMessage(result));
  }
});
