import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { lowerPriorityTo } from '../../process/priority.ts';
import { parentOf } from '../../process/processes.ts';
import { readLock } from './lock.ts';

/** The nice value, so that the process gets a tenth of a processor that others want, too. */
const LOWER = constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the priority of the server processes behind the connections of a pool, so that other work on the machine comes
 * first. Only those of the embedded server of the data folder, on Linux; it changes nothing elsewhere.
 */
export function lowerPriority(pool: Pool, dataDir: string): void {
  pool.on('connect', (client: object) => {
    const { processID } = client as { processID?: number };
    if (processID !== undefined) lower(processID, join(dataDir, 'postgres')).catch(() => undefined);
  });
}

async function lower(pid: number, folder: string): Promise<void> {
  // The number may be that of a process on another machine, and of another process here.
  const server = await readLock(folder);
  if (!server || server.pid !== (await parentOf(pid))) return;
  lowerPriorityTo(LOWER, pid);
  // Each process of PostgreSQL is a session of its own. Where Linux groups processes by session (autogroup, see
  // sched(7)), the priority of a process counts only within its session, and that of the group has to be set, too.
  await writeFile(`/proc/${pid}/autogroup`, String(LOWER));
}
