import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseAway } from './failure.ts';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

/** A PostgreSQL server that this service cannot work with. */
export class UnsuitableDatabase extends Error {
  override readonly name = 'UnsuitableDatabase';
}

const check = async (connectionString: string, log: Logger): Promise<void> => {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number; durable: boolean; encoding: string }>(`
      SELECT current_setting('server_version_num')::int AS version,
        current_setting('fsync')::bool AND current_setting('synchronous_commit') <> 'off' AS durable,
        current_setting('server_encoding') AS encoding`);
    const [server] = rows;
    if (!server || server.version < 150_000)
      throw new UnsuitableDatabase('Gantry needs PostgreSQL 15 or newer');
    if (server.encoding !== 'UTF8') {
      throw new UnsuitableDatabase(
        `The database has the encoding ${server.encoding}: create it with ENCODING 'UTF8'`,
      );
    }
    if (!server.durable) {
      log.warn(
        'fsync or synchronous_commit is off: acknowledged events can be lost when the database server fails',
      );
    }
  } finally {
    await client.end();
  }
};

/**
 * Waits until the database answers, up to 30 s: it may be starting at the same time.
 * @throws UnsuitableDatabase when it answers but is too old or has the wrong encoding
 */
export const waitForDatabase = async (connectionString: string, log: Logger): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check(connectionString, log);
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > deadline) throw error;
      log.info({ reason: error }, 'waiting for the database');
      await sleep(PAUSE_MS);
    }
  }
};
