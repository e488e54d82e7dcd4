import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { hasErrno, ignoreErrno } from './errno.ts';

const run = promisify(execFile);

/** Whether a process with this number is running. A zombie, which has ended and waits for its parent, is not. */
export async function isAlive(pid: number): Promise<boolean> {
  return isTaken(pid) && (await readStat(pid))?.state !== 'Z';
}

/**
 * When the process began, in the platform's own notation, to tell it from a later process with the same number.
 * Undefined if there is no such process or it is not visible.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return (await readStat(pid))?.startTime;
  return isTaken(pid) ? (await ps(pid, 'lstart')).stdout.trim() : undefined;
}

/** The number of the process that started it, where the platform provides it (Linux). */
export async function parentOf(pid: number): Promise<number | undefined> {
  return (await readStat(pid))?.parent;
}

/** The arguments of the process, separated by blanks; empty if it has ended or hides them. */
export async function commandLineOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return isTaken(pid) ? (await ps(pid, 'command')).stdout.trim() : '';
  const words = await ignoreErrno(readFile(`/proc/${pid}/cmdline`, 'utf8'), 'ENOENT', 'ESRCH', 'EACCES');
  return (words ?? '').split('\0').join(' ').trim();
}

/** The working folder of the process, where the platform provides it (Linux). */
export async function workingFolderOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  return ignoreErrno(readlink(`/proc/${pid}/cwd`), 'ENOENT', 'ESRCH', 'EACCES');
}

/** Identifies the scope in which a process number is valid: this boot of this machine and, on Linux, this container. */
export async function processSpace(): Promise<string> {
  if (process.platform !== 'linux') return hostname();
  const [boot, container] = await Promise.all([
    ignoreErrno(readFile('/proc/sys/kernel/random/boot_id', 'utf8'), 'ENOENT', 'EACCES'),
    ignoreErrno(readlink('/proc/self/ns/pid'), 'ENOENT', 'EACCES'),
  ]);
  return `${(boot ?? hostname()).trim()}/${container ?? ''}`;
}

/** Whether the number is in the process table, including zombies. */
export function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasErrno(error, 'EPERM');
  }
}

function ps(pid: number, column: string) {
  return run('/bin/ps', ['-ww', '-o', `${column}=`, '-p', String(pid)], {
    env: { LC_ALL: 'C', TZ: 'UTC' },
    timeout: 5_000,
  });
}

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly startTime: string;
}

async function readStat(pid: number): Promise<Stat | undefined> {
  if (process.platform !== 'linux') return undefined;
  const path = `/proc/${pid}/stat`;
  // Read without the threads of Node.js, which cost more: this file is not on a disk, and is read twice a second.
  const read = async (): Promise<string> => readFileSync(path, 'utf8');
  const stat = await ignoreErrno(read(), 'ENOENT', 'ESRCH', 'EACCES', 'EMFILE', 'ENFILE');
  // The name is the second field, in parentheses, and may contain blanks and parentheses, so fields are counted after
  // it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && { state: fields[0] ?? '', parent: Number(fields[1]), startTime: fields[19] ?? '' };
}
