import type { Config } from '../../platform/config.ts';
import { openDatabaseOf } from '../../platform/database/open.ts';
import { createDatabase, createPool, type Database } from '../../platform/database/pool.ts';
import { loadConfig } from '../../platform/load-config.ts';

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
