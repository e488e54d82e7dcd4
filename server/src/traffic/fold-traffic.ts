import type { Logger } from 'pino';
import type { Database } from '../database/pool.ts';
import { foldTraffic } from './fold-store.ts';

const ROUND_MS = 5_000;
/** Commit groups that one transaction takes at least, and at most while there are more. */
const LEAST_AT_ONCE = 200;
const MOST_AT_ONCE = 3_200;
/** While transactions are over within this time, the next takes twice as many groups: what is alike is stored once. */
const QUICK_MS = 1_000;

/**
 * Folds what passed, every few seconds, until it is disposed of; disposing waits for the transaction under way.
 * Figures are right at any moment without it: it keeps them quick to read.
 */
export const startFoldingTraffic = ({ db, log }: { db: Database; log: Logger }): AsyncDisposable => {
  let stopped = false;
  let round: Promise<void> | null = null;

  const foldAll = async (): Promise<void> => {
    let limit = LEAST_AT_ONCE;
    try {
      while (!stopped) {
        const start = performance.now();
        if ((await foldTraffic(db, limit)) < limit) return;
        const isQuick = performance.now() - start < QUICK_MS;
        limit = isQuick ? Math.min(limit * 2, MOST_AT_ONCE) : LEAST_AT_ONCE;
      }
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
