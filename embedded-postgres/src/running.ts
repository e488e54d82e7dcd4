import { readFile, realpath, writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Application, connectionStringOf } from './application.ts';
import { ignoreErrno } from './errno.ts';
import { isServerOf, readLock } from './lock.ts';
import { isAlive, parentOf } from './processes.ts';

// What other processes, and threads, can do with the running server of a data folder. It needs no connection to it.

/** The name of the password file in the data folder. */
export const PASSWORD_FILE = 'database-password';

/** The nice value (10). A process with it gets about a tenth of a processor for which others compete. */
const LOWER = constants.priority.PRIORITY_BELOW_NORMAL;

/** The connection string of the running server of a data folder; null if it is not running. */
export async function findRunning(dataDir: string, application: Application): Promise<string | null> {
  const server = await serverOf(dataDir);
  if (!server) return null;
  const password = (await readFile(join(dataDir, PASSWORD_FILE), 'utf8')).trim();
  return connectionStringOf(application, server.port, password);
}

/** Asks the running server of a data folder to stop, and resolves when it is gone, or if there is none. */
export async function stopRunning(dataDir: string): Promise<void> {
  const server = await serverOf(dataDir);
  if (!server) return;
  process.kill(server.pid, 'SIGINT');
  while (await isAlive(server.pid)) await sleep(50);
}

/**
 * Lowers the priority of the server processes behind the connections of a pool, so that other work on the machine comes
 * first. It affects only processes of the embedded server of the data folder, and only on Linux.
 */
export function lowerPriority(pool: Pool, dataDir: string): void {
  pool.on('connect', (client: object) => {
    const { processID } = client as { processID?: number };
    if (processID !== undefined) lower(processID, join(dataDir, 'postgres')).catch(() => undefined);
  });
}

async function serverOf(dataDir: string) {
  const folder = await ignoreErrno(realpath(join(dataDir, 'postgres')), 'ENOENT');
  const lock = folder && (await readLock(folder));
  return lock && (await isServerOf(folder, lock.pid)) ? lock : undefined;
}

async function lower(pid: number, folder: string): Promise<void> {
  // If the server runs on another machine, an unrelated process may have this number here.
  const server = await readLock(folder);
  if (!server || server.pid !== (await parentOf(pid))) return;
  setPriority(pid, Math.max(LOWER, getPriority(pid)));
  // Each process of PostgreSQL is a session of its own. Where Linux groups processes by session (autogroup, see
  // sched(7)), the priority of a process counts only within its session, and that of the group has to be set, too.
  await writeFile(`/proc/${pid}/autogroup`, String(LOWER));
}
