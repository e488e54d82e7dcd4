import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { eventType } from '@gantry/contract/events';
import type {
  PreviewedRemoval,
  RetentionPreview,
  RetentionRules,
  StorageStats,
} from '@gantry/contract/storage';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { endOf } from '../../events/counts/covering.ts';
import { type EventMonth, holdsMonth, listEventMonths, readMonthSizes } from '../../events/partitions.ts';
import type { Core } from '../../platform/context.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { countHitsDue, hasHitDays } from '../../watchlist/hits-store.ts';
import {
  countEventsBefore,
  countHeldDue,
  countImagesDue,
  countPlainEvents,
  countRecordsDue,
  countUsed,
  listHeldMonths,
  type MonthCount,
  readStoredTotals,
} from './counts-store.ts';
import { type Cutoffs, cutoffsOf, dropsWholeMonth, hasLimits } from './cutoffs.ts';
import { dailyRuns } from './schedule.ts';
import { getRules } from './store.ts';

const END_OF_TIME = Date.UTC(9000, 0);

/**
 * What the rules would remove at a time (Unix milliseconds). Images count if nothing refers to them after the removals.
 */
export async function previewRemovals(
  db: Database,
  rules: RetentionRules,
  now: number,
): Promise<RetentionPreview> {
  const due = cutoffsOf(rules, now, await hasHitDays(db));
  const events = await previewEvents(db, due);
  const images = await countImagesDue(db, due);
  const reports = await countRecordsDue(db, 'reports', due.reports);
  const activity = await countRecordsDue(db, 'activity', due.activity);
  const traffic = await countRecordsDue(db, 'traffic', due.traffic);
  const hits = due.hits === null ? [] : await countHitsDue(db, due.hits);
  const log = await countRecordsDue(db, 'log', due.log);
  const cases = await countRecordsDue(db, 'cases', due.cases);
  const removals = [
    ...events,
    ...plain('images', images ?? [], true),
    ...plain('reports', reports, true),
    ...plain('activity', activity, false),
    ...plain('traffic', traffic, false),
    ...plain('hits', hits, false),
    ...plain('log', log, false),
    ...plain('cases', cases, false),
  ];
  const order = (each: PreviewedRemoval): string => `${each.class} ${each.month} ${each.eventType}`;
  return {
    rules,
    removals: removals
      .filter(({ rows, held }) => rows > 0 || held > 0)
      .sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    totals: {
      events: sumOf(events),
      images: images && sumOf(images),
      reports: sumOf(reports),
      activity: sumOf(activity),
      traffic: sumOf(traffic),
      hits: sumOf(hits),
      log: sumOf(log),
      cases: sumOf(cases),
    },
    held: events.reduce((sum, { held }) => sum + held, 0),
  };
}

function sumOf(counts: readonly { rows: number }[]): number {
  return counts.reduce((sum, { rows }) => sum + rows, 0);
}

function keyOf({ month, eventType: type }: MonthCount): string {
  return `${month} ${type}`;
}

/** The events of which nothing came and that are removed before those of their type, by month. */
async function countWithoutHit(db: Executor, due: Cutoffs): Promise<MonthCount[]> {
  const counts: MonthCount[] = [];
  for (const [type, until] of due.withoutHit) {
    const interval = { from: due.events.get(type) ?? EARLIEST_EVENT, until };
    if (until <= interval.from) continue;
    const used = new Map((await countUsed(db, type, interval)).map(({ month, rows }) => [month, rows]));
    const plain = await countPlainEvents(db, type, interval);
    counts.push(
      ...plain.map((each) => ({ ...each, rows: Math.max(0, each.rows - (used.get(each.month) ?? 0)) })),
    );
  }
  return counts;
}

/** Counts of the same month and type as one. */
function added(counts: readonly MonthCount[]): MonthCount[] {
  const sums = new Map<string, MonthCount>();
  for (const count of counts) {
    const known = sums.get(keyOf(count));
    sums.set(keyOf(count), known ? { ...known, rows: known.rows + count.rows } : count);
  }
  return [...sums.values()];
}

