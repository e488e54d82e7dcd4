import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { Client, clientSettings } from './address.ts';
import { locks } from './locks.ts';
import {
  type LockPatience,
  type MigrationConnections,
  type MigrationLog,
  usualPatience,
  withShortLocks,
} from './migration-locks.ts';

/** A file of the folder with the migrations. */
export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

export interface MigrateOptions {
  /** The folder with the migrations. */
  readonly folder: URL;
  /** The names of the migrations to apply, for the schema of an older version; by default all. */
  readonly only?: ReadonlySet<string>;
  readonly log?: MigrationLog;
  readonly patience?: LockPatience;
  /** Interrupts a migration, whose transaction in progress is then rolled back. */
  readonly signal?: AbortSignal | undefined;
}

const silent: MigrationLog = { info: () => undefined, warn: () => undefined };

/**
 * Brings the schema up to date, each migration in its own transaction. Processes that start together take turns. It
 * uses separate connections, because a migration may take longer than an ordinary statement.
 * @returns the names of the migrations that were applied
 * @throws Error when a migration fails, or never gets a lock that it needs
 * @throws the reason of the signal
 */
export async function migrate(
  connectionString: string,
  { folder, only, log = silent, patience = usualPatience, signal }: MigrateOptions,
): Promise<string[]> {
  const migrations = (await readMigrations(folder)).filter(({ name }) => only?.has(name) ?? true);
  const client = await connect(connectionString);
  // Closes the connection even while a statement runs on it.
  const interrupt = (): void => void client.end().catch(() => undefined);
  signal?.addEventListener('abort', interrupt, { once: true });
  try {
    signal?.throwIfAborted();
    await waitForTurn(client, log);
    const due = await pending(client, migrations);
    if (due.length > 0) {
      const observer = await connect(connectionString);
      try {
        for (const migration of due) {
          signal?.throwIfAborted();
          await apply({ client, observer, log, patience }, migration);
        }
      } finally {
        await observer.end();
      }
    }
    return due.map(({ name }) => name);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', interrupt);
    await client.end();
  }
}

