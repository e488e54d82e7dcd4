import { access, constants, realpath, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Finding } from '@gantry/contract/doctor';
import type { Config } from '../platform/config.ts';
import { hasErrno, ignoreErrno } from '../platform/errno.ts';
import { advice, fine, problem } from './findings.ts';

/** Below these the disk counts as full, and as filling. */
const FULL = { share: 0.05, bytes: 1e9 };
const FILLING = { share: 0.15, bytes: 5e9 };

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** The data folder: its rights, the space on its disk, and secrets that no longer have to be there. */
export async function examineFolder(config: Config): Promise<Finding[]> {
  const { DATA_DIR } = config;
  if (await isMissing(DATA_DIR)) {
    return [(config.DATABASE_URL ? fine : missing)('folder', `There is no data folder ${DATA_DIR} yet.`)];
  }
  const found = await ignoreErrno(stat(DATA_DIR), 'EACCES');
  const isWritable = await access(DATA_DIR, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!found || !isWritable) {
    return [
      problem(
        'folder',
        `The data folder ${DATA_DIR} cannot be written by this user.`,
        'Give it to the user that runs Gantry (chown -R), or run this command as that user.',
      ),
    ];
  }
  return [
    ...examineRights(DATA_DIR, found.mode),
    ...(await examineSecrets(config)),
    ...(await examineSpace(DATA_DIR)),
  ];
}

function isMissing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    (error: unknown) => hasErrno(error, 'ENOENT'),
  );
}

function missing(about: 'folder', finding: string): Finding {
  return advice(about, finding, 'Start the service once, or name the folder with DATA_DIR.');
}

function examineRights(dataDir: string, mode: number): Finding[] {
  if ((mode & 0o022) === 0) return [];
  return [
    problem(
      'folder',
      `Other users may write to the data folder ${dataDir} (mode ${(mode & 0o777).toString(8)}).`,
      `Run: chmod go-w ${dataDir}`,
    ),
  ];
}

async function examineSecrets({ DATA_DIR, NODE_ENV }: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  const first = join(DATA_DIR, 'initial-admin-password');
  if (await ignoreErrno(stat(first), 'ENOENT')) {
    found.push(
      (NODE_ENV === 'production' ? problem : advice)(
        'secrets',
        `The generated password of the first administrator is still in ${first}.`,
        'Log in, choose a password of your own, and delete the file.',
      ),
    );
  }
  const readable: string[] = [];
  const secrets = [join(DATA_DIR, 'jwt-secret'), join(DATA_DIR, 'database-password'), first, resolve('.env')];
  for (const path of secrets) {
    const file = await ignoreErrno(stat(path), 'ENOENT', 'EACCES');
    if (file && (file.mode & 0o004) !== 0) readable.push(path);
  }
  if (readable.length > 0)
    found.push(
      problem(
        'secrets',
        `Every user of this machine can read ${readable.join(', ')}.`,
        `Run: chmod 600 ${readable.join(' ')}`,
      ),
    );
  return found;
}

async function examineSpace(dataDir: string): Promise<Finding[]> {
  // The database may lie elsewhere, behind a link.
  const database = await ignoreErrno(realpath(join(dataDir, 'postgres')), 'ENOENT', 'EACCES');
  const folders = new Map<number, string>();
  for (const folder of [dataDir, database]) {
    if (folder === undefined) continue;
    const { dev } = (await ignoreErrno(stat(folder), 'EACCES')) ?? { dev: -1 };
    if (!folders.has(dev)) folders.set(dev, folder);
  }
  return Promise.all([...folders.values()].map(examineDisk));
}

async function examineDisk(folder: string): Promise<Finding> {
  const { bsize, blocks, bavail } = await statfs(folder);
  const free = bsize * bavail;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const finding = `${gigabytes(free)} (${Math.floor(share * 100)} %) are free on the disk of ${folder}.`;
  const remedy = 'Enlarge the disk, or keep data for a shorter time (Storage in the console).';
  const isBelow = (limit: typeof FULL): boolean => free < limit.bytes || share < limit.share;
  if (isBelow(FULL)) return problem('folder', finding, remedy);
  return isBelow(FILLING) ? advice('folder', finding, remedy) : fine('folder', finding);
}
