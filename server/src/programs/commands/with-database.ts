import type { Config } from '../../platform/config.ts';
import { openDatabaseOf } from '../../platform/database/open.ts';
import { createDatabase, createPool, type Database } from '../../platform/database/pool.ts';
import { loadConfig } from '../../platform/load-config.ts';
import { resolveTime } from '../../platform/time.ts';
import { getTimezoneSettings } from '../../system/store.ts';

/** The database of this installation, for a command. */
export interface CommandDatabase {
  readonly config: Config;
  readonly connectionString: string;
  readonly db: Database;
}

/**
 * Runs `work` on the database of this installation: that of DATABASE_URL, or the embedded one, which is started and
 * stopped again unless a service runs it.
 * @throws UnsuitableDatabase when it cannot be reached; the message says what to do
 */
export async function withDatabase<Result>(
  work: (opened: CommandDatabase) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig();
  await using opened = await openDatabaseOf(config);
  const { connectionString } = opened;
  const pool = createPool(connectionString, 2, () => undefined, { name: 'gantry command' });
  try {
    return await work({ config, connectionString, db: createDatabase(pool) });
  } finally {
    await pool.end();
  }
}

/** The time (Unix milliseconds) that an option names; without an offset, in the time zone of the service. */
export async function timeOf(text: string | undefined, db: Database): Promise<number | null> {
  return text === undefined ? null : resolveTime(text, (await getTimezoneSettings(db)).timezone);
}
