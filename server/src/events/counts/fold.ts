import type { Logger } from 'pino';
import type { Database } from '../../platform/database/pool.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import type { Timings } from '../../platform/timings.ts';
import { foldTotals } from './fold-store.ts';

/** Most rows that one transaction takes of each kind, so that it is over within a fraction of a second. */
const ROWS_AT_ONCE = 20_000;

/**
 * Folds what was counted, again and again, until it is disposed of; disposing waits for the transaction under way.
 * Counts are right at any moment without it: it keeps them few.
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
