import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of a process to a nice value. A priority that is lower already does not change, because only a
 * privileged user may raise it.
 * @param pid 0 is the calling process, and on Linux the calling thread
 * @throws Error when there is no such process, or it belongs to another user
 */
export function lowerPriorityTo(nice: number, pid = 0): void {
  setPriority(pid, Math.max(nice, getPriority(pid)));
}
