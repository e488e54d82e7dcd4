import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedDatabase } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server on which tests may create databases. */
    databaseServer: string;
    /** The name of a migrated, empty database there, to be copied. */
    databaseTemplate: string;
  }
}

const execute = async (connectionString: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/** One real PostgreSQL for the whole run: the one in DATABASE_URL, or an embedded one in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  const folder = given ? null : await mkdtemp(join(tmpdir(), 'gantry-test-'));
  // Run by root, PostgreSQL is another user, who must be able to enter.
  if (folder !== null) await chmod(folder, 0o711);
  const embedded =
    folder === null ? null : await startEmbeddedDatabase({ dataDir: folder, log: () => undefined });
  const server = given ?? embedded?.connectionString ?? '';

  const template = `gantry_template_${process.pid}`;
  await execute(server, `CREATE DATABASE ${template}`);
  const templateUrl = new URL(server);
  templateUrl.pathname = `/${template}`;
  await migrate(templateUrl.href);

  project.provide('databaseServer', server);
  project.provide('databaseTemplate', template);
  return async () => {
    await execute(server, `DROP DATABASE ${template}`);
    await embedded?.[Symbol.asyncDispose]();
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
}
