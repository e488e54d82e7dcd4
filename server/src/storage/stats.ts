import { join } from 'node:path';
import { eventType } from '@gantry/contract/events';
import type { StorageStats } from '@gantry/contract/storage';
import type { AppContext } from '../context.ts';
import { readDatabaseTime } from '../database/database-time.ts';
import { listEventMonths, readMonthSizes } from '../events/months-store.ts';
import { dueBy, limitsAnything } from './due.ts';
import { sizeOfDisk, sizeOfFolder } from './folder-size.ts';
import { previewRemovals } from './preview.ts';
import { countEventsBefore } from './preview-store.ts';
import { getRules } from './retention-store.ts';
import { dailyRuns } from './schedule.ts';
import { readStoredTotals } from './store.ts';

const END_OF_TIME = Date.UTC(9000, 0);

const readMonths = async ({ db }: AppContext): Promise<StorageStats['months']> => {
  const months = await listEventMonths(db);
  const sizes = await readMonthSizes(db, months);
  const counts = await countEventsBefore(db, eventType.options, END_OF_TIME);
  return months.map(({ month, table }) => ({
    month,
    events: counts.filter((each) => each.month === month).reduce((sum, { rows }) => sum + rows, 0),
    bytes: sizes.get(table) ?? null,
  }));
};

const readNextRemoval = async ({ db, settings }: AppContext): Promise<StorageStats['nextRemoval']> => {
  const rules = await getRules(db);
  const { next } = dailyRuns(await readDatabaseTime(db), settings.current().timezone);
  if (!limitsAnything(dueBy(rules, next))) return null;
  return { at: new Date(next), ...(await previewRemovals(db, rules, next)).totals };
};

/** What is stored, how much room it takes, and what goes next. */
export const getStorageStats = async (app: AppContext): Promise<StorageStats> => ({
  ...(await readStoredTotals(app.db)),
  months: await readMonths(app),
  reports: await sizeOfFolder(join(app.config.DATA_DIR, 'reports')),
  disk: await sizeOfDisk(app.config.DATA_DIR),
  nextRemoval: await readNextRemoval(app),
});
