import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Config } from '../../platform/config.ts';
import { reasonNotToFill } from '../../platform/database/nodes.ts';
import { dataFolderAt, type OpenDatabase } from '../../platform/database/open.ts';
import { BackupRefused } from './refusal.ts';
import {
  CONNECTION_NAME,
  type CopiedTable,
  type CopyConnection,
  copyIn,
  type SequenceValue,
} from './source-store.ts';

/** Tables whose rows show that a database is in use: an installation that was started has rows in some of them. */
const TELLING = [
  'users',
  'sensors',
  'locations',
  'events',
  'incidents',
  'activity',
  'images',
  'device_messages',
];

const HOW_TO_EMPTY =
  'Use an empty database (set DATABASE_URL), or a new data folder (set DATA_DIR), before the service is started on it';

/**
 * Checks that nothing would be overwritten.
 * @param migrations the names of the migrations of the data to come
 * @throws BackupRefused when the database is not empty, or a service is connected to it
 */
export async function requireEmptyDatabase(
  { client, db }: Pick<CopyConnection, 'client' | 'db'>,
  migrations: ReadonlySet<string>,
): Promise<void> {
  await refuseWhileServed(client);
  const tables = new Set(await listTableNames(client));
  if (!tables.has('schema_migrations')) {
    const [other] = tables;
    if (other === undefined) return;
    throw new BackupRefused(`The database has tables of something else, such as ${other}. ${HOW_TO_EMPTY}`);
  }
  const reason = await reasonNotToFill(db);
  if (reason !== null) throw new BackupRefused(reason);
  for (const table of TELLING) {
    if (!tables.has(table)) continue;
    const { rows } = await client.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM (SELECT FROM ${client.escapeIdentifier(table)} LIMIT 1) AS found`,
    );
    if (rows[0]?.n)
      throw new BackupRefused(`The database is not empty: its table ${table} has rows. ${HOW_TO_EMPTY}`);
  }
  const { rows: applied } = await client.query<{ name: string }>(
    'SELECT name FROM schema_migrations ORDER BY name',
  );
  const unknown = applied.find(({ name }) => !migrations.has(name));
  if (unknown) {
    throw new BackupRefused(
      `The database has the schema of another version than the data (${unknown.name}). ${HOW_TO_EMPTY}`,
    );
  }
}

/** @throws BackupRefused when a service is connected to the database */
export async function refuseWhileServed(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'gantry%' AND application_name <> $1`,
    [CONNECTION_NAME],
  );
  if (rows[0]?.n) throw new BackupRefused('A service is running on this database: stop it first');
}

