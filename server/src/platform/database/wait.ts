import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseAway } from './failure.ts';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

export interface WaitOptions {
  /** Whether to accept, with a warning, a server that may lose committed data. */
  readonly allowUnsafe: boolean;
  readonly log: Logger;
}

/** A PostgreSQL server that this service cannot use. */
export class UnsuitableDatabase extends Error {
  override readonly name = 'UnsuitableDatabase';
}

/** Server settings that must be on, because otherwise committed data may not survive a crash. */
const DURABILITY = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/**
 * Waits up to 30 s for the database, which may be starting at the same time.
 * @throws UnsuitableDatabase when it is too old, has the wrong encoding, or may lose committed data
 */
export async function waitForDatabase(connectionString: string, options: WaitOptions): Promise<void> {
  const { log } = options;
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check(connectionString, options);
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > deadline) throw error;
      log.info({ reason: error }, 'waiting for the database');
      await sleep(PAUSE_MS);
    }
  }
}

function requireDurable(off: readonly string[], { allowUnsafe, log }: WaitOptions): void {
  if (off.length === 0) return;
  const settings = off.join(' and ');
  const danger = 'acknowledged events can be lost when the database server fails';
  if (!allowUnsafe) {
    throw new UnsuitableDatabase(
      `The database server runs with ${settings} off, so ${danger}: switch ${settings} on, or set ALLOW_UNSAFE_DATABASE=true to accept that`,
    );
  }
  log.warn(`the database server runs with ${settings} off, which ALLOW_UNSAFE_DATABASE accepts: ${danger}`);
}

async function check(connectionString: string, options: WaitOptions): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number; off: string[]; encoding: string }>(
      `SELECT current_setting('server_version_num')::int AS version,
        ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE current_setting(name) = 'off') AS off,
        current_setting('server_encoding') AS encoding`,
      [DURABILITY],
    );
    const [server] = rows;
    if (!server || server.version < 150_000)
      throw new UnsuitableDatabase('Gantry needs PostgreSQL 15 or newer');
    if (server.encoding !== 'UTF8') {
      throw new UnsuitableDatabase(
        `The database has the encoding ${server.encoding}: create it with ENCODING 'UTF8'`,
      );
    }
    requireDurable(server.off, options);
  } finally {
    await client.end();
  }
}
