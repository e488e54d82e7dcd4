import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { ClientBase } from 'pg';
import { Client, clientSettings } from '../../platform/database/address.ts';
import { sqlState } from '../../platform/database/failure.ts';
import { locks } from '../../platform/database/locks.ts';
import { readMigrations } from '../../platform/database/migrate.ts';
import { beginCommonSnapshot, type Queryable, sizeFunctionOf } from '../../platform/database/nodes.ts';
import { AppError } from '../../platform/error.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { BackupRefused } from './refusal.ts';

/** The name of these connections in `pg_stat_activity`. */
export const CONNECTION_NAME = 'gantry backup';

/** Settings for text that any server reads back as the same value, and for statements without time limits. */
const SETTINGS = [
  'SET client_encoding = UTF8',
  'SET datestyle = ISO',
  'SET intervalstyle = postgres',
  'SET extra_float_digits = 1',
  'SET bytea_output = hex',
  'SET statement_timeout = 0',
  'SET idle_in_transaction_session_timeout = 0',
  'SET idle_session_timeout = 0',
];

/** Longest wait for the server to close a connection, in milliseconds. */
const CLOSE_MS = 2_000;

/** A connection for copying whole tables, which may take hours. */
export interface CopyConnection extends AsyncDisposable {
  readonly client: pg.Client;
  /** The same connection, for stores that are not part of this folder. */
  readonly db: Queryable;
}

/** Opens a connection for copying. Disposing closes it at once, even while a statement is running. */
export async function openCopyConnection(connectionString: string): Promise<CopyConnection> {
  const client = new Client(
    clientSettings(connectionString, {
      application_name: CONNECTION_NAME,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    }),
  );
  // The statement in progress fails with the same error.
  client.on('error', () => undefined);
  await client.connect();
  for (const setting of SETTINGS) await client.query(setting);
  return {
    client,
    db: drizzle(client),
    async [Symbol.asyncDispose]() {
      // PostgreSQL ends a transaction and releases its locks before it closes its side of the connection. `end` waits for
      // that, unless a statement is running. Otherwise, a backup that follows at once might still find these locks.
      const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
      const tooLong = setTimeout(() => stream.destroy(), CLOSE_MS);
      await client.end().catch(() => undefined);
      clearTimeout(tooLong);
    },
  };
}

/** Longest wait for a removal of retention that is in progress: one batch. */
const REMOVAL_WAIT = '60s';

/**
 * Excludes other backups of this database, and the removal of events and images by retention, for as long as the
 * connection is open.
 * @throws BackupRefused when another backup is in progress
 */
export async function excludeOthers(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [
    locks.backup,
  ]);
  if (!rows[0]?.got) {
    throw new BackupRefused('Another backup of this database is in progress: wait until it has finished');
  }
  try {
    await client.query(`SET lock_timeout = '${REMOVAL_WAIT}'`);
    await client.query('SELECT pg_advisory_lock($1)', [locks.removal]);
    await client.query('SET lock_timeout = 0');
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error;
    throw new BackupRefused('Retention is removing data and does not pause: try again in a minute', {
      cause: error,
    });
  }
}

/** Keeps tables from being altered or dropped until the transaction ends, so that they stay as they are in its snapshot. */
export async function keepTables(client: ClientBase, names: readonly string[]): Promise<void> {
  const list = names.map((name) => client.escapeIdentifier(name)).join(', ');
  await client.query(`LOCK TABLE ${list} IN ACCESS SHARE MODE`);
}

/**
 * Begins the transaction of a backup or a move on the connection: all its statements see the database as it is now.
 * @throws BackupRefused when the nodes of a cluster cannot be read as of one moment
 */
export async function takeSnapshot({ db }: CopyConnection, connectionString: string): Promise<void> {
  try {
    await beginCommonSnapshot(db, () => openCopyConnection(connectionString));
  } catch (error) {
    throw error instanceof AppError ? new BackupRefused(error.message, { cause: error }) : error;
  }
}

/** An ordinary table, or a partition, whose rows are copied. */
export interface CopiedTable {
  readonly name: string;
  /** Set for a partition of `events`: the first id, and the first id after it. */
  readonly bounds: { readonly from: string; readonly to: string } | null;
  /** Without generated columns, and without transaction numbers, which mean nothing to another server. */
  readonly columns: readonly string[];
  /** Bytes on disk, by which progress is estimated. */
  readonly bytes: number;
  /** The tables to which its foreign keys refer. */
  readonly refersTo: readonly string[];
}

