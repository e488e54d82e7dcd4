import type { ClientBase } from 'pg';
import { sqlState } from '../../platform/database/failure.ts';
import { locks } from '../../platform/database/locks.ts';
import { BackupRefused } from './refusal.ts';

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
export async function beginTransaction(client: ClientBase): Promise<void> {
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
