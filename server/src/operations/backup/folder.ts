import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '@gantry/contract/durations';
import { DataFolderInUse, DataFolderUnusable, syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Logger } from 'pino';
import type { LocatedImage } from '../../images/verify.ts';
import { dataFolderAt } from '../../platform/database/open.ts';
import { machineTime } from '../../platform/machine-time.ts';
import {
  CHECKSUM_FILE,
  MANIFEST_FILE,
  manifestOwner,
  parseManifest,
  readCompressed,
  readManifest,
  SECRETS_FOLDER,
  TABLES_FOLDER,
} from './archive.ts';
import { POOL, poolFor } from './encryption.ts';
import { BackupRefused, explaining } from './refusal.ts';
import { readImageList, removeUnlisted } from './stored-images.ts';

/** The form of the names of finished backups, which sort by time. */
const FINISHED = /^gantry-\d{8}T\d{6}Z(?:-\d+)?$/;

/** Prefix of a backup that is being written, or whose process was killed. */
const PARTIAL = '.partial-';

/** The folders of images: of backups that are not encrypted, and of those for the same recipients. */
const IS_POOL = /^pictures(?:-[0-9a-f]{16})?$/;

/** How far the clocks of the database and of the machine that restores may differ, in milliseconds. */
const AHEAD_MS = DAY_MS;

/**
 * Claims the folder of backups for one that is about to be made, and removes what backups that were killed left in it.
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
    return await dataFolderAt(folder).claim();
  } catch (error) {
    if (error instanceof DataFolderInUse) {
      throw new BackupRefused(`Another process is making a backup in ${folder}: wait until it has finished`, {
        cause: error,
      });
    }
    throw error instanceof DataFolderUnusable && error.cause instanceof Error ? error.cause : error;
  }
}

/** A backup that is being written. It gets its final name only when it is complete. */
export interface Draft {
  readonly name: string;
  readonly path: string;
  /** Gives the backup its final name. @returns its path */
  finish(): Promise<string>;
  /** Removes the backup. */
  discard(): Promise<void>;
}

/** Begins a backup. @param madeAt its time, from which its name is made */
export async function createDraft(folder: string, madeAt: Date): Promise<Draft> {
  const name = await freeName(folder, nameAt(madeAt));
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
    discard: () => rm(path, { recursive: true, force: true }),
  };
}

function nameAt(time: Date): string {
  return `gantry-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
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
 * Removes the backups of an installation except the newest ones. Those of others, and those that do not say of which
 * installation they are, stay. Each one is renamed first, so that no backup is ever seen incomplete.
 * @param keep how many backups are kept
 * @param made the name of the backup just made, which is kept even if the names of others are from the future
 * @returns the names of those that were removed
 */
export async function removeOldBackups(folder: string, keep: number, made: string): Promise<string[]> {
  const own = await installationOf(folder, made);
  const others: string[] = [];
  for (const name of await listBackups(folder)) {
    if (name === made) continue;
    if (own !== null && (await installationOf(folder, name)) === own) others.push(name);
  }
  const old = others.slice(0, Math.max(0, others.length - (keep - 1)));
  for (const name of old) {
    const going = join(folder, `${PARTIAL}${name}`);
    await rename(join(folder, name), going);
    await rm(going, { recursive: true, force: true });
  }
  if (old.length > 0) await syncFolder(folder);
  return old;
}

/** The installation of which a backup was made; null when the backup does not name one, or cannot be read. */
async function installationOf(folder: string, name: string): Promise<string | null> {
  const text = await ignoreErrno(
    readFile(join(folder, name, MANIFEST_FILE), 'utf8'),
    'ENOENT',
    'ENOTDIR',
    'EACCES',
  );
  const owned = manifestOwner.safeParse(parseManifest(text ?? ''));
  return owned.success ? owned.data.installationId : null;
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
  if (newest > nameAt(new Date(machineTime() + AHEAD_MS))) {
    throw new BackupRefused(
      `The newest backup in ${path}, ${newest}, is named after a time in the future, when the clock was wrong: name the folder of the one to restore`,
    );
  }
  return join(path, newest);
}

/** Removes the images that no backup of the folder names. If a backup cannot be read, all stay. */
export async function cleanPool(folder: string, log: Pick<Logger, 'warn'>): Promise<void> {
  try {
    const pools = new Map<string, AsyncGenerator<LocatedImage>[]>();
    for (const name of await readdir(folder)) if (IS_POOL.test(name)) pools.set(name, []);
    for (const name of await listBackups(folder)) {
      const path = join(folder, name);
      const { pictures, recipients = [] } = await readManifest(path);
      pools.get(poolFor(recipients))?.push(readImageList(readCompressed(path, pictures.file)));
    }
    for (const [name, lists] of pools) {
      await removeUnlisted(join(folder, name), lists);
      // The images of former recipients, of whose backups none is left.
      if (lists.length === 0 && name !== POOL) await rm(join(folder, name), { recursive: true, force: true });
    }
  } catch (err) {
    log.warn({ err }, 'images of old backups are kept, because a backup cannot be read');
  }
}
