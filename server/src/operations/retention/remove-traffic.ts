import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction } from '../../platform/database/transaction.ts';
import { forgetSensorsDeletedBefore } from '../../sensors/status-store.ts';
import { keepTrafficSince, type RemovedDay, removeDaysNotKept } from '../../traffic/rollups-store.ts';
import { type Run, removeRecorded } from './recorded-removal.ts';

/** Number of days of one place removed in one transaction, with at most some 1,600 rows each. */
const BATCH = 20;

/** Pause between two batches, so that other work proceeds. */
const PAUSE_MS = 20;

/**
 * Removes traffic counts before a time (Unix milliseconds; null for none), and the history of sensors that were deleted
 * before that time, which was kept for these counts. The counts become a gap at once; their rows are removed batch by
 * batch, and the next run continues an interrupted one. Counts do not identify events, so holds do not apply.
 */
export async function removeDueTraffic(run: Run, cutoff: number | null): Promise<void> {
  if (cutoff === null || run.stopped()) return;
  await inTransaction(run.db, (tx) => keepTrafficSince(tx, cutoff));
  await forgetSensorsDeletedBefore(run.db, cutoff);
  for (let last: RemovedDay | null = null; !run.stopped(); ) {
    let days: RemovedDay[] = [];
    await removeRecorded(run, async (tx) => {
      days = await removeDaysNotKept(tx, last, BATCH);
      return [...byMonth(days)].map(([month, rows]) => ({
        class: 'traffic',
        eventType: null,
        month,
        rows,
        bytes: 0,
        whole: false,
      }));
    });
    if (days.length < BATCH) return;
    last = days.at(-1) ?? null;
    await sleep(PAUSE_MS);
  }
}

function byMonth(days: readonly RemovedDay[]): ReadonlyMap<string, number> {
  const months = new Map<string, number>();
  for (const { slot } of days) {
    const month = new Date(slot).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + 1);
  }
  return months;
}
