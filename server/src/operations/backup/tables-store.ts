import type { ClientBase } from 'pg';
import { readMigrations } from '../../platform/database/migrate.ts';
import { migrationsFolder } from '../../platform/installation.ts';
import { BackupRefused } from './refusal.ts';

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
const NOT_BACKED_UP = ['sessions', 'revoked_tokens', 'failed_logins', 'digest_nonces', 'backups'];

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
export type CopyPurpose = 'backup' | 'move';

/**
 * The tables of Gantry in this database. Tables to which others refer come before these.
 * @param known the names of tables that migrations create; other tables of the schema do not belong to Gantry
 * @param isDistributed whether events are on the nodes of a cluster
 */
export async function listTables(
  client: ClientBase,
  known: ReadonlySet<string>,
  purpose: CopyPurpose,
  isDistributed = false,
): Promise<CopiedTable[]> {
  const left = new Set(purpose === 'backup' ? [...NEVER_COPIED, ...NOT_BACKED_UP] : NEVER_COPIED);
  const { rows } = await client.query<TableRow>(
    tablesBy(isDistributed ? 'citus_table_size' : 'pg_table_size'),
  );
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

/** The pictures whose files are stored, as text: a hash, a tab and a size in each line, in the order of hashes. */
export const COPY_PICTURES = `
  COPY (SELECT encode(sha256, 'hex'), bytes FROM images WHERE stored_at IS NOT NULL ORDER BY sha256) TO STDOUT`;

/** The number of pictures whose files are stored, and their size in bytes. */
export async function countPictures(client: ClientBase): Promise<{ count: number; bytes: number }> {
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
