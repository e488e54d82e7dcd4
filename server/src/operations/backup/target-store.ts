import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import type { ClientBase } from 'pg';
import type { Config } from '../../platform/config.ts';
import { areEventsDistributed } from '../../platform/database/nodes.ts';
import { dataFolderAt, type OpenDatabase } from '../../platform/database/open.ts';
import { BackupRefused } from './refusal.ts';
import { CONNECTION_NAME, type CopyConnection } from './snapshot-store.ts';

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
  if (await areEventsDistributed(db)) {
    throw new BackupRefused(
      'The events of this database are distributed over a cluster: use an empty database on the coordinator (set DATABASE_URL), and run gantry db distribute on it afterwards',
    );
  }
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
