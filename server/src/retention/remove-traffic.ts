import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction } from '../platform/database/transaction.ts';
import { keepTrafficSince, type RemovedDay, removeDaysNotKept } from '../traffic/kept-store.ts';
import { type Run, removeRecorded } from './recorded-removal.ts';

/** Days of one place each that one transaction removes: some 1,600 rows a day at most. */
const BATCH = 20;

/** Between two batches, so that others come to their turn. */
const PAUSE_MS = 20;

/**
 * Removes the counts of traffic before a moment (Unix milliseconds; null: none). They are a gap at once; their rows go batch
 * by batch, and the next run goes on where one was stopped. Counts say nothing of single events, so holds do not matter.
 */
export async function removeDueTraffic(run: Run, cutoff: number | null): Promise<void> {
  if (cutoff === null || run.stopped()) return;
  await inTransaction(run.db, (tx) => keepTrafficSince(tx, cutoff));
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
