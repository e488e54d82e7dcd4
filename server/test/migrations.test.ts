import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locks } from '../src/platform/database/locks.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import type { MigrationLog } from '../src/platform/database/migration-locks.ts';
import { createTestDatabase, eventually } from './harness.ts';

// Migrations of a small schema, while others use it.

const PATIENCE = { waitMs: 600, pauseMs: 300, inAllMs: 60_000 };
const THINGS = 'CREATE TABLE things (n integer PRIMARY KEY, of_old integer, of_new integer)';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let folder: string;
let lines: { level: 'info' | 'warn'; detail: Record<string, unknown>; message: string }[];
let clients: pg.Client[];

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: database.url, application_name: 'somebody' });
  await client.connect();
  clients.push(client);
  return client;
};

const note =
  (level: 'info' | 'warn') =>
  (detail: unknown, message?: unknown): void => {
    lines.push({ level, detail: detail as Record<string, unknown>, message: String(message) });
  };
const log = { info: note('info'), warn: note('warn') } as MigrationLog;

/** Applies the existing migrations and the given one. */
const apply = async (name: string, sql: string, patience = PATIENCE): Promise<string[]> => {
  await writeFile(join(folder, name), sql);
  return migrate(database.url, { folder: pathToFileURL(`${folder}/`), log, patience });
};

beforeEach(async () => {
  database = await createTestDatabase('template0');
  folder = await mkdtemp(join(tmpdir(), 'gantry-migrations-'));
  lines = [];
  clients = [];
  await apply(
    '0001-things.sql',
    `${THINGS}; INSERT INTO things SELECT n, n FROM generate_series(1, 2500) AS n`,
  );
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
  await rm(folder, { recursive: true });
});

describe('a migration that gets its locks at once', () => {
  it('does not wait, whatever its time limit is', async () => {
    const patience = { waitMs: 3_600_000, pauseMs: 3_600_000, inAllMs: 3_600_000 };
    expect(await apply('0002-other.sql', 'CREATE TABLE others ()', patience)).toEqual(['0002-other.sql']);
  });
});

describe('a migration in a database with a time limit of statements', () => {
  it('takes as long as it takes', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await (await connect()).query(`ALTER DATABASE "${name}" SET statement_timeout = '100ms'`);
    await expect((await connect()).query('SELECT pg_sleep(0.5)')).rejects.toThrow('statement timeout');
    expect(await apply('0002-slow.sql', 'SELECT pg_sleep(0.5)')).toEqual(['0002-slow.sql']);
  });
});

describe('a start while another process applies migrations', () => {
  it('says in the log that it waits, and for whom', async () => {
    const other = await connect();
    await other.query('SELECT pg_advisory_lock($1)', [locks.migration]);
    const applied = apply('0002-other.sql', 'CREATE TABLE others ()');
    await eventually(
      async () => lines,
      (found) => found.length > 0,
    );
    expect(lines).toEqual([
      {
        level: 'info',
        message: 'waiting for another process, which brings the database schema up to date',
        detail: { holders: expect.stringMatching(/^pid \d+ \(somebody, user \w+, since .*Z\)$/) },
      },
    ]);
    await other.query('SELECT pg_advisory_unlock($1)', [locks.migration]);
    expect(await applied).toEqual(['0002-other.sql']);
  });
});

