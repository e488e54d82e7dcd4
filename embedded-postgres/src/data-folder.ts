import { randomUUID } from 'node:crypto';
import {
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from './application.ts';
import { hasErrno, ignoreErrno } from './errno.ts';
import { isAlive, processSpace, startTimeOf } from './processes.ts';

/** The intervals at which a process renews its claim and checks those of others, in milliseconds. */
export interface ClaimPace {
  /** Between two renewals. */
  readonly beatMs: number;
  /** How long another process waits for a renewal. */
  readonly watchMs: number;
}

const CLAIM_PACE: ClaimPace = { beatMs: 2_000, watchMs: 7_000 };

/** Between two checks of a claim of another process, in milliseconds. */
const LOOK_MS = 250;

/** Another live process uses the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';

  constructor({ path, application }: DataFolder, holder: string) {
    super(
      `The data folder ${path} is in use by another ${application.name} process (${holder}). ` +
        `Stop that process first, or give this one a folder of its own with ${application.folderSetting}.`,
    );
  }
}

/** The data folder cannot be created, entered, read or written. */
export class DataFolderUnusable extends Error {
  override readonly name = 'DataFolderUnusable';

  constructor({ path, application }: DataFolder, cause: NodeJS.ErrnoException) {
    const isFull = hasErrno(cause, 'ENOSPC', 'EDQUOT');
    const remedy = isFull
      ? 'Free space there'
      : `Give it to the user that runs ${application.name}, run this as that user`;
    super(
      `The data folder ${path} cannot be used (${cause.message}). ${remedy}, or choose another folder with ${application.folderSetting}.`,
      { cause },
    );
  }
}

/** The error codes that mean that the folder itself is unusable. */
const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOSPC', 'EDQUOT'];

interface Holder {
  readonly pid: number;
  readonly space: string;
  readonly startTime: string;
}

interface Claim {
  readonly number: number;
  readonly path: string;
  readonly holder: Holder | undefined;
}

/** The folder with all data of an application. One process owns it. */
export class DataFolder {
  readonly path: string;
  readonly application: Application;

  constructor(path: string, application: Application) {
    this.path = path;
    this.application = application;
  }

  /**
   * Claims the folder for this process until disposed of; creates it if necessary. A claim is a symbolic link
   * `claim-<n>` whose target names the holder, and the highest n is valid. Creating a link is atomic, a claim of a dead
   * holder is superseded by n + 1, and a claim is removed only when a higher one exists. So exactly one of any number
   * of processes that start at the same instant gets the folder.
   * @param pace how often the claim is renewed, and how long to wait for the renewal of a claim that another machine made
   * @param signal interrupts the wait
   * @throws {DataFolderInUse} when another live process holds it
   * @throws {DataFolderUnusable} when it cannot be created or written
   */
  async claim(pace: ClaimPace = CLAIM_PACE, signal?: AbortSignal): Promise<AsyncDisposable> {
    await this.make();
    const self = await describeSelf();
    return this.explaining(async () => {
      for (;;) {
        const highest = await findHighestClaim(this.path);
        const holder = await holderAlive(highest, pace, signal);
        if (holder !== null) throw new DataFolderInUse(this, holder);
        const claim = await bid(this.path, highest.number + 1, self);
        if (!claim) continue;
        await removeClaimsBelow(this.path, claim.number);
        return keepClaim(this.path, claim, pace);
      }
    });
  }

  /**
   * Reads the secret in the file `name`, or creates it (readable by its owner only) with the result of `generate`.
   * Atomic: concurrent processes get the same secret, and a crash leaves either none or a complete one.
   * @throws {DataFolderUnusable} when it cannot be read or written
   */
  async keepSecret(name: string, generate: () => string): Promise<string> {
    await this.make();
    const path = join(this.path, name);
    return this.explaining(async () => (await readSecret(path)) ?? (await makeSecret(path, generate())));
  }

  /**
   * Creates the folder unless it exists.
   * @throws {DataFolderUnusable}
   */
  async make(): Promise<void> {
    // Others may pass through but not list it: if started by root, the database works inside as another user.
    const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
    await this.explaining(() => makeFolder(this.path, mode), [...REFUSALS, 'ENOENT']);
  }

  /**
   * Runs work in the folder and translates its errors.
   * @param refusals the error codes that mean that the folder is unusable
   * @throws {DataFolderUnusable} when the work fails with one of them; other errors are thrown unchanged
   */
  async explaining<T>(work: () => Promise<T>, refusals: readonly string[] = REFUSALS): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error && hasErrno(error, ...refusals)) throw new DataFolderUnusable(this, error);
      throw error;
    }
  }
}

/**
 * Creates the folder and those above it. The recursive `mkdir` of Node.js never returns where the system reports a
 * missing parent for a folder that it refuses, as Linux does in /proc.
 */
