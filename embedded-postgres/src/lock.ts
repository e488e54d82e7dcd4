import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoreErrno } from './errno.ts';
import { commandLineOf, isAlive, isTaken, workingFolderOf } from './processes.ts';

/** Milliseconds that the creator of a lock file has to fill it. */
const FILLING_MS = 1_000;
const POLL_MS = 20;

/** The contents of postmaster.pid, by which PostgreSQL's server locks its folder. */
export interface Lock {
  readonly pid: number;
  readonly port: number;
  /** `starting`, `ready`, `stopping` or `standby`; empty if the server has not written it yet. */
  readonly status: string;
}

/** Undefined if there is no lock, or an empty one. */
export async function readLock(folder: string): Promise<Lock | undefined> {
  const text = await ignoreErrno(readFile(pathOf(folder), 'utf8'), 'ENOENT');
  const [pid, , , port, , , , status] = (text ?? '').split('\n');
  return Number(pid) > 0 ? { pid: Number(pid), port: Number(port), status: status?.trim() ?? '' } : undefined;
}

/**
 * Whether the process is the PostgreSQL server of this folder, rather than another process with the number of a dead
 * server.
 */
export async function isServerOf(folder: string, pid: number): Promise<boolean> {
  if (!(await isAlive(pid))) return false;
  const command = await commandLineOf(pid);
  if (!/(^|\/)postgres -/.test(command)) return false;
  return (await workingFolderOf(pid)) === folder || command.includes(` -D ${folder} `);
}

/**
 * Removes a lock whose number now belongs to another process, or that its dead writer never filled: PostgreSQL
 * considers both a running server. A lock with an unused number stays, because PostgreSQL uses it to detect lingering
 * processes.
 */
export async function removeStaleLock(folder: string): Promise<void> {
  const lock = await readFilledLock(folder);
  const foreign = lock && isTaken(lock.pid) && !(await isServerOf(folder, lock.pid));
  if (!lock || foreign) await rm(pathOf(folder), { force: true });
}

async function readFilledLock(folder: string): Promise<Lock | undefined> {
  const deadline = performance.now() + FILLING_MS;
  for (;;) {
    const lock = await readLock(folder);
    if (lock || performance.now() > deadline) return lock;
    if (!(await ignoreErrno(stat(pathOf(folder)), 'ENOENT'))) return undefined;
    await sleep(POLL_MS);
  }
}

function pathOf(folder: string): string {
  return join(folder, 'postmaster.pid');
}
