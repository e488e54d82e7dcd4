import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@gantry/contract/events';
import { findHeld } from '../../events/holds-store.ts';
import { type EventMonth, listEventMonths, readMonthSizes } from '../../events/partitions.ts';
import { removeEvents } from '../../events/remove-store.ts';
import { sqlState } from '../../platform/database/failure.ts';
import type { Interval } from '../../platform/time.ts';
import { type Cutoffs, coversEveryType } from './cutoffs.ts';
import { dropsWholeMonth } from './preview.ts';
import { listHeldMonths } from './preview-store.ts';
import { type Run, removeRecorded } from './recorded-removal.ts';
import { dropMonth, pageOfIds } from './removal-store.ts';

/** Number of events removed in one transaction, which takes a tenth of a second. */
const BATCH = 2_000;

/** Pause between two batches, so that other work proceeds. */
const PAUSE_MS = 20;

const DROP_ATTEMPTS = 5;
const DROP_PAUSE_MS = 700;

const IN_USE = new Set(['55P03', '40P01', '57014']);

/** Removes the events that are due: whole partitions where possible, otherwise batch by batch. */
export async function removeDueEvents(run: Run, due: Cutoffs): Promise<void> {
  if (due.events.size === 0) return;
  for (const partition of await listEventMonths(run.db)) {
    if (run.stopped()) return;
    if (coversEveryType(due, partition.until) && (await dropWhole(run, due, partition))) continue;
    await removeInBatches(run, due, partition);
  }
}

async function removeOfType(run: Run, type: EventType, span: Interval): Promise<void> {
  let after: string | null = null;
  while (!run.stopped()) {
    let page: string[] = [];
    await removeRecorded(run, async (tx) => {
      page = await pageOfIds(tx, type, span, after, BATCH);
      if (page.length === 0) return [];
      const held = await findHeld(tx, page);
      const free = page.filter((id) => !held.has(id));
      // Traffic counts are kept when events are removed.
      const removed = await removeEvents(tx, free, false);
      return removed.map((each) => ({ ...each, class: 'events', bytes: 0, whole: false, until: span.until }));
    });
    after = page.at(-1) ?? null;
    if (page.length < BATCH) return;
    await sleep(PAUSE_MS);
  }
}

async function removeInBatches(run: Run, due: Cutoffs, { from, until }: Interval): Promise<void> {
  for (const [type, cutoff] of due.events) {
    if (cutoff > from) await removeOfType(run, type, { from, until: Math.min(cutoff, until) });
  }
}

/** @returns whether the partition was dropped; false when some of its events came under a hold meanwhile */
function tryToDrop(run: Run, due: Cutoffs, partition: EventMonth): Promise<boolean> {
  let dropped = false;
  return removeRecorded(run, async (tx) => {
    if (!dropsWholeMonth(due, partition, await listHeldMonths(tx))) return [];
    const bytes = (await readMonthSizes(tx, [partition])).get(partition.table) ?? 0;
    const removed = await dropMonth(tx, partition);
    dropped = true;
    const all = removed.reduce((sum, { rows }) => sum + rows, 0);
    return removed.map((each) => ({
      ...each,
      class: 'events' as const,
      bytes: Math.round((bytes * each.rows) / all),
      whole: true,
      until: partition.until,
    }));
  }).then(() => dropped);
}

async function dropWhole(run: Run, due: Cutoffs, partition: EventMonth): Promise<boolean> {
  for (let attempt = 1; attempt <= DROP_ATTEMPTS && !run.stopped(); attempt++) {
    try {
      return await tryToDrop(run, due, partition);
    } catch (err) {
      if (!IN_USE.has(sqlState(err) ?? '')) throw err;
      run.log.debug({ err, table: partition.table }, 'a partition of events is in use: it is tried again');
      await sleep(DROP_PAUSE_MS);
    }
  }
  return false;
}
