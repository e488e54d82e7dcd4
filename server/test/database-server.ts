import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createPartitions } from '../src/events/partitions.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { dataFolderAt } from '../src/platform/database/open.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
import { buildPrograms } from './build-programs.ts';
import { copyDataFolder } from './data-folders.ts';
import { findLeaks } from './leaks-found.ts';
import { moveTemporaryFolder } from './temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may create databases. */
    databaseServer: string;
    /** The name of a migrated database without events on it, as a template. */
    databaseTemplate: string;
    /** A data folder with an unused embedded database, as a template. */
    dataFolderTemplate: string;
    /** The folder in which each worker stores the log of its services and the secrets of its tests. */
    logFolder: string;
  }
}

/** Several workers each run several services, and a service opens up to 23 connections. */
const CONNECTIONS = 400;

const execute = async (connectionString: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/**
 * The settings of the server, which need not wait for the disk: durability is tested by tests that start servers of
 * their own.
 */
const QUICK = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_compression: 'off',
  // Each process of the server maps them, and removing a database searches them.
  shared_buffers: '256MB',
};

/**
 * Lets clients send the password itself, and stores it with one round of hashing instead of 4,096: a run opens thousands
 * of connections, each of which would cost the client milliseconds.
 */
const allowPlainPasswords = (dataFolder: string): Promise<void> =>
  writeFile(join(dataFolder, 'postgres', 'pg_hba.conf'), 'host all all 127.0.0.1/32 password\n');
const makeLoginCheap = async (server: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query('SET scram_iterations = 1');
    const { username, password } = new URL(server);
    await client.query(`ALTER ROLE ${pg.escapeIdentifier(username)} PASSWORD ${pg.escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
};

/** Creates the partitions that every service would otherwise create when it starts. */
const addPartitions = async (database: string): Promise<void> => {
  const pool = new pg.Pool({ connectionString: database, max: 1 });
  await createPartitions(pool, Date.now).ensureAhead();
  await pool.end();
};

const run = (program: string): Promise<unknown> =>
  promisify(execFile)(process.execPath, [fileURLToPath(new URL(program, import.meta.url))]);

/** Creates the data folder that others are copied from: creating a cluster takes PostgreSQL a second. */
const makeDataFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-test-template-'));
  // If started by root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(folder, 0o711);
  const database = await startEmbeddedDatabase({ folder: dataFolderAt(folder), log: () => undefined });
  await database[Symbol.asyncDispose]();
  return folder;
};

/** One real PostgreSQL for the whole run: the one in DATABASE_URL, or an embedded one in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Outside the temporary folder of the run, because it is kept if the log contains secrets.
  const logFolder = await mkdtemp(join(tmpdir(), 'gantry-test-logs-'));
  const removeTemporaryFolder = await moveTemporaryFolder();
  const given = process.env.DATABASE_URL;
  // Reports are written by the built program, even if the service runs from source. The console is built here, because
  // several tests would otherwise build it at the same time.
  const [dataFolder] = await Promise.all([
    makeDataFolder(),
    run('../build.js'),
    run('../../console/build.js'),
    buildPrograms(),
  ]);
  const folder = given ? null : await mkdtemp(join(tmpdir(), 'gantry-test-'));
  if (folder !== null) {
    await copyDataFolder(dataFolder, folder);
    await allowPlainPasswords(folder);
  }
  const embedded =
    folder === null
      ? null
      : await startEmbeddedDatabase({
          folder: dataFolderAt(folder),
          connections: CONNECTIONS,
          settings: QUICK,
          log: () => undefined,
        });
  const server = given ?? embedded?.connectionString ?? '';
  if (embedded !== null) await makeLoginCheap(server);

  const template = `gantry_template_${process.pid}`;
  await execute(server, `CREATE DATABASE ${template}`);
  const templateUrl = new URL(server);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href, { folder: migrationsFolder });
  await addPartitions(templateUrl.href);

  project.provide('databaseServer', server);
  project.provide('databaseTemplate', template);
  project.provide('dataFolderTemplate', dataFolder);
  const { password } = new URL(server);
  if (password !== '') {
    await writeFile(
      join(logFolder, 'server.secrets'),
      `${JSON.stringify(['database password', password])}\n`,
    );
  }
  project.provide('logFolder', logFolder);
  return async () => {
    const leaks = await findLeaks(logFolder);
    if (leaks.length > 0) {
      process.exitCode = 1;
      process.stderr.write(
        `The log holds secrets that tests used (kept in ${logFolder}):\n${leaks.join('\n')}\n`,
      );
    } else await rm(logFolder, { recursive: true, force: true });
    if (embedded === null) await execute(server, `DROP DATABASE ${template}`);
    else await embedded[Symbol.asyncDispose]();
    for (const used of [dataFolder, folder])
      if (used !== null) await rm(used, { recursive: true, force: true });
    await removeTemporaryFolder();
  };
}