/**
 * Tables that are never copied. Migrations record themselves where they are applied. Subscribers cannot resume on another
 * server, because positions in the feed are transaction numbers.
 */
const NEVER_COPIED = ['schema_migrations', 'changes'];

/**
 * What a restore must not bring back: logins that may have been ended since, counters of failures, nonces, and the
 * record of backups.
 */
const NOT_BACKED_UP = [
  ...['sessions', 'revoked_tokens', 'failed_logins', 'password_resets', 'digest_nonces'],
  'backups',
];

interface TableRow {
  name: string;
  parent: string | null;
  bounds: string | null;
  columns: string[];
  bytes: string;
  refers_to: string[];
}

/** @param sizeOfEvents the function for the size of a partition of events */
const tablesBy = (sizeOfEvents: string) => `
  SELECT tables.relname AS name, parents.relname AS parent, pg_get_expr(tables.relpartbound, tables.oid) AS bounds,
    ARRAY(
      SELECT attname::text FROM pg_attribute
      WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND atttypid <> 'xid8'::regtype
      ORDER BY attnum
    ) AS columns,
    CASE WHEN parents.relname = 'events' THEN ${sizeOfEvents}(tables.oid) ELSE pg_table_size(tables.oid) END::text AS bytes,
    ARRAY(
      SELECT confrelid::regclass::text FROM pg_constraint
      WHERE conrelid = tables.oid AND contype = 'f' AND confrelid <> conrelid
    ) AS refers_to
  FROM pg_class AS tables
  LEFT JOIN pg_inherits ON inhrelid = tables.oid
  LEFT JOIN pg_class AS parents ON parents.oid = inhparent
  WHERE tables.relkind = 'r' AND tables.relnamespace = current_schema()::regnamespace
  ORDER BY tables.relname`;

const BOUNDS = /FROM \('([0-9a-f-]{36})'\) TO \('([0-9a-f-]{36})'\)/;

/** Which tables to copy: all of Gantry, or those that belong in a backup. */
type CopyPurpose = 'backup' | 'move';

/**
 * The tables of Gantry in this database. Tables to which others refer come before these.
 * @param known the names of tables that migrations create; other tables of the schema do not belong to Gantry
 */
export async function listTables(
  { client, db }: CopyConnection,
  known: ReadonlySet<string>,
  purpose: CopyPurpose,
): Promise<CopiedTable[]> {
  const left = new Set(purpose === 'backup' ? [...NEVER_COPIED, ...NOT_BACKED_UP] : NEVER_COPIED);
  const { rows } = await client.query<TableRow>(tablesBy(await sizeFunctionOf(db)));
  const tables = rows.flatMap(({ name, parent, bounds, columns, bytes, refers_to }) => {
    const ofEvents = parent === 'events';
    if (left.has(name) || !(ofEvents || known.has(name))) return [];
    const [, from = '', to = ''] = (ofEvents && BOUNDS.exec(bounds ?? '')) || [];
    return [
      {
        name,
        bounds: ofEvents ? { from, to } : null,
        columns,
        bytes: Number(bytes),
        refersTo: refers_to,
      },
    ];
  });
  return inOrderOfReference(tables);
}

function inOrderOfReference(tables: readonly CopiedTable[]): CopiedTable[] {
  const waiting = new Map(tables.map((table) => [table.name, table]));
  const ordered: CopiedTable[] = [];
  while (waiting.size > 0) {
    const ready = [...waiting.values()].filter(({ refersTo }) => !refersTo.some((name) => waiting.has(name)));
    // Tables that refer to one another in a circle do not exist; if they did, they would be returned in any order.
    for (const table of ready.length > 0 ? ready : [...waiting.values()]) {
      ordered.push(table);
      waiting.delete(table.name);
    }
  }
  return ordered;
}

/** The statement that writes the rows of a table as text. */
export function copyOut(
  client: ClientBase,
  { name, columns }: Pick<CopiedTable, 'name' | 'columns'>,
): string {
  return `COPY ${client.escapeIdentifier(name)} (${listOf(client, columns)}) TO STDOUT`;
}

