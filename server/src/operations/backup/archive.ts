import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline as pipe, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { z } from 'zod';
import { imageFilesAt } from '../../images/blobs.ts';
import { readVerified } from '../../images/verify.ts';
import { readMigrations } from '../../platform/database/migrate.ts';
import { migrationsFolder, version } from '../../platform/installation.ts';
import { type Decryption, ENCRYPTED_SUFFIX, type Encryption, poolFor } from './encryption.ts';
import { BackupRefused } from './refusal.ts';
import {
  forEachContent,
  forEachImage,
  hasContent,
  pathInPool,
  poolOf,
  readImageList,
} from './stored-images.ts';

/** The files of an archive besides those of its tables. */
export const MANIFEST_FILE = 'manifest.json';
/** The checksum of the manifest, in the format of sha256sum. It is written last; then the folder gets its final name. */
export const CHECKSUM_FILE = 'manifest.sha256';
export const IMAGES_FILE = 'pictures.gz';
export const TABLES_FOLDER = 'tables';
export const SECRETS_FOLDER = 'secrets';

const FORMAT = 'gantry-backup';
/** Version 1 had no segments of images; in version 3 the files are encrypted. */
const FORMAT_VERSION = 2;
const ENCRYPTED_VERSION = 3;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
/** An id of an event, or a limit of a partition, which is not a UUID of any version. */
const eventId = z.guid();
const count = z.int().min(0);

/** A file of the archive. Its name is relative to the archive and leads nowhere else. */
const file = z.object({
  name: z.string().regex(/^(?:[a-z]+\/)?[a-z0-9_-]+(?:\.[a-z0-9]+)*$/),
  bytes: count,
  sha256,
});
export type ArchivedFile = z.infer<typeof file>;

const table = z.object({
  name: identifier,
  /** Set for a partition of `events`: the first id, and the first id after it. */
  bounds: z.object({ from: eventId, to: eventId }).nullable(),
  columns: z.array(identifier).min(1),
  rows: count,
  file,
});
export type ArchivedTable = z.infer<typeof table>;

const manifest = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.literal([1, FORMAT_VERSION, ENCRYPTED_VERSION]),
  /** The version of Gantry that made the archive. */
  gantryVersion: z.string(),
  /** Null when the schema is older than installation ids. */
  installationId: z.uuid().nullable(),
  /** The time of the snapshot, by the clock of the database. */
  madeAt: z.iso.datetime(),
  postgresql: z.string(),
  migrations: z.array(z.object({ name: z.string().regex(/^[\w-]+\.sql$/), checksum: sha256 })).min(1),
  tables: z.array(table).min(1),
  /** The last values of identity columns. */
  sequences: z.array(z.object({ table: identifier, column: identifier, value: count })),
  pictures: z.object({
    /** The list of images, as `imagesOut` writes it. */
    file,
    count,
    bytes: count,
    /** Images that the database names and that were missing or damaged in the store. */
    lacking: z.array(sha256),
  }),
  secrets: z.array(file),
  /** For whom all files but the manifest and the list of images are encrypted; absent if they are not. */
  recipients: z
    .array(z.string().regex(/^age1[0-9a-z]{58}$/))
    .min(1)
    .optional(),
});

/** A manifest of the format of encrypted archives says for whom they are encrypted, and no other does. */
const wholeManifest = manifest.refine(
  ({ formatVersion, recipients }) => (formatVersion === ENCRYPTED_VERSION) === (recipients !== undefined),
  { path: ['recipients'] },
);

/** What is in an archive. */
export type Manifest = z.infer<typeof manifest>;

/** The members by which any version of Gantry recognises an archive, whatever its format. */
const manifestHead = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.int(),
  gantryVersion: z.string(),
});

/** The member that names the installation of which an archive was made. */
export const manifestOwner = manifest.pick({ installationId: true });

/** What the text of a manifest contains; undefined when it is not JSON. */
export function parseManifest(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members of a manifest that say how it is to be read. */
export function manifestFormat(
  encryption: Encryption | null,
): Pick<Manifest, 'format' | 'formatVersion' | 'recipients'> {
  if (encryption === null) return { format: FORMAT, formatVersion: FORMAT_VERSION };
  return { format: FORMAT, formatVersion: ENCRYPTED_VERSION, recipients: [...encryption.recipients] };
}

/** Fast compression: it keeps up with the database, and makes text a fifth of its size. */
const LEVEL = 1;

/** Number of bytes of a file that are held in memory between disk and compression. */
const CHUNK = 256 * 1024;

/** Creates a stream that passes bytes on unchanged, and counts and hashes them. */
function createGauge() {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, read: () => ({ bytes, sha256: hash.digest('hex') }) };
}

interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with numbers of bytes that were read from the source. */
  readonly onBytes?: (bytes: number) => void;
  readonly encryption?: Encryption | null;
}

/** The name of a file of an archive. */
function nameOf(name: string, encryption: Encryption | null): string {
  return encryption === null ? name : `${name}${ENCRYPTED_SUFFIX}`;
}

/**
 * Writes a compressed file of the archive, readable by its owner only. It is on disk when this resolves.
 * @param plainName its name within the archive, without what is added if it is encrypted
 */
export async function writeCompressed(
  archive: string,
  plainName: string,
  source: Readable,
  { signal, onBytes, encryption = null }: WriteOptions = {},
): Promise<ArchivedFile> {
  const name = nameOf(plainName, encryption);
  const file = await open(join(archive, name), 'wx', 0o600);
  try {
    const gauge = createGauge();
    const gzip = createGzip({ level: LEVEL, chunkSize: CHUNK });
    let read = 0;
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) {
        await file.writeFile(chunk);
        onBytes?.(gzip.bytesWritten - read);
        read = gzip.bytesWritten;
      }
    };
    const options = signal ? { signal } : {};
    if (encryption === null) await pipeline(source, gzip, gauge.stream, write, options);
    else {
      const encrypt = (chunks: AsyncIterable<Uint8Array>) => encryption.encryptAll(chunks);
      await pipeline(source, gzip, encrypt, gauge.stream, write, options);
    }
    await file.sync();
    return { name, ...gauge.read() };
  } finally {
    await file.close();
  }
}

/** Writes a small file of the archive, readable by its owner only. It is on disk when this resolves. */
export async function writeSmall(
  archive: string,
  plainName: string,
  text: string,
  encryption: Encryption | null = null,
): Promise<ArchivedFile> {
  const name = nameOf(plainName, encryption);
  await mkdir(dirname(join(archive, name)), { recursive: true, mode: 0o700 });
  const bytes = encryption === null ? Buffer.from(text) : await encryption.encrypt(Buffer.from(text));
  const file = await open(join(archive, name), 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The uncompressed content of a file of the archive. The caller must have checked the file. */
export function readCompressed(
  archive: string,
  { name }: ArchivedFile,
  decryption: Decryption | null = null,
): Readable {
  const unzip = createGunzip({ chunkSize: CHUNK });
  const raw = createReadStream(join(archive, name), { highWaterMark: CHUNK });
  // Whoever reads `unzip` gets the error.
  const done = (): void => undefined;
  if (!name.endsWith(ENCRYPTED_SUFFIX)) pipe(raw, unzip, done);
  else {
    if (decryption === null) throw new Error(`${name} is encrypted`);
    pipe(raw, (chunks: AsyncIterable<Uint8Array>) => decryption.decryptAll(chunks), unzip, done);
  }
  return unzip;
}

/** The content of a small file of the archive. */
export async function readSmall(
  archive: string,
  { name }: ArchivedFile,
  decryption: Decryption | null,
): Promise<Buffer> {
  const bytes = await readFile(join(archive, name));
  if (!name.endsWith(ENCRYPTED_SUFFIX)) return bytes;
  if (decryption === null) throw new Error(`${name} is encrypted`);
  return decryption.decrypt(bytes);
}

/** The name of a file as it would be if it were not encrypted. */
export function plainNameOf({ name }: ArchivedFile): string {
  return name.endsWith(ENCRYPTED_SUFFIX) ? name.slice(0, -ENCRYPTED_SUFFIX.length) : name;
}

/**
 * Checks that an encrypted archive can be decrypted.
 * @throws BackupRefused without an identity, or with one of somebody else
 */
export async function requireIdentity(
  archive: string,
  { recipients }: Manifest,
  decryption: Decryption | null,
): Promise<void> {
  if (recipients === undefined) return;
  const list = recipients.join(', ');
  if (decryption === null)
    throw new BackupRefused(
      `The backup ${archive} is encrypted for ${list}: name the file of its identity with --identity`,
    );
  if (!(await decryption.fits(recipients)))
    throw new BackupRefused(
      `The identity does not belong to the backup ${archive}, which is encrypted for ${list}: name the file of that identity`,
    );
}

/**
 * Compares a file of the archive with its size and its hash.
 * @throws BackupRefused when the file is missing, or not as it was written
 */
async function checkFile(archive: string, { name, bytes, sha256 }: ArchivedFile): Promise<void> {
  const path = join(archive, name);
  const found = await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR');
  if (!found?.isFile()) throw damaged(archive, `${name} is missing`);
  if (found.size !== bytes) throw damaged(archive, `${name} has ${found.size} bytes instead of ${bytes}`);
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: CHUNK }), async (source) => {
    for await (const chunk of source) hash.update(chunk as Buffer);
  });
  if (hash.digest('hex') !== sha256) throw damaged(archive, `${name} was changed`);
}

