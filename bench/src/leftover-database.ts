import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_DEADLINE_MS = 20_000;
const LOOK_MS = 50;

/** The lock file that a PostgreSQL server keeps while it runs; null when there is none. */
const readLock = (dataDir: string): Promise<string | null> =>
  readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => null);

/** Stops the PostgreSQL that goes on in a data folder after its service was killed; usually there is none. */
export const stopLeftoverDatabase = async (dataDir: string): Promise<void> => {
  const pid = Number((await readLock(dataDir))?.split('\n')[0]);
  if (!(pid > 0)) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + STOP_DEADLINE_MS;
  while ((await readLock(dataDir)) !== null && performance.now() < deadline) await sleep(LOOK_MS);
};
