import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import type { History } from '../platform/history.ts';

/**
 * Writes down that the speed limit of a location changed, in the transaction that changes it. The first limit that is said
 * of a location is taken for the one that always held.
 */
export const recordLimitChange = async (
  tx: Executor,
  locationId: string,
  from: number | null,
  to: number | null,
): Promise<void> => {
  if (from === to) return;
  const { rows } = await tx.execute(
    sql`SELECT FROM location_limits WHERE location_id = ${locationId}::uuid LIMIT 1`,
  );
  if (rows.length === 0 && from === null) return;
  await tx.execute(sql`
    INSERT INTO location_limits (location_id, since, speed_limit)
    SELECT ${locationId}::uuid, '-infinity', ${from}::double precision
    ON CONFLICT DO NOTHING`);
  await tx.execute(sql`
    INSERT INTO location_limits (location_id, since, speed_limit)
    SELECT ${locationId}::uuid, greatest(clock_timestamp(), max(since)), ${to}::double precision
    FROM location_limits WHERE location_id = ${locationId}::uuid
    ON CONFLICT (location_id, since) DO UPDATE SET speed_limit = excluded.speed_limit`);
};

/** The speed limits (km/h) of those of the locations whose limit ever changed, by id. */
export const readLimits = async (
  db: Executor,
  locationIds: readonly string[],
): Promise<ReadonlyMap<string, History<number | null>>> => {
  const { rows } = await db.execute<{
    location_id: string;
    since: number | null;
    speed_limit: number | null;
  }>(sql`
    SELECT location_id, extract(epoch FROM nullif(since, '-infinity'))::float8 * 1000 AS since, speed_limit
    FROM location_limits WHERE location_id = ANY (${sql.param(locationIds)}::uuid[]) ORDER BY location_id, location_limits.since`);
  const limits = new Map<string, { since: number; value: number | null }[]>();
  for (const row of rows) {
    const history = limits.get(row.location_id) ?? [];
    limits.set(row.location_id, history);
    history.push({ since: row.since ?? Number.NEGATIVE_INFINITY, value: row.speed_limit });
  }
  return limits;
};