describe('a migration of a locked table', () => {
  const ALTER = 'ALTER TABLE things ADD COLUMN further text';

  it('lets readers proceed, names the holder of the lock, and succeeds when it is released', async () => {
    const holder = await connect();
    await holder.query('BEGIN; SELECT FROM things LIMIT 1');
    const applied = apply('0002-further.sql', ALTER);
    await eventually(
      async () => lines.filter(({ level }) => level === 'warn').length,
      (count) => count >= 2,
    );
    // If the migration waited without a limit, readers would wait behind it for as long.
    const reader = await connect();
    await reader.query("SET statement_timeout = '30s'");
    for (let times = 0; times < 5; times++)
      expect((await reader.query('SELECT FROM things')).rowCount).toBe(2500);
    expect(lines[0]?.detail).toEqual({
      migration: '0002-further.sql',
      holders: expect.stringMatching(
        /^pid \d+ \(somebody, user \w+, idle in transaction, in a transaction for \d+ s\)$/,
      ),
    });
    await holder.query('COMMIT');
    expect(await applied).toEqual(['0002-further.sql']);
  });

  it('eventually gives up with the reason, and changes nothing', async () => {
    const holder = await connect();
    await holder.query('BEGIN; SELECT FROM things LIMIT 1');
    const failure = await apply('0002-further.sql', ALTER, { ...PATIENCE, inAllMs: 1_000 }).catch((e) => e);
    expect(String(failure)).toMatch(/0002-further.sql failed; the database is as it was before it/);
    expect(String(failure.cause)).toMatch(/held by pid \d+ \(somebody/);
    await holder.query('COMMIT');
    expect(await apply('0002-further.sql', ALTER)).toEqual(['0002-further.sql']);
  });
});

describe('a migration in batches', () => {
  const BATCHED = `-- gantry: batched
    UPDATE things SET of_new = of_old FROM (
      SELECT n FROM things WHERE of_new IS NULL ORDER BY n LIMIT 1000 FOR UPDATE SKIP LOCKED
    ) AS batch WHERE things.n = batch.n`;

  it('commits each of them separately, and continues where it was interrupted', async () => {
    const holder = await connect();
    await holder.query('BEGIN; LOCK TABLE schema_migrations IN SHARE MODE');
    const applied = apply('0002-batched.sql', BATCHED);
    const other = await connect();
    const filled = async () => (await other.query('SELECT FROM things WHERE of_new IS NOT NULL')).rowCount;
    await eventually(filled, (count) => count === 2500);
    // The migration is not recorded yet, but its changes are visible to others: no transaction surrounds it.
    await other.query('INSERT INTO things VALUES (2501, 1, 1)');
    await holder.query('COMMIT');
    expect(await applied).toEqual(['0002-batched.sql']);
    const batches = lines.filter(({ level }) => level === 'info').map(({ detail }) => detail.rows);
    expect(batches).toEqual([1000, 2000, 2500, 2500]);
    expect(await apply('0002-batched.sql', BATCHED)).toEqual([]);
  });
});

describe('a migration that locks a table for long', () => {
  it('announces how long it takes, and what has to wait', async () => {
    await (await connect()).query('ANALYZE things');
    await apply('0002-all.sql', '-- gantry: locks things 1000 things, and all\nUPDATE things SET of_new = 1');
    expect(lines).toEqual([
      {
        level: 'info',
        detail: { migration: '0002-all.sql', table: 'things', rows: 2500, seconds: 3 },
        message: 'a migration takes about 3 s; meanwhile these wait: things, and all',
      },
    ]);
  });

  it('counts rows that were added since the table was analysed, for example by an earlier migration of the same start', async () => {
    const client = await connect();
    await client.query('CREATE TABLE fresh (n int)');
    await apply('0001-empty.sql', '-- gantry: locks fresh 1000 fresh\nUPDATE fresh SET n = 1');
    expect(lines).toEqual([]);
    await client.query('INSERT INTO fresh SELECT generate_series(1, 30000)');
    await apply('0002-all.sql', '-- gantry: locks fresh 1000 fresh\nUPDATE fresh SET n = 1');
    expect(lines[0]?.detail.seconds).toBeGreaterThan(3);
    await client.query('ANALYZE things');
    await client.query('INSERT INTO things SELECT n, n, n FROM generate_series(10001, 30000) AS n');
    await apply('0003-all.sql', '-- gantry: locks things 1000 things\nUPDATE things SET of_new = 1');
    expect(lines[1]?.detail.rows).toBeGreaterThan(15_000);
  });

  it('is refused if its note is unknown', async () => {
    await expect(apply('0002-all.sql', '-- gantry: somehow\nSELECT 1')).rejects.toThrow(/unknown note/);
  });
});
