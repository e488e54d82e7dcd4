import { readFile } from 'node:fs/promises';
import { getPriority, setPriority } from 'node:os';
import { ignoreErrno } from '../errno.ts';

/**
 * Lowers the priority of this process, and on Linux of the calling thread, to a nice value. A priority that is lower
 * already does not change, because only a privileged user may raise it.
 */
export function lowerPriorityTo(nice: number): void {
  setPriority(Math.max(nice, getPriority()));
}

/** The maximum number of open files of this process, including connections; null if the platform does not report it. */
export async function openFilesLimit(): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const limits = await ignoreErrno(readFile('/proc/self/limits', 'utf8'), 'ENOENT', 'EACCES');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits ?? '') ?? [];
  return soft === undefined ? null : Number(soft);
}