// Without their statements, which may contain values that do not belong in a log.
const HOLDERS = `
  SELECT format('pid %s (%s, user %s, since %s)', pid, coalesce(nullif(application_name, ''), 'no name'), usename,
    to_char(backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS holder
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1 AND objsubid = 1
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Takes the lock of migrations. If another process has it, the log says so. */
async function waitForTurn(client: pg.Client, log: MigrationLog): Promise<void> {
  const taken = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    locks.migration,
  ]);
  if (taken.rows[0]?.taken) return;
  const { rows } = await client.query<{ holder: string }>(HOLDERS, [locks.migration]);
  log.info(
    { holders: rows.map(({ holder }) => holder).join(', ') },
    'waiting for another process, which brings the database schema up to date',
  );
  await client.query('SELECT pg_advisory_lock($1)', [locks.migration]);
}

/** The migrations in a folder, in order. */
export async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** The names of the tables that migrations create, including tables that later migrations drop. */
export async function tablesOfMigrations(folder: URL): Promise<ReadonlySet<string>> {
  const files = await readMigrations(folder);
  const created = files.flatMap(({ sql }) => [
    ...sql.matchAll(/^[ \t]*CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_][a-z0-9_]*)/gim),
  ]);
  return new Set(created.map(([, name = '']) => name));
}

async function inOwnTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    // If this fails too, the connection is gone, and PostgreSQL rolls back by itself.
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function noteDown(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
}

function applyWhole(connections: MigrationConnections, migration: Migration): Promise<void> {
  return withShortLocks(connections, migration.name, () =>
    inOwnTransaction(connections.client, async () => {
      await connections.client.query(migration.sql);
      await noteDown(connections.client, migration);
    }),
  );
}

/** Repeats the statement of a migration until it changes no more rows. After an interruption, a new start continues. */
async function applyBatched(connections: MigrationConnections, migration: Migration): Promise<void> {
  const { client, log } = connections;
  const { name, sql } = migration;
  let changed = 0;
  for (let inBatch = 1; inBatch > 0; changed += inBatch) {
    await withShortLocks(connections, name, async () => {
      inBatch = (await client.query(sql)).rowCount ?? 0;
    });
    log.info(
      { migration: name, rows: changed + inBatch },
      'a migration runs in batches while other processes serve requests',
    );
  }
  await noteDown(client, migration);
}

async function announceLocks(
  { client, log }: MigrationConnections,
  name: string,
  note: Extract<MigrationNote, { kind: 'locks' }>,
): Promise<void> {
  const { rows, seconds } = await estimateSeconds(client, note);
  // The table is empty, as in a new installation, so nobody waits.
  if (rows === 0) return;
  log.info(
    { migration: name, table: note.table, rows, seconds },
    `a migration takes about ${seconds} s; meanwhile these wait: ${note.waiting}`,
  );
}

async function apply(connections: MigrationConnections, migration: Migration): Promise<void> {
  const { name, sql } = migration;
  const note = noteOf(name, sql);
  try {
    if (note.kind === 'locks') await announceLocks(connections, name, note);
    await (note.kind === 'batched' ? applyBatched : applyWhole)(connections, migration);
  } catch (error) {
    const state =
      note.kind === 'batched'
        ? 'what it did is kept, and the next start goes on'
        : 'the database is as it was before it';
    throw new Error(`Migration ${name} failed; ${state}`, { cause: error });
  }
}

async function pending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  );
  return dueOf(migrations, rows);
}

/**
 * The migrations that are not applied yet.
 * @throws Error when the database was written by a newer version, or an applied migration has changed
 */
export function dueOf(
  migrations: Migration[],
  rows: readonly { readonly name: string; readonly checksum: string }[],
): Migration[] {
  const applied = new Map(rows.map((row) => [row.name, row.checksum]));
  for (const name of applied.keys()) {
    if (!migrations.some((migration) => migration.name === name)) {
      throw new Error(
        `The database has migration ${name}, which this version does not know: start a newer version`,
      );
    }
  }
  return migrations.filter(({ name, checksum }) => {
    const known = applied.get(name);
    if (known !== undefined && known !== checksum) {
      throw new Error(
        `Migration ${name} was changed after it was applied: restore the file, and add a new one instead`,
      );
    }
    return known === undefined;
  });
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new Client(
    clientSettings(connectionString, { keepAlive: true, application_name: 'gantry migration' }),
  );
  // Statements on it fail with the same error.
  client.on('error', () => undefined);
  await client.connect();
  // Limits of the role or the database are meant for other programs. A migration may take any length of time.
  await client.query('SET statement_timeout = 0');
  await client.query('SET idle_in_transaction_session_timeout = 0');
  await client.query('SET idle_session_timeout = 0');
  return client;
}

// The first line of a migration may contain a note that says how it is applied:
//   -- gantry: batched
//     One statement, which is repeated, each time in a transaction of its own, until it changes no more rows.
//     Every version that may run meanwhile must support rows of both kinds.
//   -- gantry: locks <table> <rows per second> <what waits meanwhile>
//     It locks the table while it processes its rows, which is logged beforehand.

/** How a migration is applied. */
type MigrationNote =
  | { readonly kind: 'whole' }
  | { readonly kind: 'batched' }
  | {
      readonly kind: 'locks';
      readonly table: string;
      readonly rowsPerSecond: number;
      /** What has to wait until it is done. */
      readonly waiting: string;
    };

/** The notes of migrations that were released before notes existed and can no longer be changed. */
const notesOfOlder: Readonly<Record<string, string>> = {
  '0008-types-of-traffic.sql':
    '-- gantry: locks traffic_rollups 50000 traffic figures, and the counting of traffic',
};

/** @throws Error when the first line has the prefix of a note but is not a valid one */
function noteOf(name: string, sql: string): MigrationNote {
  const [first = ''] = (notesOfOlder[name] ?? sql).split('\n', 1);
  if (!first.startsWith('-- gantry:')) return { kind: 'whole' };
  if (/^-- gantry: batched\s*$/.test(first)) return { kind: 'batched' };
  const [, table, rows, waiting] = /^-- gantry: locks ([a-z_]+) (\d+) (.+)$/.exec(first) ?? [];
  if (!table || !rows || !waiting) throw new Error(`Migration ${name} begins with an unknown note`);
  return { kind: 'locks', table, rowsPerSecond: Number(rows), waiting };
}

/** PostgreSQL's estimate of the number of rows in the table, and the approximate time to process them, in seconds. */
async function estimateSeconds(
  client: pg.Client,
  { table, rowsPerSecond }: Extract<MigrationNote, { kind: 'locks' }>,
): Promise<{ rows: number; seconds: number }> {
  // Estimated as by the planner: the present size, times the density when the table was last analysed. A table that an
  // earlier migration of the same start has filled is not analysed yet; 50 rows per page are assumed.
  const { rows } = await client.query<{ n: number }>(
    `SELECT coalesce(sum(pages * CASE WHEN reltuples > 0 AND relpages > 0 THEN reltuples / relpages ELSE 50 END), 0)::float8
      AS n
    FROM pg_class, LATERAL (SELECT pg_relation_size(oid) / current_setting('block_size')::int AS pages) AS present
    WHERE oid = to_regclass($1)`,
    [table],
  );
  const n = Math.round(rows[0]?.n ?? 0);
  return { rows: n, seconds: Math.ceil(n / rowsPerSecond) };
}
