import { startEmbeddedDatabase } from '@gantry/embedded-postgres';
import type { Config } from '../../platform/config.ts';
import { dataFolderAt } from '../../platform/data-folder.ts';
import type { OpenDatabase } from '../../platform/database/open.ts';

/**
 * Opens the database into which a backup is restored: that of `DATABASE_URL`, or the embedded one, which is created if
 * necessary and stopped again.
 * @throws DataFolderInUse when a service runs on the data folder
 */
export async function openTarget(config: Pick<Config, 'DATABASE_URL' | 'DATA_DIR'>): Promise<OpenDatabase> {
  const folder = dataFolderAt(config.DATA_DIR);
  if (config.DATABASE_URL !== undefined) {
    await folder.make();
    return { connectionString: config.DATABASE_URL, [Symbol.asyncDispose]: async () => undefined };
  }
  const claim = await folder.claim();
  try {
    const database = await startEmbeddedDatabase({ folder, log: () => undefined });
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
