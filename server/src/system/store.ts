import { dateFormat, type TimezoneSettings, type UpdateTimezoneInput } from '@gantry/contract/system';
import { sql } from 'drizzle-orm';
import { settings } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';

type SettingsRow = typeof settings.$inferSelect;

export async function getTimezoneSettings(db: Executor): Promise<TimezoneSettings> {
  return toTimezoneSettings(await getRow(db));
}

/** When this installation was first started. */
export async function getInstalledAt(db: Executor): Promise<Date> {
  return (await getRow(db)).installedAt;
}

/** Stores the given settings. A time zone that is replaced is kept among the former ones. */
export async function updateTimezoneSettings(
  db: Executor,
  input: UpdateTimezoneInput,
): Promise<TimezoneSettings> {
  if (input.timezone !== undefined) {
    await db.execute(sql`
      INSERT INTO former_timezones (timezone) SELECT timezone FROM settings WHERE timezone <> ${input.timezone}`);
  }
  const [row] = await db
    .update(settings)
    .set({ onlyRow: true, ...input })
    .returning();
  if (!row) throw new Error('The settings row is missing: the database was not migrated');
  return toTimezoneSettings(row);
}

/** Maximum time between a device's first attempt and a retry, in days. */
const RETRY_DAYS = 400;

/** The previous time zones that were replaced within that time, the latest first. */
export async function listFormerTimezones(db: Executor): Promise<readonly string[]> {
  const { rows } = await db.execute<{ timezone: string }>(sql`
    SELECT former_timezones.timezone FROM former_timezones JOIN settings ON settings.timezone <> former_timezones.timezone
    WHERE replaced_at > now() - make_interval(days => ${RETRY_DAYS})
    GROUP BY 1 ORDER BY max(replaced_at) DESC`);
  return rows.map(({ timezone }) => timezone);
}

/** Whether the database responds. */
export async function isDatabaseReachable(db: Executor): Promise<boolean> {
  try {
    await db.execute(sql`SELECT 1`);
    return true;
  } catch {
    return false;
  }
}

function toTimezoneSettings(row: SettingsRow): TimezoneSettings {
  return {
    timezone: row.timezone,
    use24HourFormat: row.use24HourFormat,
    dateFormat: dateFormat.parse(row.dateFormat),
    firstDayOfWeek: row.firstDayOfWeek,
  };
}

async function getRow(db: Executor): Promise<SettingsRow> {
  const [row] = await db.select().from(settings);
  if (!row) throw new Error('The settings row is missing: the database was not migrated');
  return row;
}
