import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const STOP_DEADLINE_MS = 20_000;
const LOOK_MS = 50;

/** The process of the PostgreSQL server in a data folder, from its lock file; null without one. */
export async function readPostmaster(dataDir: string): Promise<number | null> {
  const lock = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(lock.split('\n')[0]) || null;
}

/**
 * Stops a PostgreSQL server that is still running in a data folder after its service was killed; usually there is
 * none.
 */
export async function stopLeftoverDatabase(dataDir: string): Promise<void> {
  const pid = await readPostmaster(dataDir);
  if (pid === null) return;
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // A killed server left the lock file behind.
    return;
  }
  const deadline = performance.now() + STOP_DEADLINE_MS;
  while ((await readPostmaster(dataDir)) !== null && performance.now() < deadline) await sleep(LOOK_MS);
}
