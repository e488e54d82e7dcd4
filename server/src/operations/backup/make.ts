import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Logger } from 'pino';
import { type ImageFiles, imageFilesAt } from '../../images/blobs.ts';
import { type LocatedImage, readVerified } from '../../images/verify.ts';
import { tablesOfMigrations } from '../../platform/database/migrate.ts';
import { migrationsFolder, version } from '../../platform/installation.ts';
import {
  type ArchivedFile,
  type ArchivedTable,
  CHECKSUM_FILE,
  IMAGES_FILE,
  MANIFEST_FILE,
  type Manifest,
  manifestFormat,
  readCompressed,
  SECRETS_FOLDER,
  TABLES_FOLDER,
  writeCompressed,
  writeSmall,
} from './archive.ts';
import { Encryption, POOL } from './encryption.ts';
import { claimBackupFolder, cleanPool, createDraft, type Draft, removeOldBackups } from './folder.ts';
import { BackupRefused, explaining, explainingStore } from './refusal.ts';
import {
  type CopiedTable,
  type CopyConnection,
  copyOut,
  countImages,
  type DatabaseFacts,
  excludeOthers,
  hasSchema,
  imagesOut,
  keepTables,
  listTables,
  openCopyConnection,
  readFacts,
  readSequences,
  requireKnownSchema,
  type SequenceValue,
  takeSnapshot,
} from './source-store.ts';
import {
  addToPool,
  encryptedCopies,
  forEachImage,
  hasContent,
  plainCopies,
  readImageList,
  SegmentCopies,
} from './stored-images.ts';

/** The secrets of the data folder that belong to the data. The password of the embedded database does not. */
export const SECRETS = ['jwt-secret', 'seal-key'] as const;

/** Maximum number of images that may be missing. With more, the store is probably not that of the service. */
const MAX_MISSING_IMAGES = 1_000;

