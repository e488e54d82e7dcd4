import type { Logger } from 'pino';
import type { Database } from '../../platform/database/pool.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import { foldTotals } from './fold-store.ts';

const EVERY_MS = 1_000;

/** Most rows that one transaction takes of each kind, so that it is over within a fraction of a second. */
const ROWS_AT_ONCE = 20_000;

/**
 * Folds what was counted, about once a second, until it is disposed of; disposing waits for the transaction under way.
 * Counts are right at any moment without it: it keeps them few.
 */
export function startFoldingCounts({ db, log }: { db: Database; log: Logger }): AsyncDisposable {
  return startPeriodic(
    { everyMs: EVERY_MS, log, failure: 'the counts could not be folded now; the next run will try again' },
    async (isOver) => {
      while (!isOver() && (await foldTotals(db, ROWS_AT_ONCE)) >= ROWS_AT_ONCE);
    },
  );
}
