import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BackupRefused } from './refusal.ts';
import { type CopiedTable, copyIn, type SequenceValue } from './tables-store.ts';

/** A table with the number of rows that it must get. */
export interface LoadedTable extends Pick<CopiedTable, 'name' | 'bounds' | 'columns'> {
  /** Null if the number is not known in advance. */
  readonly rows: number | null;
}

/** Data to fill an empty database with. */
export interface LoadedData {
  /** Tables to which others refer come before these. */
  readonly tables: readonly LoadedTable[];
  readonly sequences: readonly SequenceValue[];
  /** The rows of a table as text of COPY. */
  readonly open: (table: LoadedTable) => Readable | Promise<Readable>;
  /** Whether the data is that of an earlier time, so that logins of that time must end. */
  readonly isFromThePast: boolean;
  /** Hashes of pictures without a file. */
  readonly lackingPictures: readonly string[];
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
