import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { migrationsFolder } from '../folders.ts';
import { migrateJobQueue } from './job-queue.ts';
import { locks } from './locks.ts';

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

const readMigrations = async (): Promise<Migration[]> => {
  const names = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, migrationsFolder), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
};

const apply = async (client: pg.Client, { name, sql, checksum }: Migration): Promise<void> => {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${name} failed; the database is as it was before it`, { cause: error });
  }
};

const pending = async (client: pg.Client, migrations: Migration[]): Promise<Migration[]> => {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`);
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  );
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
};

/**
 * Brings the schema, and that of the job queue, up to date, each migration in its own transaction. Processes that start
 * together take turns. It has connections of its own, because a migration may take longer than any ordinary statement.
 * @returns the names of the migrations that were applied
 */
export const migrate = async (connectionString: string): Promise<string[]> => {
  const migrations = await readMigrations();
  const client = new pg.Client({ connectionString, application_name: 'gantry migration' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [locks.migration]);
    const due = await pending(client, migrations);
    for (const migration of due) await apply(client, migration);
    await migrateJobQueue(connectionString);
    return due.map(({ name }) => name);
  } finally {
    await client.end();
  }
};
