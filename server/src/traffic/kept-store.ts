import { sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Transaction } from '../platform/database/transaction.ts';

/**
 * The time since which traffic counts are kept, as an expression. Everything before it was removed and is a gap, even
 * if rows remain.
 */
export const keptSince = sql.raw('(SELECT since FROM traffic_kept)');

/**
 * The time, on a quarter hour, before which slots longer than five minutes are counted, as an expression. What came
 * later is counted in slots of five minutes only.
 */
export const longerUntil = sql.raw('(SELECT longer_until FROM traffic_kept)');

/**
 * Makes all traffic before a time (Unix milliseconds, a midnight in UTC) a permanent gap. Its rows can be removed
 * afterwards. Waits for a roll-up in progress.
 */
export async function keepTrafficSince(tx: Transaction, time: number): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  await tx.execute(sql`UPDATE traffic_kept SET since = ${moment(time)} WHERE since < ${moment(time)}`);
}

/** A day of a place whose counts were removed. */
export interface RemovedDay extends Record<string, unknown> {
  readonly place_id: string;
  /** The midnight in UTC at which it begins, as ISO text. */
  readonly slot: string;
}

/**
 * Removes counts of days before the time since which traffic is kept.
 * @param after the last day that was removed; null to begin
 * @param limit maximum number of days of one place each
 */
export async function removeDaysNotKept(
  tx: Transaction,
  after: RemovedDay | null,
  limit: number,
): Promise<RemovedDay[]> {
  const behind =
    after === null
      ? sql`true`
      : sql`(place_id, slot) > (${after.place_id}::uuid, ${after.slot}::timestamptz)`;
  // Plan: the unique index of traffic_rollups for days, then for every slot length of each of them.
  const { rows } = await tx.execute<RemovedDay>(sql`
    WITH days AS MATERIALIZED (
      SELECT place_id, slot FROM traffic_rollups
      WHERE minutes = 1440 AND vehicle_type IS NULL AND slot < ${keptSince} AND ${behind}
      ORDER BY place_id, slot LIMIT ${limit}
    ), gone AS (
      DELETE FROM traffic_rollups USING days
      WHERE minutes = ANY ('{5,15,60,1440}'::smallint[]) AND traffic_rollups.place_id = days.place_id
        AND traffic_rollups.slot >= days.slot AND traffic_rollups.slot < days.slot + interval '24 hours'
    )
    SELECT place_id, slot FROM days ORDER BY place_id, slot`);
  return rows;
}
