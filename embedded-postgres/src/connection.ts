import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { connectionStringOf } from './application.ts';
import type { Cluster } from './cluster.ts';
import { EmbeddedDatabaseError } from './home.ts';

/** Maximum wait for the answer of a server that has reported itself ready, in milliseconds. */
const ANSWER_MS = 20_000;
const INVALID_PASSWORD = '28P01';

/** The connection string of a database of the cluster. */
export function addressOf(cluster: Cluster, port: number, database: string): string {
  return connectionStringOf(cluster.application, port, cluster.password, database);
}

/**
 * Waits until the server on the port answers as the server of this cluster.
 * @throws {EmbeddedDatabaseError} when it does not answer within 20 s or before the signal is aborted, refuses the
 * password, or serves another folder
 */
export async function waitForAnswer(cluster: Cluster, port: number, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + ANSWER_MS;
  for (;;) {
    try {
      return await checkFolder(cluster, port);
    } catch (error) {
      if (error instanceof EmbeddedDatabaseError) throw error;
      if (error instanceof DatabaseError && error.code === INVALID_PASSWORD)
        throw wrongPassword(cluster, error);
      if (signal?.aborted || performance.now() > deadline) {
        throw new EmbeddedDatabaseError(`PostgreSQL on port ${port} does not answer: ${String(error)}.`, {
          cause: error,
        });
      }
    }
    await sleep(100);
  }
}

/** Creates the database in the cluster unless it exists. */
export async function ensureDatabase(cluster: Cluster, port: number, name: string): Promise<void> {
  await usingClient(cluster, port, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  });
}

async function checkFolder(cluster: Cluster, port: number): Promise<void> {
  const folder = await usingClient(cluster, port, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return realpath(rows[0]?.data_directory ?? '');
  });
  if (folder !== cluster.folder) {
    throw new EmbeddedDatabaseError(`PostgreSQL on port ${port} serves another folder, ${folder}.`);
  }
}

async function usingClient<T>(
  cluster: Cluster,
  port: number,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const connectionString = addressOf(cluster, port, 'postgres');
  const client = new Client({
    connectionString,
    ssl: false,
    connectionTimeoutMillis: 5_000,
    query_timeout: 20_000,
  });
  // A lost connection also rejects the query in progress, where the error is handled.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    // Not awaited: on a lost connection it may never settle.
    void client.end();
  }
}

function wrongPassword(cluster: Cluster, cause: Error): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The password kept in the data folder does not open the database in ${cluster.folder}. ` +
      'Restore the password file that belongs to it.',
    { cause },
  );
}