/** The statement that reads the rows of a table as text. @param isNew whether the table was created or emptied in this transaction */
export function copyIn(
  client: ClientBase,
  { name, columns }: Pick<CopiedTable, 'name' | 'columns'>,
  isNew: boolean,
): string {
  const options = isNew ? ' WITH (FREEZE)' : '';
  return `COPY ${client.escapeIdentifier(name)} (${listOf(client, columns)}) FROM STDIN${options}`;
}

function listOf(client: ClientBase, columns: readonly string[]): string {
  return columns.map((column) => client.escapeIdentifier(column)).join(', ');
}

/**
 * The statement that writes the images that are stored as text: a hash and a size in each line, and the name of the segment
 * and the position of those in segments. Images with files of their own come first, in the order of hashes; the others
 * follow segment by segment.
 */
export async function imagesOut(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ has: boolean }>(
    "SELECT to_regclass('image_segments') IS NOT NULL AS has",
  );
  return rows[0]?.has
    ? `COPY (
        SELECT encode(sha256, 'hex'), images.bytes, coalesce(name, ''), coalesce(position::text, '')
        FROM images LEFT JOIN image_segments ON id = segment
        WHERE stored_at IS NOT NULL ORDER BY name NULLS FIRST, position, sha256
      ) TO STDOUT`
    : `COPY (
        SELECT encode(sha256, 'hex'), bytes FROM images WHERE stored_at IS NOT NULL ORDER BY sha256
      ) TO STDOUT`;
}

/** The number of images whose files are stored, and their size in bytes. */
export async function countImages(client: ClientBase): Promise<{ count: number; bytes: number }> {
  const { rows } = await client.query<{ count: string; bytes: string }>(
    'SELECT count(*)::text AS count, coalesce(sum(bytes), 0)::text AS bytes FROM images WHERE stored_at IS NOT NULL',
  );
  return { count: Number(rows[0]?.count), bytes: Number(rows[0]?.bytes) };
}

/** The last value of an identity column. */
export interface SequenceValue {
  readonly table: string;
  readonly column: string;
  readonly value: number;
}

/** The last values of identity columns. They may be ahead of the rows. */
export async function readSequences(client: ClientBase): Promise<SequenceValue[]> {
  const { rows } = await client.query<{ table: string; column: string; value: string }>(`
    SELECT relname AS table, attname AS column, coalesce(pg_sequence_last_value(
      pg_get_serial_sequence(quote_ident(relname), attname)::regclass), 0)::text AS value
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
    WHERE attidentity <> '' AND relkind = 'r' AND relnamespace = current_schema()::regnamespace AND NOT attisdropped
    ORDER BY 1, 2`);
  return rows.map((row) => ({ ...row, value: Number(row.value) }));
}

/** The facts about a database that a manifest contains. */
export interface DatabaseFacts {
  readonly madeAt: Date;
  readonly postgresql: string;
  readonly installationId: string | null;
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[];
}

/** Reads the facts about the database in the current transaction. */
export async function readFacts(client: ClientBase): Promise<DatabaseFacts> {
  const { rows } = await client.query<{ now: Date; version: string; installation: string | null }>(`
    SELECT now() AS now, current_setting('server_version') AS version,
      (SELECT to_jsonb(settings) ->> 'installation_id' FROM settings) AS installation`);
  const { rows: migrations } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations ORDER BY name',
  );
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not describe itself');
  return { madeAt: row.now, postgresql: row.version, installationId: row.installation, migrations };
}

/** Whether the database has the schema of Gantry. */
export async function hasSchema(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AND to_regclass('events') IS NOT NULL AS there",
  );
  return rows[0]?.there === true;
}

/**
 * Requires that this version knows the whole schema of a database: tables that it does not know would be left out.
 * @param applied the migrations that were applied to it
 * @throws BackupRefused when a newer version has migrated it
 */
export async function requireKnownSchema(applied: readonly { readonly name: string }[]): Promise<void> {
  const known = new Set((await readMigrations(migrationsFolder)).map(({ name }) => name));
  const unknown = applied.find(({ name }) => !known.has(name));
  if (!unknown) return;
  throw new BackupRefused(
    `The database has migration ${unknown.name}, which this version does not know: use the version that runs on it`,
  );
}
