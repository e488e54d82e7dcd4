import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { eventType } from '@gantry/contract/events';
import type { StorageStats } from '@gantry/contract/storage';
import { ignoreErrno } from '@gantry/embedded-postgres/errno';
import { endOf } from '../../events/counts/covering.ts';
import { type EventMonth, holdsMonth, listEventMonths, readMonthSizes } from '../../events/partitions.ts';
import type { Core } from '../../platform/context.ts';
import { readDatabaseTime } from '../../platform/database/moment.ts';
import { cutoffsOf, hasLimits } from './cutoffs.ts';
import { previewRemovals } from './preview.ts';
import { countEventsBefore, type MonthCount } from './preview-store.ts';
import { getRules } from './rules-store.ts';
import { dailyRuns } from './schedule.ts';
import { readStoredTotals } from './usage-store.ts';

const END_OF_TIME = Date.UTC(9000, 0);

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

function sumOf(counts: readonly MonthCount[]): number {
  return counts.reduce((sum, { rows }) => sum + rows, 0);
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
  if (!hasLimits(cutoffsOf(rules, next))) return null;
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
