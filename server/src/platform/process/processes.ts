import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { hasErrno, ignoreErrno } from '../errno.ts';

const run = promisify(execFile);

/** Whether a process runs under this number. A zombie, which has ended and only waits for its parent, does not. */
export async function isAlive(pid: number): Promise<boolean> {
  return isTaken(pid) && (await readStat(pid))?.state !== 'Z';
}

/**
 * When the process began, in the platform's own notation: good only for telling it from a later process that got
 * the same number. Undefined where there is no such process or where we may not see it.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return (await readStat(pid))?.startTime;
  return isTaken(pid) ? (await ps(pid, 'lstart')).stdout.trim() : undefined;
}

/** The words the process was started with, joined by blanks; empty where it has ended or hides them. */
export async function commandLineOf(pid: number): Promise<string> {
  if (process.platform !== 'linux') return isTaken(pid) ? (await ps(pid, 'command')).stdout.trim() : '';
  const words = await ignoreErrno(readFile(`/proc/${pid}/cmdline`, 'utf8'), 'ENOENT', 'ESRCH', 'EACCES');
  return (words ?? '').split('\0').join(' ').trim();
}

/** The folder the process works in, where the platform tells (Linux). */
export async function workingFolderOf(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  return ignoreErrno(readlink(`/proc/${pid}/cwd`), 'ENOENT', 'ESRCH', 'EACCES');
}

/**
 * Names the space in which a process number means something: this boot of this machine, and on Linux this
 * container. Numbers from another space say nothing about the processes seen here.
 */
export async function processSpace(): Promise<string> {
  if (process.platform !== 'linux') return hostname();
  const [boot, container] = await Promise.all([
    ignoreErrno(readFile('/proc/sys/kernel/random/boot_id', 'utf8'), 'ENOENT', 'EACCES'),
    ignoreErrno(readlink('/proc/self/ns/pid'), 'ENOENT', 'EACCES'),
  ]);
  return `${(boot ?? hostname()).trim()}/${container ?? ''}`;
}

/** How many files this process may have open, connections included; null where the platform does not tell. */
export async function openFilesLimit(): Promise<number | null> {
  if (process.platform !== 'linux') return null;
  const limits = await ignoreErrno(readFile('/proc/self/limits', 'utf8'), 'ENOENT', 'EACCES');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits ?? '') ?? [];
  return soft === undefined ? null : Number(soft);
}

/** Whether the number is in the process table, be it as that of a zombie. */
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

async function readStat(pid: number): Promise<{ state: string; startTime: string } | undefined> {
  if (process.platform !== 'linux') return undefined;
  const path = `/proc/${pid}/stat`;
  const stat = await ignoreErrno(readFile(path, 'utf8'), 'ENOENT', 'ESRCH', 'EACCES', 'EMFILE', 'ENFILE');
  // The name comes second, in parentheses, and may itself hold blanks and parentheses: count from behind it.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}
