import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { lowerPriorityTo } from '../../process/priority.ts';
import { parentOf } from '../../process/processes.ts';
import { readLock } from './lock.ts';

/** The nice value (10). A process with it gets about a tenth of a processor for which others compete. */
const LOWER = constants.priority.PRIORITY_BELOW_NORMAL;

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

async function lower(pid: number, folder: string): Promise<void> {
  // If the server runs on another machine, an unrelated process may have this number here.
  const server = await readLock(folder);
  if (!server || server.pid !== (await parentOf(pid))) return;
  lowerPriorityTo(LOWER, pid);
  // Each process of PostgreSQL is a session of its own. Where Linux groups processes by session (autogroup, see
  // sched(7)), the priority of a process counts only within its session, and that of the group has to be set, too.
  await writeFile(`/proc/${pid}/autogroup`, String(LOWER));
}
