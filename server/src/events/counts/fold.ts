import type { Logger } from 'pino';
import type { Database } from '../../platform/database/pool.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import { foldTotals } from './fold-store.ts';

const EVERY_MS = 1_000;

/** Maximum number of rows of each kind in one transaction, so that it ends within a fraction of a second. */
const ROWS_AT_ONCE = 20_000;

/**
 * Folds new counts about once a second until it is disposed of; disposing waits for the current transaction. Counts
 * are correct without folding; it keeps the number of rows low.
 */
export function startFoldingCounts({ db, log }: { db: Database; log: Logger }): AsyncDisposable {
  return startPeriodic(
    { everyMs: EVERY_MS, log, failure: 'the counts could not be folded now; the next run will try again' },
    async (isOver) => {
      while (!isOver() && (await foldTotals(db, ROWS_AT_ONCE)) >= ROWS_AT_ONCE);
    },
  );
}
