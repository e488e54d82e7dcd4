import type { Logger } from 'pino';
import type { Database } from '../database/pool.ts';
import { foldTraffic } from './fold-store.ts';

const ROUND_MS = 5_000;
/** Most commit groups that one transaction takes, so that it is over within a fraction of a second. */
const ROWS_AT_ONCE = 200;

/**
 * Folds what passed, every few seconds, until it is disposed of; disposing waits for the transaction under way.
 * Figures are right at any moment without it: it keeps them quick to read.
 */
export const startFoldingTraffic = ({ db, log }: { db: Database; log: Logger }): AsyncDisposable => {
  let stopped = false;
  let round: Promise<void> | null = null;

  const foldAll = async (): Promise<void> => {
    try {
      while (!stopped && (await foldTraffic(db, ROWS_AT_ONCE)) >= ROWS_AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, 'the traffic could not be folded now; the next round will');
    }
  };

  const timer = setInterval(() => {
    round ??= foldAll().finally(() => {
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
