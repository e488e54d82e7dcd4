import { readdir, readFile } from 'node:fs/promises';

/** The direct and indirect child processes of a process. */
export async function descendantsOf(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (parent > 0) parents.set(Number(name), parent);
  }
  const found = [pid];
  for (const known of found) for (const [child, parent] of parents) if (parent === known) found.push(child);
  return found.slice(1);
}

/** Whether a process is running, not counting zombies. */
export async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
}

/** Sends a signal to a process and all its descendants. Those that have ended are ignored. */
export async function signalTree(pid: number, signal: NodeJS.Signals): Promise<void> {
  for (const each of [pid, ...(await descendantsOf(pid))]) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended by itself.
    }
  }
}
