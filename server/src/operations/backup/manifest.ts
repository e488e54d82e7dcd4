import { z } from 'zod';

/** The files of an archive besides those of its tables. */
export const MANIFEST_FILE = 'manifest.json';
/** The checksum of the manifest, in the format of sha256sum. It is written last; then the folder gets its final name. */
export const CHECKSUM_FILE = 'manifest.sha256';
export const PICTURES_FILE = 'pictures.gz';
export const TABLES_FOLDER = 'tables';
export const SECRETS_FOLDER = 'secrets';

const FORMAT = 'gantry-backup';
const FORMAT_VERSION = 1;

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

export const manifest = z.object({
  format: z.literal(FORMAT),
  formatVersion: z.literal(FORMAT_VERSION),
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
    /** Lines of a hash and a size, in the order of hashes. */
    file,
    count,
    bytes: count,
    /** Pictures that the database names and that were missing or damaged in the store. */
    lacking: z.array(sha256),
  }),
  secrets: z.array(file),
});

/** What is in an archive. */
export type Manifest = z.infer<typeof manifest>;

/** The members by which any version of Gantry recognises an archive, whatever its format. */
export const manifestHead = z.object({
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

/** The constant members of a manifest. */
export const manifestFormat = { format: FORMAT, formatVersion: FORMAT_VERSION } as const;
