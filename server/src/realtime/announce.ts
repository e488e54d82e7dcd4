import type { Pool } from 'pg';
import { channels } from '../platform/database/notify.ts';

/** The pause after an announcement in milliseconds, during which further ones are combined into one. */
const PAUSE_MS = 50;

/** Tells the other processes about additions to the feed of changes that are committed already. */
export interface Announcer extends AsyncDisposable {
  announce(): void;
}

/**
 * Announces additions outside of the transactions that make them: a transaction with NOTIFY holds a lock of the whole
 * server from before its commit is written until it is on disk, so all others with NOTIFY commit one after another.
 * An announcement that is lost is made up for by the regular reading of the feed.
 */
export function createAnnouncer(pool: Pool): Announcer {
  let isDue = false;
  let running: Promise<void> | null = null;
  let over = false;

  const run = async (): Promise<void> => {
    while (isDue) {
      isDue = false;
      await pool.query(`NOTIFY ${channels.changes}`).catch(() => undefined);
      if (!over) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    running = null;
  };

  return {
    announce() {
      isDue = true;
      running ??= run();
    },
    async [Symbol.asyncDispose]() {
      over = true;
      await running;
    },
  };
}
