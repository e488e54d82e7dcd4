import { hash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import type { Logger } from 'pino';
import { type ImageFiles, imageFilesAt } from '../../images/blobs.ts';
import { type LocatedImage, readVerified } from '../../images/verify.ts';
import { sqlState } from '../../platform/database/failure.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { waitForDatabase } from '../../platform/database/wait.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import {
  type Manifest,
  plainNameOf,
  readCompressed,
  readSmall,
  requireIdentity,
  SECRETS_FOLDER,
} from './archive.ts';
import { type Decryption, poolFor } from './encryption.ts';
import { BackupRefused, explaining, explainingStore } from './refusal.ts';
import { openCopyConnection } from './source-store.ts';
import {
  decryptedCopies,
  forEachContent,
  forEachImage,
  plainCopies,
  poolOf,
  readImageList,
  SegmentCopies,
} from './stored-images.ts';
import { analyze, loadTables, requireEmptyDatabase } from './target-store.ts';

export interface RestoreOptions {
  /** The folder of one backup, which was verified. */
  readonly archive: string;
  readonly manifest: Manifest;
  /** For an encrypted archive. */
  readonly decryption?: Decryption | null;
  readonly connectionString: string;
  readonly allowUnsafe: boolean;
  readonly files: ImageFiles;
  readonly dataDir: string;
  readonly log: Logger;
  /** Called with what is being done, as part of a sentence. */
  readonly onStep?: (step: string) => void;
}

/** What a restore brought back. */
export interface RestoreResult {
  readonly rows: number;
  readonly events: number;
  readonly pictures: number;
  readonly seconds: number;
  /** Names of the migrations that were applied afterwards. */
  readonly migrated: readonly string[];
}

/**
 * Restores a verified archive into an empty installation. Until its one transaction is committed, the database has
 * the schema only, so that an interrupted restore can be repeated. It then finds the images that were stored already.
 * @throws BackupRefused when the installation is not empty, or cannot be written to
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const began = performance.now();
  const { archive, manifest, connectionString, log, decryption = null, onStep = () => {} } = options;
  await requireIdentity(archive, manifest, decryption);
  const names = new Set(manifest.migrations.map(({ name }) => name));
  await checkSecrets(options);
  await waitForDatabase(connectionString, { allowUnsafe: options.allowUnsafe, log });
  {
    await using connection = await openCopyConnection(connectionString);
    await requireEmptyDatabase(connection, names);
  }
  onStep('the images');
  const pictures = await restoreImages(options);
  onStep('the schema');
  await migrate(connectionString, { folder: migrationsFolder, only: names, log });
  onStep('the tables');
  await using connection = await openCopyConnection(connectionString);
  const counts = await explainingFull(() =>
    loadTables(
      connection.client,
      {
        tables: manifest.tables,
        sequences: manifest.sequences,
        open: ({ name }) => {
          const table = manifest.tables.find((each) => each.name === name);
          if (!table) throw new Error(`The archive has no table ${name}`);
          return readCompressed(archive, table.file, decryption);
        },
        isFromThePast: true,
        lackingPictures: manifest.pictures.lacking,
        hasObjectsOnly: options.files.storesObjects,
      },
      () => restoreSecrets(options),
    ),
  );
  onStep('the statistics');
  const migrated = await migrate(connectionString, { folder: migrationsFolder, log });
  await analyze(connection.client);
  let rows = 0;
  let events = 0;
  for (const { name, bounds } of manifest.tables) {
    rows += counts.get(name) ?? 0;
    if (bounds) events += counts.get(name) ?? 0;
  }
  return { rows, events, pictures, migrated, seconds: (performance.now() - began) / 1_000 };
}

async function explainingFull<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== '53100') throw error;
    throw new BackupRefused(
      'The disk of the database is full: make room and restore again. Nothing was restored',
      {
        cause: error,
      },
    );
  }
}

function restoreImages(options: RestoreOptions): Promise<number> {
  const { manifest, decryption = null } = options;
  return manifest.recipients === undefined || decryption === null
    ? restorePlainImages(options)
    : restoreEncryptedImages(options, manifest.recipients, decryption);
}

async function restoreEncryptedImages(
  { archive, manifest, files, dataDir }: RestoreOptions,
  recipients: readonly string[],
  decryption: Decryption,
): Promise<number> {
  const pool = poolOf(archive, poolFor(recipients));
  const lacking = new Set(manifest.pictures.lacking);
  const segments = new SegmentCopies(
    decryptedCopies(imageFilesAt(pool).segments, files.segments, decryption),
  );
  let stored = 0;
  async function* ofObjects(): AsyncGenerator<LocatedImage> {
    for await (const image of readImageList(readCompressed(archive, manifest.pictures.file))) {
      if (lacking.has(image.sha256)) continue;
      stored++;
      const { segment, position, sha256, bytes } = image;
      if (segment !== null && position !== null && !files.storesObjects) {
        await segments.ensure(segment, position + bytes);
      } else if ((await files.blobs.stat(sha256))?.bytes !== bytes) yield image;
    }
  }
  await explainingStore(() =>
    explaining(dataDir, () =>
      forEachContent({ pool, decryption, lacking }, ofObjects(), async ({ image: { sha256 }, content }) => {
        if (content === null || hash('sha256', content, 'hex') !== sha256) throw changedMeanwhile(sha256);
        await files.blobs.put(sha256, content);
      }),
    ),
  );
  return stored;
}

async function restorePlainImages({ archive, manifest, files, dataDir }: RestoreOptions): Promise<number> {
  const pool = poolOf(archive);
  const lacking = new Set(manifest.pictures.lacking);
  const copies = imageFilesAt(pool);
  const segments = new SegmentCopies(plainCopies(copies.segments, files.segments));
  let stored = 0;
  await explainingStore(() =>
    explaining(dataDir, () =>
      forEachImage(readImageList(readCompressed(archive, manifest.pictures.file)), async (image) => {
        const { sha256, bytes, segment, position } = image;
        if (lacking.has(sha256)) return;
        if (segment !== null && position !== null && !files.storesObjects) {
          await segments.ensure(segment, position + bytes);
        } else if ((await files.blobs.stat(sha256))?.bytes !== bytes) {
          // An interrupted restore may have stored it: a file appears in a store only when it is complete.
          await files.blobs.put(sha256, await readFromPool(copies, image));
        }
        stored++;
      }),
    ),
  );
  return stored;
}

/** The bytes of an image of a verified archive. */
async function readFromPool(copies: ImageFiles, image: LocatedImage): Promise<Buffer> {
  const bytes = await readVerified(copies, image);
  if (bytes !== null) return bytes;
  throw changedMeanwhile(image.sha256);
}

function changedMeanwhile(sha256: string): BackupRefused {
  return new BackupRefused(`The image ${sha256} of the backup was changed meanwhile: use another backup`);
}

/** The secrets of an archive, with their paths in the data folder. */
function secretsOf({ archive, manifest, dataDir, decryption = null }: RestoreOptions) {
  return manifest.secrets.map((file) => ({
    path: join(dataDir, plainNameOf(file).slice(SECRETS_FOLDER.length + 1)),
    read: () => readSmall(archive, file, decryption),
  }));
}

/** @throws BackupRefused when the data folder has other secrets, which belong to another installation */
async function checkSecrets(options: RestoreOptions): Promise<void> {
  for (const { path, read } of secretsOf(options)) {
    const present = await ignoreErrno(readFile(path), 'ENOENT');
    if (present !== undefined && !present.equals(await read())) {
      throw new BackupRefused(
        `${path} belongs to another installation: choose a new data folder with DATA_DIR, or remove that file`,
      );
    }
  }
}

async function restoreSecrets(options: RestoreOptions): Promise<void> {
  const { dataDir } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  for (const { path, read } of secretsOf(options)) {
    await ignoreErrno(writeFile(path, await read(), { mode: 0o600, flag: 'wx' }), 'EEXIST');
  }
  await syncFolder(dataDir);
}
