import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@gantry/contract/events';
import type { Logger } from 'pino';
import { findHeld, lockOutHolds } from '../../events/holds-store.ts';
import { type EventMonth, listEventMonths, readMonthSizes } from '../../events/partitions.ts';
import { removeEvents } from '../../events/remove-store.ts';
import type { ImageFiles } from '../../images/blobs.ts';
import { sqlState } from '../../platform/database/failure.ts';
import type { Database } from '../../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { forgetSensorsDeletedBefore } from '../../sensors/status-store.ts';
import {
  keepTrafficSince,
  type RemovedDay,
  removeDaysNotKept,
  removeUncountedDaysNotKept,
} from '../../traffic/slots-store.ts';
import { listHeldMonths } from './counts-store.ts';
import { type Cutoffs, coversEveryType, dropsWholeMonth } from './cutoffs.ts';
import { dropMonth, pageOfIds, pageOfIdsWithoutHit } from './removal-store.ts';
import { type Removal, recordRemovals, tryToExcludeBackups } from './store.ts';

/** The services that a run of retention needs. */
export interface RunParts {
  readonly db: Database;
  readonly log: Logger;
  readonly files: ImageFiles;
  /** The time in Unix milliseconds. */
  readonly now: () => number;
}

/** A run of retention in progress. */
export interface Run extends RunParts {
  readonly id: string;
  /** The user who started it after a preview; null for the daily run. */
  readonly startedBy: string | null;
  /** Whether to stop after the current batch. */
  readonly stopped: () => boolean;
}

/** Pause between two checks whether a backup is still in progress, in milliseconds. */
const BACKUP_PAUSE_MS = 1_000;

/** Records that the run is alive. @throws RunLost when another process has taken over */
export function showLife(run: Run): Promise<void> {
  return recordRemovals(run.db, run.id, []);
}

/**
 * Removes records in one transaction that also writes the record of the removal and excludes new legal holds. While a
 * backup is in progress, it waits: the backup still needs the partitions and images that its snapshot shows.
 * @throws RunLost when another process has taken over
 */
export async function removeRecorded(
  run: Run,
  work: (tx: Transaction) => Promise<readonly Removal[]>,
): Promise<readonly Removal[]> {
  for (;;) {
    const removals = await inTransaction(run.db, async (tx) => {
      if (!(await tryToExcludeBackups(tx))) {
        await recordRemovals(tx, run.id, []);
        return null;
      }
      await lockOutHolds(tx);
      const removed = await work(tx);
      await recordRemovals(tx, run.id, removed);
      return removed;
    });
    if (removals !== null) return removals;
    if (run.stopped()) return [];
    await sleep(BACKUP_PAUSE_MS);
  }
}

/** Number of events removed in one transaction, which takes a tenth of a second. */
const EVENTS_AT_ONCE = 2_000;

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
      page = await pageOfIds(tx, type, span, after, EVENTS_AT_ONCE);
      if (page.length === 0) return [];
      const held = await findHeld(tx, page);
      const free = page.filter((id) => !held.has(id));
      // Traffic counts are kept when events are removed.
      const removed = await removeEvents(tx, free, false);
      return removed.map((each) => ({ ...each, class: 'events', until: span.until }));
    });
    after = page.at(-1) ?? null;
    if (page.length < EVENTS_AT_ONCE) return;
    await sleep(PAUSE_MS);
  }
}

/** Removes events of which nothing came, for which there is a shorter rule. What others count of them stays. */
export async function removeEventsWithoutHit(run: Run, due: Cutoffs): Promise<void> {
  if (due.withoutHit.size === 0) return;
  for (const { from, until } of await listEventMonths(run.db)) {
    for (const [type, cutoff] of due.withoutHit) {
      const since = Math.max(from, due.events.get(type) ?? from);
      const span = { from: since, until: Math.min(cutoff, until) };
      if (span.from < span.until) await removeOfTypeWithoutHit(run, type, span);
    }
  }
}

async function removeOfTypeWithoutHit(run: Run, type: EventType, span: Interval): Promise<void> {
  let after: string | null = null;
  while (!run.stopped()) {
    let last: string | null = null;
    await removeRecorded(run, async (tx) => {
      const page = await pageOfIdsWithoutHit(tx, type, span, after, EVENTS_AT_ONCE);
      last = page.last;
      const held = await findHeld(tx, page.ids);
      const removed = await removeEvents(
        tx,
        page.ids.filter((id) => !held.has(id)),
        false,
      );
      return removed.map((each) => ({ ...each, class: 'events', until: span.until }));
    });
    if (last === null) return;
    after = last;
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

/** Number of days of one place removed in one transaction, with at most some 1,600 rows each. */
const DAYS_AT_ONCE = 20;
/** Number of periods of which the days are removed in one transaction, where these have no counts. */
const PERIODS_AT_ONCE = 5_000;

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
    const days = await removeDaysRecorded(run, (tx) => removeDaysNotKept(tx, last, DAYS_AT_ONCE));
    if (days.length < DAYS_AT_ONCE) break;
    last = days.at(-1) ?? null;
    await sleep(PAUSE_MS);
  }
  while (!run.stopped()) {
    const days = await removeDaysRecorded(run, (tx) => removeUncountedDaysNotKept(tx, PERIODS_AT_ONCE));
    if (days.length === 0) return;
    await sleep(PAUSE_MS);
  }
}

async function removeDaysRecorded(
  run: Run,
  remove: (tx: Transaction) => Promise<RemovedDay[]>,
): Promise<RemovedDay[]> {
  let days: RemovedDay[] = [];
  await removeRecorded(run, async (tx) => {
    days = await remove(tx);
    return [...byMonth(days)].map(([month, rows]) => ({ class: 'traffic', month, rows }));
  });
  return days;
}

function byMonth(days: readonly RemovedDay[]): ReadonlyMap<string, number> {
  const months = new Map<string, number>();
  for (const { slot } of days) {
    const month = new Date(slot).toISOString().slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + 1);
  }
  return months;
}
