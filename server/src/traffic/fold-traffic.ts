import type { Logger } from 'pino';
import type { Database } from '../database/pool.ts';
import { startRounds } from '../rounds.ts';
import { foldTraffic } from './fold-store.ts';

const EVERY_MS = 5_000;
/** Commit groups that one transaction takes at least, and at most while there are more. */
const LEAST_AT_ONCE = 200;
const MOST_AT_ONCE = 3_200;
/** While transactions are over within this time, the next takes twice as many groups: what is alike is stored once. */
const QUICK_MS = 1_000;

/**
 * Folds what passed, every few seconds, until it is disposed of; disposing waits for the transaction under way.
 * Figures are right at any moment without it: it keeps them quick to read.
 */
export const startFoldingTraffic = ({ db, log }: { db: Database; log: Logger }): AsyncDisposable =>
  startRounds(
    { everyMs: EVERY_MS, log, failure: 'the traffic could not be folded now; the next round will' },
    async (isOver) => {
      for (let limit = LEAST_AT_ONCE; !isOver(); ) {
        const start = performance.now();
        if ((await foldTraffic(db, limit)) < limit) return;
        const isQuick = performance.now() - start < QUICK_MS;
        limit = isQuick ? Math.min(limit * 2, MOST_AT_ONCE) : LEAST_AT_ONCE;
      }
    },
  );
