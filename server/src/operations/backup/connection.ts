import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { clientSettings } from '../../platform/database/address.ts';
import type { Asking } from '../../platform/database/nodes.ts';
import { Client } from '../../platform/database/tls-files.ts';

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
  readonly db: Asking;
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