async function previewEvents(db: Executor, due: Cutoffs): Promise<PreviewedRemoval[]> {
  if (due.events.size === 0 && due.withoutHit.size === 0) return [];
  const cutoffs = [...new Set(due.events.values())];
  const counts: MonthCount[] = [];
  for (const cutoff of cutoffs) {
    const types = [...due.events].filter(([, each]) => each === cutoff).map(([type]) => type);
    counts.push(...(await countEventsBefore(db, types, cutoff)));
  }
  counts.push(...(await countWithoutHit(db, due)));
  const held = new Map((await countHeldDue(db, due)).map((count) => [keyOf(count), count.rows]));
  const heldMonths = await listHeldMonths(db);
  const partitions = await listEventMonths(db);
  const sizes = await readMonthSizes(db, partitions);
  const all = await countEventsBefore(db, eventType.options, END_OF_TIME);
  return added(counts).map((count) => {
    const partition = partitions.find((each) => holdsMonth(each, count.month));
    const beside = sumOf(all.filter(({ month }) => partition !== undefined && holdsMonth(partition, month)));
    const size = partition && sizes.get(partition.table);
    const staying = held.get(keyOf(count)) ?? 0;
    const rows = count.rows - staying;
    return {
      class: 'events',
      eventType: count.eventType,
      month: count.month,
      rows,
      bytes: size === undefined || size === null ? null : Math.round((size * rows) / Math.max(1, beside)),
      held: staying,
      wholeMonth: partition !== undefined && dropsWholeMonth(due, partition, heldMonths),
    };
  });
}

type PlainCount = Pick<MonthCount, 'month' | 'rows'> & { readonly bytes?: number; readonly held?: number };

function plain(name: PreviewedRemoval['class'], counts: readonly PlainCount[], sized: boolean) {
  return counts.map(
    ({ month, rows, bytes = null, held = 0 }): PreviewedRemoval => ({
      class: name,
      eventType: null,
      month,
      rows,
      bytes: sized ? bytes : null,
      held,
      wholeMonth: false,
    }),
  );
}

/** What is stored, how much space it uses, and what will be removed next. */
export async function getStorageStats(app: Core): Promise<StorageStats> {
  return {
    ...(await readStoredTotals(app.db)),
    months: await readMonths(app),
    reports: await sizeOfFolder(join(app.config.DATA_DIR, 'reports')),
    disk: await sizeOfDisk(app.config.DATA_DIR),
    nextRemoval: await readNextRemoval(app),
  };
}

/** The months of a partition: its only one, or those with events, which share its size. */
function monthsOf(
  partition: EventMonth,
  counts: readonly MonthCount[],
  bytes: number | null,
): StorageStats['months'] {
  const within = counts.filter(({ month }) => holdsMonth(partition, month));
  const all = sumOf(within);
  if (partition.until <= endOf('month', partition.from))
    return [{ month: new Date(partition.from).toISOString().slice(0, 7), events: all, bytes }];
  return [...new Set(within.map(({ month }) => month))].sort().map((month) => {
    const events = sumOf(within.filter((each) => each.month === month));
    return { month, events, bytes: bytes === null ? null : Math.round((bytes * events) / all) };
  });
}

async function readMonths({ db }: Core): Promise<StorageStats['months']> {
  const partitions = await listEventMonths(db);
  const sizes = await readMonthSizes(db, partitions);
  const counts = await countEventsBefore(db, eventType.options, END_OF_TIME);
  return partitions.flatMap((partition) => monthsOf(partition, counts, sizes.get(partition.table) ?? null));
}

async function readNextRemoval({ db, settings }: Core): Promise<StorageStats['nextRemoval']> {
  const rules = await getRules(db);
  const { next } = dailyRuns(await readDatabaseTime(db), settings.current().timezone);
  if (!hasLimits(cutoffsOf(rules, next, await hasHitDays(db)))) return null;
  return { at: new Date(next), ...(await previewRemovals(db, rules, next)).totals };
}

/** The number of files directly in a folder and their total size in bytes. */
async function sizeOfFolder(folder: string): Promise<{ count: number; bytes: number }> {
  const names = (await ignoreErrno(readdir(folder), 'ENOENT')) ?? [];
  let count = 0;
  let bytes = 0;
  for (const name of names) {
    const found = await ignoreErrno(stat(join(folder, name)), 'ENOENT');
    if (!found?.isFile()) continue;
    count++;
    bytes += found.size;
  }
  return { count, bytes };
}

/**
 * The size and the free space of the disk of a folder in bytes, as available to this process; null when there is no
 * such folder.
 */
async function sizeOfDisk(folder: string): Promise<{ totalBytes: number; freeBytes: number } | null> {
  const disk = await ignoreErrno(statfs(folder), 'ENOENT', 'ENOSYS');
  return disk === undefined
    ? null
    : { totalBytes: disk.blocks * disk.bsize, freeBytes: disk.bavail * disk.bsize };
}
