import type { Logger } from 'pino';
import type { Database } from '../../platform/database/pool.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import type { Timings } from '../../platform/timings.ts';
import { foldTotals } from './fold-store.ts';

/** Maximum number of rows of each kind in one transaction, so that it ends within a fraction of a second. */
const ROWS_AT_ONCE = 20_000;

/**
 * Folds new counts again and again until it is disposed of; disposing waits for the current transaction. Counts
 * are correct without folding; it keeps the number of rows low.
 */
export function startFoldingCounts({
  db,
  log,
  timings,
}: {
  db: Database;
  log: Logger;
  timings: Pick<Timings, 'foldCountsMs'>;
}): AsyncDisposable {
  return startPeriodic(
    {
      everyMs: timings.foldCountsMs,
      log,
      failure: 'the counts could not be folded now; the next run will try again',
    },
    async (isOver) => {
      while (!isOver() && (await foldTotals(db, ROWS_AT_ONCE)) >= ROWS_AT_ONCE);
    },
  );
}
