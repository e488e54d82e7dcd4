import type { RetentionInput, RetentionRules, RetentionSettings } from '@gantry/contract/storage';
import { sql } from 'drizzle-orm';
import { findNames } from '../../accounts/names-store.ts';
import { timeOfUpdate } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';

interface SettingsRow extends Record<string, unknown> {
  events_days: number | null;
  events_by_type: RetentionRules['events']['byType'];
  images_days: number | null;
  reports_days: number | null;
  activity_days: number | null;
  traffic_days: number | null;
  updated_at: string | null;
  updated_by: string | null;
}

/** The retention rule of each class. */
export async function getRules(db: Executor): Promise<RetentionRules> {
  return rulesOf(await read(db));
}

/** The same, locked until the transaction ends. */
export async function lockRules(tx: Executor): Promise<RetentionRules> {
  return rulesOf(await read(tx, sql`FOR UPDATE`));
}

/** The retention rule of each class, and who set it. */
export async function getRetentionSettings(db: Executor): Promise<RetentionSettings> {
  const row = await read(db);
  const nameOf = await findNames(db, [row.updated_by]);
  return {
    ...rulesOf(row),
    updatedAt: row.updated_at === null ? null : new Date(row.updated_at),
    updatedBy: nameOf(row.updated_by),
  };
}

/** The rules after a change of the given classes. */
export function changedRules(rules: RetentionRules, input: RetentionInput): RetentionRules {
  return {
    events: input.events ?? rules.events,
    images: input.images === undefined ? rules.images : input.images,
    reports: input.reports === undefined ? rules.reports : input.reports,
    activity: input.activity === undefined ? rules.activity : input.activity,
    traffic: input.traffic === undefined ? rules.traffic : input.traffic,
  };
}

/** Replaces all rules. */
export async function storeRules(tx: Executor, rules: RetentionRules, userId: string): Promise<void> {
  await tx.execute(sql`
    UPDATE retention_settings SET events_days = ${rules.events.default}::integer,
      events_by_type = ${JSON.stringify(rules.events.byType)}::jsonb, images_days = ${rules.images}::integer,
      reports_days = ${rules.reports}::integer, activity_days = ${rules.activity}::integer,
      traffic_days = ${rules.traffic}::integer,
      updated_at = ${timeOfUpdate()}, updated_by = ${userId}::uuid`);
}

async function read(db: Executor, lock = sql``): Promise<SettingsRow> {
  const { rows } = await db.execute<SettingsRow>(sql`SELECT * FROM retention_settings ${lock}`);
  if (!rows[0]) throw new Error('The row of the retention settings is missing');
  return rows[0];
}

function rulesOf(row: SettingsRow): RetentionRules {
  return {
    events: { default: row.events_days, byType: row.events_by_type },
    images: row.images_days,
    reports: row.reports_days,
    activity: row.activity_days,
    traffic: row.traffic_days,
  };
}
