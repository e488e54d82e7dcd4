import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Logger } from 'pino';
import { readMigrations } from '../../platform/database/migrate.ts';
import { migrationsFolder, version } from '../../platform/installation.ts';
import { checkFile, damaged, readCompressed } from './archive-file.ts';
import { listBackups, POOL } from './folder.ts';
import {
  CHECKSUM_FILE,
  MANIFEST_FILE,
  type Manifest,
  manifest,
  manifestHead,
  parseManifest,
} from './manifest.ts';
import { forEachPicture, hashOf, pathInPool, readPictureList, removeUnlisted } from './pictures.ts';
import { BackupRefused } from './refusal.ts';
/**
 * Reads the manifest of an archive.
 * @throws BackupRefused when it is missing, was changed, or is not one that this version reads
 */
export async function readManifest(archive: string): Promise<Manifest> {
  const bytes = await ignoreErrno(readFile(join(archive, MANIFEST_FILE)), 'ENOENT', 'EISDIR');
  if (!bytes) throw damaged(archive, `${MANIFEST_FILE} is missing`);
  const sums = await ignoreErrno(readFile(join(archive, CHECKSUM_FILE), 'utf8'), 'ENOENT', 'EISDIR');
  if (sums === undefined) throw damaged(archive, `${CHECKSUM_FILE} is missing`);
  if (sums.split(/\s/, 1)[0] !== createHash('sha256').update(bytes).digest('hex')) {
    throw damaged(archive, `${MANIFEST_FILE} was changed`);
  }
  const content = parseManifest(bytes.toString('utf8'));
  const head = manifestHead.safeParse(content);
  if (!head.success) throw new BackupRefused(`${archive} is not a backup of Gantry: name the folder of one`);
  const read = manifest.safeParse(content);
  if (read.success) return read.data;
  if (head.data.formatVersion > 1) throw newer(archive, head.data.gantryVersion);
  const [issue] = read.error.issues;
  throw damaged(archive, `${MANIFEST_FILE} has no valid ${issue?.path.join('.')}`);
}

/**
 * Checks that this version knows the schema of the archive.
 * @throws BackupRefused when the archive was made by a newer version, or by one with changed migrations
 */
export async function checkVersion(archive: string, { migrations, gantryVersion }: Manifest): Promise<void> {
  const known = new Map(
    (await readMigrations(migrationsFolder)).map(({ name, checksum }) => [name, checksum]),
  );
  for (const { name, checksum } of migrations) {
    if (!known.has(name)) throw newer(archive, gantryVersion);
    if (known.get(name) !== checksum) {
      throw new BackupRefused(
        `The backup ${archive} was made by a Gantry whose migration ${name} differs from that of this version: restore it with the version that made it`,
      );
    }
  }
}

function newer(archive: string, by: string): BackupRefused {
  return new BackupRefused(
    `The backup ${archive} was made by version ${by}, which is newer than this one (${version}) or unknown to it: restore it with that version`,
  );
}

/**
 * Reads everything that an archive consists of and compares it with its manifest. Nothing is changed.
 * @param onProgress called with a number from 0 to 1
 * @throws BackupRefused that names the first thing that is wrong
 */
export async function verifyArchive(
  archive: string,
  onProgress: (done: number) => void = () => {},
): Promise<Manifest> {
  const described = await readManifest(archive);
  await checkVersion(archive, described);
  const { tables, pictures, secrets } = described;
  const files = [...tables.map(({ file }) => file), pictures.file, ...secrets];
  const all = files.reduce((sum, { bytes }) => sum + bytes, 1) + pictures.bytes;
  let done = 0;
  const advance = (bytes: number): void => {
    done += bytes;
    onProgress(Math.min(1, done / all));
  };
  for (const file of files) {
    await checkFile(archive, file);
    advance(file.bytes);
  }
  await checkPictures(archive, described, advance);
  return described;
}

async function checkPictures(
  archive: string,
  { pictures }: Manifest,
  advance: (bytes: number) => void,
): Promise<void> {
  const pool = poolOf(archive);
  const lacking = new Set(pictures.lacking);
  let count = 0;
  await forEachPicture(readPictureList(readCompressed(archive, pictures.file)), async ({ sha256, bytes }) => {
    if (lacking.has(sha256)) return;
    const path = pathInPool(pool, sha256);
    const found = await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR');
    if (!found) throw damaged(archive, `the picture ${path} is missing`);
    if (found.size !== bytes || hashOf(await readFile(path)) !== sha256) {
      throw damaged(archive, `the picture ${path} was changed`);
    }
    count++;
    advance(bytes);
  });
  if (count !== pictures.count) {
    throw damaged(archive, `${pictures.file.name} names ${count} pictures instead of ${pictures.count}`);
  }
}

/** The folder of the pictures of an archive, which is beside it. */
export function poolOf(archive: string): string {
  return join(dirname(archive), POOL);
}

/** Removes the pictures that no backup of the folder names. If a backup cannot be read, all stay. */
export async function cleanPool(folder: string, log: Pick<Logger, 'warn'>): Promise<void> {
  try {
    const lists = [];
    for (const name of await listBackups(folder)) {
      const path = join(folder, name);
      const { pictures } = await readManifest(path);
      lists.push(readPictureList(readCompressed(path, pictures.file)));
    }
    await removeUnlisted(join(folder, POOL), lists);
  } catch (err) {
    log.warn({ err }, 'pictures of old backups are kept, because a backup cannot be read');
  }
}
