import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { pruneChanges } from './changes-store.ts';
import { KEPT_HOURS } from './follow.ts';

const ROUND_MS = 600_000;

/** Forgets, every ten minutes until it is disposed of, the changes that nobody can ask for any more. */
export const startPruning = ({ pool, log }: { pool: Pool; log: Logger }): AsyncDisposable => {
  let round: Promise<void> | null = null;
  let stopped = false;

  const pruneAll = async (): Promise<void> => {
    try {
      // An hour longer than it is promised, for clients that reconnect meanwhile.
      while (!stopped && (await pruneChanges(pool, KEPT_HOURS + 1)) > 0);
    } catch (error) {
      log.warn({ err: error }, 'old changes could not be forgotten now; the next round will');
    }
  };

  const timer = setInterval(() => {
    round ??= pruneAll().finally(() => {
      round = null;
    });
  }, ROUND_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(timer);
      await round;
    },
  };
};
