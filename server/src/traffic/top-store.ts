import type { TopLocations } from '@gantry/contract/traffic';
import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { groupsWithin, inSegments, passedIn, passedWithin } from './rollups-store.ts';
import { segmentsOf } from './segments.ts';

interface TopRow extends Record<string, unknown> {
  id: string;
  name: string;
  speed_limit: number | null;
  volume: number;
  mean_speed: number | null;
  share_over_limit: number | null;
  changed: boolean;
}

/** A location with traffic within the range. */
export type TopLocation = TopLocations['locations'][number] & {
  /** Whether its limit changed within the range; then the fraction refers only to the last limit. */
  readonly isLimitChanged: boolean;
};

/** All locations with traffic within the range, each compared with its limit at the end of the range. */
export async function listTopLocations(db: Executor, range: Interval): Promise<TopLocation[]> {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const rolledUp = inSegments(segments, sql`place_id = limited.id AND vehicle_type IS NULL`).map(
    (condition) => sql`
      SELECT limited.id, n, measured, speed_sum,
        (SELECT sum(count) FROM unnest(bins, counts) AS histogram (bin, count) WHERE bin > held) AS over
      FROM limited JOIN traffic_rollups ON ${condition}`,
  );
  // Plan: the unique index of traffic_rollups for each location; a month is at most 31 days and some hours of each.
  const { rows } = await db.execute<TopRow>(sql`
    WITH history AS (
      SELECT location_id AS id, bool_or(since > ${moment(whole.from)}) AS changed,
        (array_agg(speed_limit ORDER BY since DESC))[1] AS held
      FROM location_limits WHERE since < ${moment(whole.until)} GROUP BY 1
    ), limited AS MATERIALIZED (
      SELECT locations.id, name, speed_limit, coalesce(changed, false) AS changed,
        ceil(CASE WHEN changed IS NULL THEN speed_limit ELSE held END) AS held
      FROM locations LEFT JOIN history ON history.id = locations.id
    ), passed AS (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT limited.id, sign * vehicle, CASE WHEN speed IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0),
        CASE WHEN bin > held THEN sign END
      FROM (${passedIn(groupsWithin(whole), passedWithin(whole))}) AS fresh JOIN limited ON limited.id = location_id
    ), summed AS (
      SELECT id, sum(n)::bigint AS volume, sum(measured) AS measured, sum(speed_sum) AS speed_sum,
        coalesce(sum(over), 0) AS over
      FROM passed GROUP BY id HAVING sum(n) > 0
    )
    SELECT id, name, speed_limit, changed, volume,
      round(speed_sum / nullif(measured, 0) / 1000, 3)::double precision AS mean_speed,
      CASE WHEN held IS NOT NULL THEN round(over / nullif(measured, 0), 4)::double precision END AS share_over_limit
    FROM summed JOIN limited USING (id)`);
  return rows.map((row) => ({
    locationId: row.id,
    locationName: row.name,
    volume: row.volume,
    meanSpeed: row.mean_speed,
    shareOverLimit: row.share_over_limit,
    speedLimit: row.speed_limit,
    isLimitChanged: row.changed,
  }));
}
