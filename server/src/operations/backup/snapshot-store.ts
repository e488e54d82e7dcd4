import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import type { ClientBase } from 'pg';
import { Client, clientSettings } from '../../platform/database/address.ts';
import { sqlState } from '../../platform/database/failure.ts';
import { locks } from '../../platform/database/locks.ts';
import { areEventsDistributed, type Queryable } from '../../platform/database/nodes.ts';
import { pauseEvents, takeSnapshotOfNodes } from '../../platform/database/nodes-snapshot.ts';
import { AppError } from '../../platform/error.ts';
import { BackupRefused } from './refusal.ts';

/** The name of these connections in `pg_stat_activity`. */
export const CONNECTION_NAME = 'gantry backup';

/** Settings for text that any server reads back as the same value, and for statements without time limits. */
const SETTINGS = [
  'SET client_encoding = UTF8',
  "SET timezone = 'UTC'",
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
 * Excludes other backups of this database, and the removal of events and pictures by retention, for as long as the
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

/** Begins a transaction that may lock tables. */
async function beginTransaction(client: ClientBase): Promise<void> {
  await client.query('BEGIN');
}

/** Begins the transaction whose statements all see the database as it is now. */
export async function beginSnapshot(client: ClientBase): Promise<void> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
}

/** Keeps tables from being altered or dropped until the transaction ends, so that they stay as they are in its snapshot. */
export async function keepTables(client: ClientBase, names: readonly string[]): Promise<void> {
  const list = names.map((name) => client.escapeIdentifier(name)).join(', ');
  await client.query(`LOCK TABLE ${list} IN ACCESS SHARE MODE`);
}

/**
 * Begins the transaction of a backup on the connection. On a cluster, storing of events pauses for some milliseconds,
 * until every node has its snapshot.
 * @returns whether events are distributed over the nodes of a cluster
 * @throws BackupRefused when the nodes cannot be read as of one moment
 */
export async function takeSnapshot(
  { client, db }: CopyConnection,
  connectionString: string,
): Promise<boolean> {
  const isDistributed = await areEventsDistributed(db);
  if (!isDistributed) {
    await beginSnapshot(client);
    return false;
  }
  // Closing the connection ends the pause.
  await using pause = await openCopyConnection(connectionString);
  await beginTransaction(pause.client);
  try {
    await pauseEvents(pause.db);
  } catch (error) {
    throw error instanceof AppError ? new BackupRefused(error.message, { cause: error }) : error;
  }
  await beginSnapshot(client);
  await takeSnapshotOfNodes(db);
  return true;
}
