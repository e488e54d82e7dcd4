import { dateFormat, type TimezoneSettings, type UpdateTimezoneInput } from '@gantry/contract/system';
import { sql } from 'drizzle-orm';
import { settings } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';

type SettingsRow = typeof settings.$inferSelect;

const toTimezoneSettings = (row: SettingsRow): TimezoneSettings => ({
  timezone: row.timezone,
  use24HourFormat: row.use24HourFormat,
  dateFormat: dateFormat.parse(row.dateFormat),
  firstDayOfWeek: row.firstDayOfWeek,
});

const getRow = async (db: Executor): Promise<SettingsRow> => {
  const [row] = await db.select().from(settings);
  if (!row) throw new Error('The settings row is missing: the database was not migrated');
  return row;
};

export const getTimezoneSettings = async (db: Executor): Promise<TimezoneSettings> =>
  toTimezoneSettings(await getRow(db));

/** When this installation was first started. */
export const getInstalledAt = async (db: Executor): Promise<Date> => (await getRow(db)).installedAt;

export const updateTimezoneSettings = async (
  db: Executor,
  input: UpdateTimezoneInput,
): Promise<TimezoneSettings> => {
  const [row] = await db
    .update(settings)
    .set({ onlyRow: true, ...input })
    .returning();
  if (!row) throw new Error('The settings row is missing: the database was not migrated');
  return toTimezoneSettings(row);
};

/** Whether the database answers. */
export const answers = async (db: Executor): Promise<boolean> => {
  try {
    await db.execute(sql`SELECT 1`);
    return true;
  } catch {
    return false;
  }
};