/** The refusal of an archive that is not as it was written. */
function damaged(archive: string, what: string): BackupRefused {
  return new BackupRefused(`The backup ${archive} is damaged: ${what}. Use another backup`);
}

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
  const read = wholeManifest.safeParse(content);
  if (read.success) return read.data;
  if (head.data.formatVersion > ENCRYPTED_VERSION) throw newer(archive, head.data.gantryVersion);
  const [issue] = read.error.issues;
  throw damaged(archive, `${MANIFEST_FILE} has no valid ${issue?.path.join('.')}`);
}

/**
 * Checks that this version knows the schema of the archive.
 * @throws BackupRefused when the archive was made by a newer version, or by one with changed migrations
 */
async function checkVersion(archive: string, { migrations, gantryVersion }: Manifest): Promise<void> {
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

/** What was checked of an archive. */
export interface VerifyOptions {
  /** Called with a number from 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** To decrypt an encrypted archive; without it, only that its files are as they were written is checked. */
  readonly decryption?: Decryption | null;
}

/**
 * Reads everything that an archive consists of and compares it with its manifest. Nothing is changed.
 * @throws BackupRefused that names the first thing that is wrong
 */
export async function verifyArchive(
  archive: string,
  { onProgress = () => {}, decryption = null }: VerifyOptions = {},
): Promise<Manifest> {
  const described = await readManifest(archive);
  await checkVersion(archive, described);
  if (decryption !== null) await requireIdentity(archive, described, decryption);
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
    if (decryption !== null) await checkDecrypts(archive, file, decryption);
    advance(file.bytes);
  }
  await (described.recipients === undefined
    ? checkImages(archive, described, advance)
    : checkEncryptedImages(archive, described, decryption, advance));
  return described;
}

/** Decrypts a file to its end. @throws BackupRefused when that fails */
async function checkDecrypts(archive: string, file: ArchivedFile, decryption: Decryption): Promise<void> {
  if (!file.name.endsWith(ENCRYPTED_SUFFIX)) return;
  try {
    for await (const _ of decryption.decryptAll(createReadStream(join(archive, file.name))));
  } catch {
    throw damaged(archive, `${file.name} cannot be decrypted`);
  }
}

async function checkImages(
  archive: string,
  { pictures }: Manifest,
  advance: (bytes: number) => void,
): Promise<void> {
  const pool = poolOf(archive);
  const copies = imageFilesAt(pool);
  const lacking = new Set(pictures.lacking);
  let count = 0;
  await forEachImage(readImageList(readCompressed(archive, pictures.file)), async (image) => {
    const { sha256, bytes, segment } = image;
    if (lacking.has(sha256)) return;
    if ((await readVerified(copies, image)) === null) {
      const path = segment === null ? pathInPool(pool, sha256) : copies.segments.pathOf(segment);
      const isMissing = (await ignoreErrno(stat(path), 'ENOENT', 'ENOTDIR')) === undefined;
      const what = segment === null ? `the image ${path}` : `the image ${sha256} in ${path}`;
      throw damaged(archive, `${what} ${isMissing ? 'is missing' : 'was changed'}`);
    }
    count++;
    advance(bytes);
  });
  requireCount(archive, pictures, count);
}

function requireCount(archive: string, pictures: Manifest['pictures'], count: number): void {
  if (count === pictures.count) return;
  throw damaged(archive, `${pictures.file.name} names ${count} images instead of ${pictures.count}`);
}

/** Checks the images of an encrypted archive: what they are with an identity, and otherwise that they are there. */
async function checkEncryptedImages(
  archive: string,
  { pictures, recipients = [] }: Manifest,
  decryption: Decryption | null,
  advance: (bytes: number) => void,
): Promise<void> {
  const pool = poolOf(archive, poolFor(recipients));
  const lacking = new Set(pictures.lacking);
  const list = readImageList(readCompressed(archive, pictures.file));
  let count = 0;
  const note = (bytes: number): void => {
    count++;
    advance(bytes);
  };
  if (decryption === null) {
    await forEachImage(list, async (image) => {
      if (lacking.has(image.sha256)) return;
      const path = await hasContent(pool, image);
      if (path !== null) throw damaged(archive, `${path} is missing or incomplete`);
      note(image.bytes);
    });
  } else {
    await forEachContent({ pool, decryption, lacking }, list, async ({ image, path, content }) => {
      if (content === null) throw damaged(archive, `${path} is missing, or cannot be decrypted`);
      if (createHash('sha256').update(content).digest('hex') !== image.sha256)
        throw damaged(archive, `the image ${image.sha256} in ${path} was changed`);
      note(image.bytes);
    });
  }
  requireCount(archive, pictures, count);
}