/** The ordinary and partitioned tables of the schema, without those of extensions. */
async function listTableNames(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    SELECT relname AS name FROM pg_class
    WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
    ORDER BY 1`);
  return rows.map(({ name }) => name);
}

/** The number of rows of each table, counted. */
export async function countRows(
  client: ClientBase,
  tables: readonly { readonly name: string }[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ n: string }>(
      `SELECT count(*)::text AS n FROM ${client.escapeIdentifier(name)}`,
    );
    counts.set(name, Number(rows[0]?.n));
  }
  return counts;
}

/**
 * Opens the database into which a backup is restored: that of `DATABASE_URL`, or the embedded one, which is created if
 * necessary and stopped again.
 * @throws DataFolderInUse when a service runs on the data folder
 */
export async function openTarget(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<OpenDatabase> {
  const folder = dataFolderAt(config.DATA_DIR);
  if (config.DATABASE_URL !== undefined) {
    await folder.make();
    return { connectionString: config.DATABASE_URL, [Symbol.asyncDispose]: async () => undefined };
  }
  const claim = await folder.claim();
  try {
    const database = await startEmbeddedDatabase({ folder, log: () => undefined });
    return {
      connectionString: database.connectionString,
      async [Symbol.asyncDispose]() {
        await database[Symbol.asyncDispose]();
        await claim[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await claim[Symbol.asyncDispose]();
    throw error;
  }
}

/** A table with the number of rows that it must get. */
interface LoadedTable extends Pick<CopiedTable, 'name' | 'bounds' | 'columns'> {
  /** Null if the number is not known in advance. */
  readonly rows: number | null;
}

/** Data to fill an empty database with. */
interface LoadedData {
  /** Tables to which others refer come before these. */
  readonly tables: readonly LoadedTable[];
  readonly sequences: readonly SequenceValue[];
  /** The rows of a table as text of COPY. */
  readonly open: (table: LoadedTable) => Readable | Promise<Readable>;
  /** Whether the data is that of an earlier time, so that logins of that time must end. */
  readonly isFromThePast: boolean;
  /** Hashes of images without a file. */
  readonly lackingPictures: readonly string[];
  /** Whether the images in segments were stored as objects. */
  readonly hasObjectsOnly: boolean;
}

/** The memory for building the indexes of partitions, which are built after their rows are loaded. */
const INDEX_MEMORY = '256MB';

/**
 * Fills the empty tables in one transaction.
 * @param beforeCommit the last work that the data depends on; if it fails, nothing is stored
 * @returns the number of rows of each table
 */
export async function loadTables(
  client: ClientBase,
  data: LoadedData,
  beforeCommit: () => Promise<void> = async () => undefined,
): Promise<ReadonlyMap<string, number>> {
  await client.query('BEGIN');
  await client.query(`SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`);
  // Triggers note what concerns stored years of traffic; what they noted is restored as well.
  await client.query(`SET LOCAL gantry.restoring = 'on'`);
  await checkColumns(client, data.tables);
  const ordinary = data.tables.filter(({ bounds }) => bounds === null);
  const list = ordinary.map(({ name }) => client.escapeIdentifier(name)).join(', ');
  // Migrations have added rows, such as that of the settings.
  await client.query(`TRUNCATE ${list} CASCADE`);
  const counts = new Map<string, number>();
  for (const table of data.tables) {
    const rows = await (table.bounds === null ? fill : fillPartition)(client, table, data.open);
    if (table.rows !== null && rows !== table.rows) {
      throw new BackupRefused(
        `The table ${table.name} has ${rows} rows instead of ${table.rows}: the backup is damaged. Use another backup`,
      );
    }
    counts.set(table.name, rows);
  }
  await continueSequences(client, data.sequences);
  if (data.isFromThePast) await client.query('UPDATE users SET session_epoch = session_epoch + 1');
  await client.query(
    "UPDATE images SET stored_at = NULL WHERE sha256 IN (SELECT decode(hex, 'hex') FROM unnest($1::text[]) AS hex)",
    [data.lackingPictures],
  );
  if (data.hasObjectsOnly && data.tables.some(({ name }) => name === 'image_segments')) {
    await client.query('UPDATE images SET segment = NULL, position = NULL WHERE segment IS NOT NULL');
    await client.query('DELETE FROM image_segments');
  }
  await beforeCommit();
  await client.query('COMMIT');
  return counts;
}

/** @throws BackupRefused when the tables are not those of the schema */
async function checkColumns(client: ClientBase, tables: readonly LoadedTable[]): Promise<void> {
  const { rows } = await client.query<{ name: string; column: string }>(
    `SELECT relname AS name, attname AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND attnum > 0
      AND NOT attisdropped AND attgenerated = ''`,
  );
  const known = new Set(rows.map(({ name, column }) => `${name}.${column}`));
  for (const { name, bounds, columns } of tables) {
    const unknown = columns.find((column) => !known.has(`${bounds ? 'events' : name}.${column}`));
    if (unknown !== undefined) {
      throw new BackupRefused(
        `The backup has a column ${name}.${unknown}, which its version of the schema does not have: use another backup`,
      );
    }
  }
}

async function fill(client: ClientBase, table: LoadedTable, open: LoadedData['open']): Promise<number> {
  const target = client.query(copyFrom(copyIn(client, table, table.bounds !== null)));
  await pipeline(await open(table), target);
  return target.rowCount;
}

/**
 * Creates a partition of events with its rows. The indexes are built when the partition is attached: sorting takes a
 * fraction of the time of inserting.
 */
async function fillPartition(
  client: ClientBase,
  table: LoadedTable & { readonly bounds: CopiedTable['bounds'] },
  open: LoadedData['open'],
): Promise<number> {
  const name = client.escapeIdentifier(table.name);
  await client.query(
    `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS)`,
  );
  const rows = await fill(client, table, open);
  const { from = '', to = '' } = table.bounds ?? {};
  const bounds = `FROM (${client.escapeLiteral(from)}) TO (${client.escapeLiteral(to)})`;
  await client.query(`ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES ${bounds}`);
  return rows;
}

async function continueSequences(client: ClientBase, sequences: readonly SequenceValue[]): Promise<void> {
  for (const { table, column, value } of sequences) {
    if (value === 0) continue;
    await client.query(
      `SELECT setval(sequence, greatest($3::bigint, (SELECT coalesce(max(${client.escapeIdentifier(column)}), 1) FROM ${client.escapeIdentifier(table)})))
      FROM (SELECT pg_get_serial_sequence($1, $2) AS sequence) AS of WHERE sequence IS NOT NULL`,
      [client.escapeIdentifier(table), column, value],
    );
  }
}

/** Collects the statistics by which PostgreSQL plans statements. */
export async function analyze(client: ClientBase): Promise<void> {
  await client.query('ANALYZE');
}
