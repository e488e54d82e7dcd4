import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, readlink, realpath, rename, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Application } from './application.ts';
import { hasErrno, ignoreErrno } from './errno.ts';

/** PostgreSQL refuses to run as root. Ordinary systems have these users, the preferred one first. */
const UNPRIVILEGED_USERS = ['postgres', 'nobody'];

/** The embedded PostgreSQL cannot be used here. The message says what to do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name: string = 'EmbeddedDatabaseError';
}

/** The user that runs PostgreSQL when the service runs as root. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The location and the owner of the cluster (PostgreSQL's data folder), which may not exist yet. */
export interface DatabaseHome {
  readonly cluster: string;
  readonly exists: boolean;
  /** Whether it is in a shared folder of the application instead of the data folder. */
  readonly isOutside: boolean;
  /** Undefined for the user of this process. */
  readonly account: Account | undefined;
}

/**
 * Finds the location of the database of a data folder. It is `<dataDir>/postgres`, which may be a link. A new
 * database is created in the shared folder, in a folder named after the data folder's path, only if the program runs
 * as root and PostgreSQL's user cannot enter the data folder.
 * @throws {EmbeddedDatabaseError} when there is a database that cannot be used, or when the service runs as root and no
 * other user can run PostgreSQL
 */
export async function findDatabaseHome(dataDir: string, application: Application): Promise<DatabaseHome> {
  const folder = await realpath(dataDir);
  const inside = join(folder, 'postgres');
  if (await isPresent(inside)) return describeExisting(inside, folder, application);
  if (process.getuid?.() !== 0)
    return { cluster: inside, exists: false, isOutside: false, account: undefined };
  for (const home of sharedFoldersOf(application)) {
    const present = join(home, nameAfter(folder), 'postgres');
    if (await isPresent(present)) return describeExisting(present, folder, application);
  }
  const account = await findUnprivilegedAccount(application);
  const isOutside = !(await canEnter(account, folder));
  const cluster = isOutside ? join(application.sharedFolder, nameAfter(folder), 'postgres') : inside;
  return { cluster, exists: false, isOutside, account };
}

/**
 * Moves the database of a data folder from the former shared folder to the present one, unless a server runs on it. The
 * data folder's link to it is replaced, also where an earlier move was interrupted. Does nothing for users other than root.
 */
export async function moveFormerDatabase(
  dataDir: string,
  application: Application,
  log: (line: string) => void,
): Promise<void> {
  const { sharedFolder, formerSharedFolder } = application;
  if (process.getuid?.() !== 0 || formerSharedFolder === undefined) return;
  const link = join(dataDir, 'postgres');
  const target = await ignoreErrno(readlink(link), 'ENOENT', 'EINVAL');
  const former = dirname(target ?? join(formerSharedFolder, nameAfter(await realpath(dataDir)), 'postgres'));
  if (dirname(former) !== formerSharedFolder) return;
  const moved = join(sharedFolder, basename(former));
  if (await isPresent(join(former, 'postgres'))) {
    if ((await isServerRunning(join(former, 'postgres'))) || (await isPresent(moved))) return;
    await makeSharedFolder(sharedFolder, application);
    // Left in its place where that is a file system of its own.
    await ignoreErrno(rename(former, moved), 'EXDEV');
  }
  if ((await isPresent(join(former, 'postgres'))) || !(await isPresent(join(moved, 'postgres')))) return;
  const draft = `${link}.${process.pid}`;
  await symlink(join(moved, 'postgres'), draft);
  await rename(draft, link);
  log(`The database was moved from ${former} to ${moved}`);
}

/** Whether the process of the cluster's postmaster.pid exists. */
async function isServerRunning(cluster: string): Promise<boolean> {
  const text = await ignoreErrno(readFile(join(cluster, 'postmaster.pid'), 'utf8'), 'ENOENT');
  const pid = Number(text?.split('\n')[0]);
  if (!(pid > 0)) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasErrno(error, 'ESRCH');
  }
}

/**
 * Creates the shared folder, or a folder in it, and lets every user pass through, regardless of the umask.
 * @throws {EmbeddedDatabaseError} when it cannot be written
 */
