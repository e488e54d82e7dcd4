import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreErrno } from '../../platform/errno.ts';
import {
  claimDataFolder,
  DataFolderInUse,
  DataFolderUnusable,
  syncFolder,
} from '../../platform/process/data-folder.ts';
import { CHECKSUM_FILE, MANIFEST_FILE, SECRETS_FOLDER, TABLES_FOLDER } from './manifest.ts';
import { BackupRefused, explaining } from './refusal.ts';

/** Names of finished backups sort by time. */
const FINISHED = /^gantry-\d{8}T\d{6}Z(?:-\d+)?$/;

/** Prefix of a backup that is being written, or whose process was killed. */
const PARTIAL = '.partial-';

/** The folder of the pictures of all backups beside it, named by their hashes. */
export const POOL = 'pictures';

/**
 * Prepares the folder of backups for one that is about to be made, and claims it: what killed backups left is removed.
 * @throws BackupRefused when it cannot be used, or another process uses it
 */
export async function claimBackupFolder(folder: string): Promise<AsyncDisposable> {
  return explaining(folder, async () => {
    // Only its last part is created: a longer path that is missing is usually a disk that is not mounted.
    if (!(await ignoreErrno(stat(folder), 'ENOENT'))) await mkdir(folder, { mode: 0o700 });
    const claim = await claimAsData(folder);
    try {
      for (const name of await readdir(folder)) {
        if (name.startsWith(PARTIAL)) await rm(join(folder, name), { recursive: true, force: true });
      }
      return claim;
    } catch (error) {
      await claim[Symbol.asyncDispose]();
      throw error;
    }
  });
}

async function claimAsData(folder: string): Promise<AsyncDisposable> {
  try {
    return await claimDataFolder(folder);
  } catch (error) {
    if (error instanceof DataFolderInUse) {
      throw new BackupRefused(`Another process is making a backup in ${folder}: wait until it has finished`, {
        cause: error,
      });
    }
    throw error instanceof DataFolderUnusable && error.cause instanceof Error ? error.cause : error;
  }
}

/** A backup that is being written. It appears under its name when it is finished, complete. */
export interface Draft {
  readonly name: string;
  readonly path: string;
  /** Gives it its name. @returns its path */
  finish(): Promise<string>;
}

/** Begins a backup. @param madeAt its time, from which its name is made */
export async function createDraft(folder: string, madeAt: Date): Promise<Draft> {
  const name = await freeName(folder, `gantry-${madeAt.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`);
  const path = join(folder, `${PARTIAL}${name}`);
  await mkdir(path, { mode: 0o700 });
  for (const inside of [TABLES_FOLDER, SECRETS_FOLDER]) await mkdir(join(path, inside), { mode: 0o700 });
  return {
    name,
    path,
    async finish() {
      for (const inside of [TABLES_FOLDER, SECRETS_FOLDER, '.']) await syncFolder(join(path, inside));
      const finished = join(folder, name);
      await rename(path, finished);
      await syncFolder(folder);
      return finished;
    },
  };
}

async function freeName(folder: string, wanted: string): Promise<string> {
  const names = new Set(await readdir(folder));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!names.has(name)) return name;
  }
}

/** The names of the finished backups in a folder, oldest first. */
export async function listBackups(folder: string): Promise<string[]> {
  const names = ((await ignoreErrno(readdir(folder), 'ENOENT')) ?? []).filter((name) => FINISHED.test(name));
  return names.sort(byAge);
}

/** `…Z-10` was made after `…Z-2`. */
function byAge(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/**
 * Removes all backups but the newest ones. Each loses its name first, so that none is ever seen in part.
 * @returns the names of those that were removed
 */
export async function removeOldBackups(folder: string, keep: number): Promise<string[]> {
  const old = (await listBackups(folder)).slice(0, -keep);
  for (const name of old) {
    const going = join(folder, `${PARTIAL}${name}`);
    await rename(join(folder, name), going);
    await rm(going, { recursive: true, force: true });
  }
  if (old.length > 0) await syncFolder(folder);
  return old;
}

/**
 * Finds the archive that a path names: the folder of one backup, or the folder of several, whose newest is taken.
 * @throws BackupRefused when there is none
 */
export async function findArchive(path: string): Promise<string> {
  const found = await ignoreErrno(readdir(path), 'ENOENT', 'ENOTDIR', 'EACCES');
  if (!found)
    throw new BackupRefused(`${path} is not a folder that can be read: name the folder of a backup`);
  if (found.includes(MANIFEST_FILE) || found.includes(CHECKSUM_FILE)) return path;
  const newest = (await listBackups(path)).at(-1);
  if (newest === undefined) {
    throw new BackupRefused(`There is no backup in ${path}: name the folder of one, gantry-<time>`);
  }
  return join(path, newest);
}
