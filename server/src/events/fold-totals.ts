import type { Logger } from 'pino';
import type { Database } from '../database/pool.ts';
import { foldTotals } from './fold-store.ts';

const ROUND_MS = 1_000;
/** Most rows that one transaction takes of each kind, so that it is over within a fraction of a second. */
const ROWS_AT_ONCE = 20_000;

/**
 * Folds what was counted, about once a second, until it is disposed of; disposing waits for the transaction under way.
 * Counts are right at any moment without it: it keeps them few.
 */
export const startFolding = ({ db, log }: { db: Database; log: Logger }): AsyncDisposable => {
  let stopped = false;
  let round: Promise<void> | null = null;

  const foldAll = async (): Promise<void> => {
    try {
      while (!stopped && (await foldTotals(db, ROWS_AT_ONCE)) >= ROWS_AT_ONCE);
    } catch (error) {
      log.warn({ err: error }, 'the counts could not be folded now; the next round will');
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