export interface MakeOptions {
  readonly connectionString: string;
  /** The store of the images. */
  readonly files: ImageFiles;
  /** The data folder, for its secrets. */
  readonly dataDir: string;
  /** The folder of backups. */
  readonly folder: string;
  /** For whom the backup is encrypted; nobody by default. */
  readonly recipients?: readonly string[];
  /** How many backups to keep there; null: all. */
  readonly keep: number | null;
  readonly log: Pick<Logger, 'warn'>;
  /** Called with a number from 0 to 1. */
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** A finished backup. */
export interface BackupResult {
  readonly name: string;
  /** Its folder. */
  readonly path: string;
  readonly madeAt: Date;
  readonly seconds: number;
  readonly rows: number;
  readonly events: number;
  /** Size of the archive without images. */
  readonly bytes: number;
  readonly pictures: {
    readonly count: number;
    readonly bytes: number;
    /** Images that the pool did not have. */
    readonly copied: number;
    readonly copiedBytes: number;
    /** Those that were missing or damaged in the store. */
    readonly lacking: number;
  };
  /** For whom it is encrypted; none if it is not. */
  readonly recipients: readonly string[];
  /** Names of old backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Makes a backup while the service runs: the database as of one moment, and every image that it names. It appears
 * in the folder complete, or not at all.
 * @throws BackupRefused when it cannot be made here and now, with what to do
 */
export async function makeBackup(options: MakeOptions): Promise<BackupResult> {
  const began = performance.now();
  const encryption = encryptionOf(options);
  await using connection = await openCopyConnection(options.connectionString);
  const { client } = connection;
  if (!(await hasSchema(client))) {
    throw new BackupRefused(
      'There is no Gantry in this database: set DATABASE_URL or DATA_DIR to that of the service',
    );
  }
  await using _claim = await claimBackupFolder(options.folder);
  await excludeOthers(client);
  return await explaining(options.folder, async () => {
    const made = await writeBackup(connection, { ...options, encryption });
    const removed =
      options.keep === null ? [] : await removeOldBackups(options.folder, options.keep, made.name);
    if (removed.length > 0) await cleanPool(options.folder, options.log);
    return { ...made, removed, seconds: (performance.now() - began) / 1_000 };
  });
}

function encryptionOf({ recipients = [] }: MakeOptions): Encryption | null {
  return recipients.length === 0 ? null : new Encryption(recipients);
}

/** What writing needs besides the options. */
interface WriteOptions extends MakeOptions {
  readonly encryption: Encryption | null;
}

type Made = Omit<BackupResult, 'removed' | 'seconds'>;

async function writeBackup(connection: CopyConnection, options: WriteOptions): Promise<Made> {
  const { client } = connection;
  await takeSnapshot(connection, options.connectionString);
  const facts = await readFacts(client);
  await requireKnownSchema(facts.migrations);
  const draft = await createDraft(options.folder, facts.madeAt);
  try {
    return await writeInto(draft, connection, facts, options);
  } catch (error) {
    // What was written may be what fills the disk, so it is removed. If that fails, the next backup removes it.
    await draft.discard().catch(() => undefined);
    throw error;
  }
}

async function writeInto(
  draft: Draft,
  connection: CopyConnection,
  facts: DatabaseFacts,
  options: WriteOptions,
): Promise<Made> {
  const database = await writeDatabase(connection, draft, options);
  await connection.client.query('COMMIT');
  const pictures = await copyImages(draft, database.pictures, database.advance, options);
  const secrets = await writeSecrets(draft, options);
  const manifest = describe(facts, database, pictures, secrets, options.encryption);
  const files = [...manifest.tables.map(({ file }) => file), manifest.pictures.file, ...secrets];
  const described = await writeSmall(draft.path, MANIFEST_FILE, `${JSON.stringify(manifest, null, 1)}\n`);
  await writeSmall(draft.path, CHECKSUM_FILE, `${described.sha256}  ${MANIFEST_FILE}\n`);
  options.signal?.throwIfAborted();
  const path = await draft.finish();
  options.onProgress?.(1);
  return {
    name: draft.name,
    path,
    madeAt: facts.madeAt,
    rows: sum(manifest.tables.map(({ rows }) => rows)),
    events: sum(manifest.tables.map(({ rows, bounds }) => (bounds ? rows : 0))),
    bytes: sum([...files, described].map(({ bytes }) => bytes)),
    pictures: {
      count: pictures.count,
      bytes: pictures.bytes,
      copied: pictures.copied,
      copiedBytes: pictures.copiedBytes,
      lacking: pictures.lacking.length,
    },
    recipients: options.encryption?.recipients ?? [],
  };
}

interface WrittenDatabase {
  readonly tables: readonly ArchivedTable[];
  readonly sequences: readonly SequenceValue[];
  readonly pictures: ArchivedFile;
  /** Adds bytes that were processed to the progress. */
  readonly advance: (bytes: number) => void;
}

async function writeDatabase(
  connection: CopyConnection,
  draft: Draft,
  options: WriteOptions,
): Promise<WrittenDatabase> {
  const { client } = connection;
  const known = await tablesOfMigrations(migrationsFolder);
  const tables = await listTables(connection, known, 'backup');
  await keepTables(
    client,
    tables.map(({ name }) => name),
  );
  const all = sum(tables.map(({ bytes }) => bytes)) + (await countImages(client)).bytes;
  let done = 0;
  const advance = (bytes: number): void => {
    done += bytes;
    options.onProgress?.(Math.min(0.99, done / Math.max(1, all)));
  };
  const written: ArchivedTable[] = [];
  for (const table of tables)
    written.push(await writeTable(client, draft, table, { ...options, onBytes: advance }));
  const sequences = await readSequences(client);
  const source = client.query(copyTo(await imagesOut(client)));
  const pictures = await writeCompressed(draft.path, IMAGES_FILE, source, { signal: options.signal });
  return { tables: written, sequences, pictures, advance };
}

async function writeTable(
  client: pg.Client,
  draft: Draft,
  table: CopiedTable,
  {
    signal,
    encryption,
    onBytes,
  }: Pick<WriteOptions, 'signal' | 'encryption'> & {
    readonly onBytes: (bytes: number) => void;
  },
): Promise<ArchivedTable> {
  const source = client.query(copyTo(copyOut(client, table)));
  const name = `${TABLES_FOLDER}/${table.name}.copy.gz`;
  const file = await writeCompressed(draft.path, name, source, { signal, onBytes, encryption });
  return {
    name: table.name,
    bounds: table.bounds && { ...table.bounds },
    columns: [...table.columns],
    rows: source.rowCount,
    file,
  };
}

interface CopiedImages {
  readonly count: number;
  readonly bytes: number;
  readonly copied: number;
  readonly copiedBytes: number;
  readonly lacking: readonly string[];
}

/**
 * Copies those images of the list that the pool does not have. An image is stored before the event that names it,
 * and retention removes none while a backup runs, so those that are missing were missing before.
 */
async function copyImages(
  draft: Draft,
  list: ArchivedFile,
  advance: (bytes: number) => void,
  { files, folder, log, signal, encryption }: WriteOptions,
): Promise<CopiedImages> {
  const pool = join(folder, encryption === null ? POOL : encryption.pool);
  const result = { count: 0, bytes: 0, copied: 0, copiedBytes: 0, lacking: [] as string[] };
  const folders = new Set<string>();
  const copies = imageFilesAt(pool);
  const segments = new SegmentCopies(
    encryption === null
      ? plainCopies(files.segments, copies.segments)
      : encryptedCopies(files.segments, copies.segments, encryption),
  );
  await forEachImage(
    readImageList(readCompressed(draft.path, list)),
    async (image) => {
      const { sha256, segment, position } = image;
      const isInSegment = segment !== null && position !== null;
      const isPresent = isInSegment
        ? await segments.ensure(segment, position + image.bytes)
        : await isInPool(pool, image, encryption);
      if (!isPresent) {
        const bytes = await explainingStore(() =>
          readVerified(isInSegment && encryption === null ? copies : files, image),
        );
        if (bytes === null) {
          result.lacking.push(sha256);
          if (result.lacking.length > MAX_MISSING_IMAGES) throw tooManyLacking();
          return;
        }
        if (!isInSegment) folders.add(await addToPool(pool, sha256, bytes, encryption));
        result.copied++;
        result.copiedBytes += bytes.length;
      }
      result.count++;
      result.bytes += image.bytes;
      advance(image.bytes);
    },
    signal,
  );
  await syncPool(pool, folders);
  if (result.lacking.length > 0) {
    log.warn(
      { pictures: result.lacking.length, first: result.lacking[0] },
      'images that the database names are missing or damaged in the store; the backup is complete without them',
    );
  }
  return result;
}

async function isInPool(pool: string, image: LocatedImage, encryption: Encryption | null): Promise<boolean> {
  if (encryption !== null) return (await hasContent(pool, image)) === null;
  return (await imageFilesAt(pool).blobs.stat(image.sha256))?.bytes === image.bytes;
}

function tooManyLacking(): BackupRefused {
  return new BackupRefused(
    `More than ${MAX_MISSING_IMAGES} images that the database names are missing in the store: check DATA_DIR and S3_BUCKET, which must be those of the service`,
  );
}

async function syncPool(pool: string, folders: ReadonlySet<string>): Promise<void> {
  if (folders.size === 0) return;
  const above = new Set([...folders].map((folder) => join(folder, '..')));
  for (const folder of [...folders, ...above, pool, join(pool, '..')]) await syncFolder(folder);
}

async function writeSecrets(
  draft: Draft,
  { dataDir, encryption }: Pick<WriteOptions, 'dataDir' | 'encryption'>,
): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for (const name of SECRETS) {
    const text = await ignoreErrno(readFile(join(dataDir, name), 'utf8'), 'ENOENT');
    if (text !== undefined)
      files.push(await writeSmall(draft.path, `${SECRETS_FOLDER}/${name}`, text, encryption));
  }
  return files;
}

function describe(
  facts: DatabaseFacts,
  database: WrittenDatabase,
  pictures: CopiedImages,
  secrets: readonly ArchivedFile[],
  encryption: Encryption | null,
): Manifest {
  return {
    ...manifestFormat(encryption),
    gantryVersion: version,
    installationId: facts.installationId,
    madeAt: facts.madeAt.toISOString(),
    postgresql: facts.postgresql,
    migrations: facts.migrations.map(({ name, checksum }) => ({ name, checksum })),
    tables: [...database.tables],
    sequences: database.sequences.map(({ table, column, value }) => ({ table, column, value })),
    pictures: {
      file: database.pictures,
      count: pictures.count,
      bytes: pictures.bytes,
      lacking: [...pictures.lacking],
    },
    secrets: [...secrets],
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
