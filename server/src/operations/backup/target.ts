import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import { claimDataFolder, makeDataFolder } from '@gantry/embedded-postgres/data-folder';
import type { Config } from '../../platform/config.ts';
import type { OpenDatabase } from '../../platform/database/open.ts';

/**
 * Opens the database into which a backup is restored: that of `DATABASE_URL`, or the embedded one, which is created if
 * necessary and stopped again.
 * @throws DataFolderInUse when a service runs on the data folder
 */
export async function openTarget(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<OpenDatabase> {
  if (config.DATABASE_URL !== undefined) {
    await makeDataFolder(config.DATA_DIR);
    return { connectionString: config.DATABASE_URL, [Symbol.asyncDispose]: async () => undefined };
  }
  const claim = await claimDataFolder(config.DATA_DIR);
  try {
    const database = await startEmbeddedDatabase({ dataDir: config.DATA_DIR, log: () => undefined });
    return {
      connectionString: database.connectionString,
      async [Symbol.asyncDispose]() {
        await database[Symbol.asyncDispose]();
        await claim[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await claim[Symbol.asyncDispose]();
    throw error;
  }
}
