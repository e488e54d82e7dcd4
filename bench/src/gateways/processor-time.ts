import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { query } from '../database.ts';
import { descendantsOf } from '../faults/processes.ts';

/** Linux counts processor time in hundredths of a second for programs, on all architectures. */
const TICKS_PER_SECOND = 100;

/** Reads the processor time that PostgreSQL has used since it was started, in seconds. */
export type ReadProcessorTime = () => Promise<number>;

/**
 * How to read the processor time of PostgreSQL, with all its processes. It returns NaN for a server on another machine or
 * of another user, and on other systems than Linux.
 */
export async function postgresTime(databaseUrl: string): Promise<ReadProcessorTime> {
  const unknown = async (): Promise<number> => Number.NaN;
  const rows = await query<{ folder: string }>(
    databaseUrl,
    `SELECT current_setting('data_directory') AS folder`,
  ).catch(() => []);
  const file = join(rows[0]?.folder ?? '', 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  if (!name.startsWith('postgres')) return unknown;
  return async () => {
    const times = await Promise.all([pid, ...(await descendantsOf(pid))].map(ticksOf));
    return times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
  };
}

/** With that of processes that it started and that have ended. */
async function ticksOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
