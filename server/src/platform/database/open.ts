import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import type { Application } from '@gantry/embedded-postgres/application';
import { DataFolder } from '@gantry/embedded-postgres/data-folder';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { findRunning } from '@gantry/embedded-postgres/running';
import { Client, clientSettings } from './address.ts';
import { explainRefusal } from './explain-refusal.ts';
import { UnsuitableDatabase } from './wait.ts';

/** What the embedded database knows of Gantry. */
const GANTRY: Application = {
  name: 'Gantry',
  database: 'gantry',
  folderSetting: 'DATA_DIR',
  serverSetting: 'DATABASE_URL',
  serverVersions: '15 to 18',
  sharedFolder: '/var/lib/gantry-postgresql',
  // That of version 0.1, and since then the data folder of the Debian package.
  formerSharedFolder: '/var/lib/gantry',
};

/** The data folder of an installation (`DATA_DIR`), or another folder that one process at a time may use. */
export function dataFolderAt(path: string): DataFolder {
  return new DataFolder(path, GANTRY);
}

const CONNECT_TIMEOUT_MS = 5_000;

/** A database for use by a command. */
export interface OpenDatabase extends AsyncDisposable {
  readonly connectionString: string;
}

/**
 * Opens the database of an installation for a command: that of `DATABASE_URL`, or the embedded one, which is started
 * and stopped again unless a service runs it.
 * @throws UnsuitableDatabase when it cannot be reached; the message says what to do
 * @throws DataFolderUnusable when this user may not read the data folder
 * @throws Error when there is no database yet
 */
export async function openDatabaseOf(config: {
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR: string;
}): Promise<OpenDatabase> {
  const folder = dataFolderAt(config.DATA_DIR);
  const found = config.DATABASE_URL ?? (await folder.explaining(() => findRunning(config.DATA_DIR, GANTRY)));
  if (found !== null) {
    await requireConnection(found);
    return { connectionString: found, [Symbol.asyncDispose]: async () => undefined };
  }
  if (!(await ignoreErrno(realpath(join(config.DATA_DIR, 'postgres')), 'ENOENT')))
    throw new Error(
      `There is no database in ${config.DATA_DIR}: name its folder with DATA_DIR, or set DATABASE_URL`,
    );
  const claim = await folder.claim();
  const database = await startEmbeddedDatabase({ folder, log: () => undefined });
  return {
    connectionString: database.connectionString,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await claim[Symbol.asyncDispose]();
    },
  };
}

async function requireConnection(connectionString: string): Promise<void> {
  try {
    await tryConnection(connectionString, CONNECT_TIMEOUT_MS);
  } catch (cause) {
    const explanation = explainRefusal(cause, connectionString);
    throw explanation === null ? cause : new UnsuitableDatabase(explanation, { cause });
  }
}

/** Opens a connection and closes it. @throws the error of the connection */
export async function tryConnection(
  connectionString: string,
  connectionTimeoutMillis: number,
): Promise<void> {
  const client = new Client(clientSettings(connectionString, { connectionTimeoutMillis }));
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}

/**
 * Whether the database of an installation is the embedded one. The workers of a service are given its address as
 * `DATABASE_URL`.
 */
export async function isEmbedded(config: {
  readonly DATABASE_URL?: string | undefined;
  readonly DATA_DIR: string;
}): Promise<boolean> {
  return (
    config.DATABASE_URL === undefined || config.DATABASE_URL === (await findRunning(config.DATA_DIR, GANTRY))
  );
}