async function makeFolder(path: string, mode: number): Promise<void> {
  const parent = dirname(path);
  if (parent !== path && !(await ignoreErrno(stat(parent), 'ENOENT'))) await makeFolder(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (!hasErrno(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
  }
}

/** Makes created, renamed and removed entries of the folder survive a power failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function describeSelf(): Promise<Holder> {
  const startTime = await startTimeOf(process.pid);
  return { pid: process.pid, space: await processSpace(), startTime: startTime ?? '' };
}

function readHolder(target: string): Holder | undefined {
  const [, pid, space, startTime] = /^pid (\d+) in (\S*) since (.*)$/.exec(target) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), space: space ?? '', startTime: startTime ?? '' };
}

function writeHolder(holder: Holder): string {
  return `pid ${holder.pid} in ${holder.space} since ${holder.startTime}`;
}

async function listClaims(dataDir: string): Promise<{ number: number; path: string }[]> {
  const names = (await readdir(dataDir)).filter((name) => /^claim-\d+$/.test(name));
  return names.map((name) => ({ number: Number(name.slice('claim-'.length)), path: join(dataDir, name) }));
}

async function findHighestClaim(dataDir: string): Promise<Claim> {
  for (;;) {
    const highest = (await listClaims(dataDir)).sort((a, b) => b.number - a.number)[0];
    if (!highest) return { number: 0, path: '', holder: undefined };
    const target = await ignoreErrno(readlink(highest.path), 'ENOENT');
    if (target !== undefined) return { ...highest, holder: readHolder(target) };
  }
}

/** Describes the process that holds the claim, for people; null if there is none or it has ended. */
async function holderAlive(
  { path, holder }: Claim,
  { watchMs }: ClaimPace,
  signal?: AbortSignal,
): Promise<string | null> {
  if (!holder) return null;
  if (holder.space !== (await processSpace())) {
    const isAway = await showsLife(path, watchMs, signal);
    return isAway ? `pid ${holder.pid} in another container or on another machine` : null;
  }
  if (!(await isAlive(holder.pid))) return null;
  const startTime = await startTimeOf(holder.pid);
  return startTime === undefined || startTime === holder.startTime ? `pid ${holder.pid}` : null;
}

/**
 * Whether the holder of a claim still renews it. Process numbers from another machine or container cannot be looked up.
 */
async function showsLife(path: string, watchMs: number, signal?: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + watchMs;
  const before = await ignoreErrno(lstat(path), 'ENOENT');
  while (performance.now() < deadline) {
    await sleep(Math.min(LOOK_MS, watchMs / 10), undefined, { signal });
    const now = await ignoreErrno(lstat(path), 'ENOENT');
    if (!now) return false;
    if (now.mtimeMs !== before?.mtimeMs) return true;
  }
  return false;
}

/** Makes a claim with this number. Undefined if another process was faster and holds this number or a higher one. */
async function bid(dataDir: string, number: number, self: Holder): Promise<Claim | undefined> {
  const path = join(dataDir, `claim-${number}`);
  try {
    await symlink(writeHolder(self), path);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return undefined;
    throw error;
  }
  if ((await findHighestClaim(dataDir)).number === number) return { number, path, holder: self };
  await rm(path, { force: true });
  return undefined;
}

async function removeClaimsBelow(dataDir: string, number: number): Promise<void> {
  const lower = (await listClaims(dataDir)).filter((claim) => claim.number < number);
  await Promise.all(lower.map((claim) => rm(claim.path, { force: true })));
}

function keepClaim(dataDir: string, claim: Claim, { beatMs }: ClaimPace): AsyncDisposable {
  let released = false;
  let warned = false;
  const timer = setInterval(() => {
    const now = new Date(Date.now());
    lutimes(claim.path, now, now).catch((error: Error) => {
      if (!released && !warned) process.emitWarning(`${claim.path} cannot be kept fresh: ${error.message}`);
      warned = true;
    });
  }, beatMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      if (released) return;
      released = true;
      clearInterval(timer);
      await ignoreErrno(symlink('released', join(dataDir, `claim-${claim.number + 1}`)), 'EEXIST', 'ENOENT');
      await rm(claim.path, { force: true });
    },
  };
}

async function readSecret(path: string): Promise<string | undefined> {
  const secret = (await ignoreErrno(readFile(path, 'utf8'), 'ENOENT'))?.trim();
  if (secret === '') throw new Error(`The secret file ${path} is empty. Restore it from a backup.`);
  return secret;
}

/** Stores the secret, unless another process was faster. @returns the secret that is stored */
async function makeSecret(path: string, secret: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeDurably(draft, `${secret}\n`);
    await ignoreErrno(link(draft, path), 'EEXIST');
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(dirname(path));
  return (await readSecret(path)) ?? secret;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