export async function makeSharedFolder(path: string, application: Application): Promise<void> {
  const { name, serverSetting, sharedFolder } = application;
  try {
    await mkdir(path, { recursive: true });
    for (const folder of [sharedFolder, path]) await chmod(folder, 0o755);
  } catch (error) {
    throw new EmbeddedDatabaseError(
      `PostgreSQL cannot work in ${name}'s own folders as an unprivileged user, and ${path} cannot be made ` +
        `(${String(error)}). Run ${name} as an ordinary user, or set ${serverSetting}.`,
      { cause: error },
    );
  }
}

/** Whether the account can pass through the folder and all its parents. */
export async function canEnter(account: Account, folder: string): Promise<boolean> {
  const path = await realpath(folder);
  const parent = dirname(path);
  return (await grants(account, path, 0o1)) && (parent === path || (await canEnter(account, parent)));
}

/** Whether the account can reach the file and read and run it (`5`), or only read it (`4`). */
export async function canUse(account: Account, file: string, bits: 4 | 5): Promise<boolean> {
  return (await canEnter(account, dirname(file))) && (await grants(account, file, bits));
}

/** Spawn options that run a child as the account, with an environment without secrets. */
export function runAs(account: Account | undefined) {
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return { cwd: '/', env, ...(account && { uid: account.uid, gid: account.gid }) };
}

async function grants(account: Account, path: string, bits: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}

function sharedFoldersOf({ sharedFolder, formerSharedFolder }: Application): string[] {
  return formerSharedFolder === undefined ? [sharedFolder] : [sharedFolder, formerSharedFolder];
}

async function describeExisting(
  path: string,
  dataDir: string,
  application: Application,
): Promise<DatabaseHome> {
  const cluster = await ignoreErrno(realpath(path), 'ENOENT');
  if (!cluster) {
    throw new EmbeddedDatabaseError(
      `${path} is a link to the database, which is gone. Restore it, or remove the link to start with an empty one.`,
    );
  }
  const account = await findRunner(cluster, application);
  const exists = await isPresent(join(cluster, 'PG_VERSION'));
  const isOutside =
    dirname(cluster) !== dataDir && sharedFoldersOf(application).includes(dirname(dirname(cluster)));
  return { cluster, exists, isOutside, account };
}

/** PostgreSQL requires that the owner of a cluster runs it. */
async function findRunner(cluster: string, application: Application): Promise<Account | undefined> {
  const { uid, gid } = await stat(cluster);
  const name = (await findAccount((account) => account.uid === uid))?.name ?? `number ${uid}`;
  const self = process.getuid?.();
  if (self !== 0 && uid === self) return undefined;
  if (self !== 0) {
    throw new EmbeddedDatabaseError(
      `The database in ${cluster} belongs to user ${name}. Run ${application.name} as that user or as root.`,
    );
  }
  if (uid === 0) {
    const { name } = await findUnprivilegedAccount(application);
    throw new EmbeddedDatabaseError(
      `The database in ${cluster} belongs to root, and PostgreSQL refuses to run as root. Run: chown -R ${name} ${cluster}`,
    );
  }
  if (await canEnter({ name, uid, gid }, cluster)) return { name, uid, gid };
  throw new EmbeddedDatabaseError(
    `The database in ${cluster} belongs to user ${name}, who can no longer get there. ` +
      'Allow all users to pass through the folders above it (chmod o+x).',
  );
}

async function isPresent(path: string): Promise<boolean> {
  return (await ignoreErrno(lstat(path), 'ENOENT')) !== undefined;
}

async function findUnprivilegedAccount({ name: program, serverSetting }: Application): Promise<Account> {
  for (const name of UNPRIVILEGED_USERS) {
    const account = await findAccount((candidate) => candidate.name === name && candidate.uid > 0);
    if (account) return account;
  }
  throw new EmbeddedDatabaseError(
    `PostgreSQL refuses to run as root, and there is no user ${UNPRIVILEGED_USERS.join(' or ')} to run it as. ` +
      `Run ${program} as an ordinary user, or set ${serverSetting} to a PostgreSQL server of your own.`,
  );
}

async function findAccount(wanted: (account: Account) => boolean): Promise<Account | undefined> {
  const lines = ((await ignoreErrno(readFile('/etc/passwd', 'utf8'), 'ENOENT')) ?? '').split('\n');
  const accounts = lines.map((line) => line.split(':'));
  return accounts
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .find((account) => wanted(account));
}

/** `/root/city/data` → `root-city-data-<hash of the path>`: readable and unique. */
function nameAfter(path: string): string {
  const readable = path
    .replaceAll(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(-48);
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 12);
  return `${readable || basename(path)}-${hash}`;
}
