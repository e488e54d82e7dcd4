import type { TopLocations, TopLocationsInput } from '@gantry/contract/traffic';
import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { groupsWithin, passedIn } from './passages-store.ts';
import { inSegments, passedWithin } from './rollups-store.ts';
import { segmentsOf } from './segments.ts';

interface TopRow extends Record<string, unknown> {
  id: string;
  name: string;
  speed_limit: number | null;
  volume: number;
  mean_speed: number | null;
  share_over_limit: number | null;
}

const ORDER = {
  volume: sql.raw('volume'),
  meanSpeed: sql.raw('mean_speed'),
  shareOverLimit: sql.raw('share_over_limit'),
};

/** The locations that lead by what is asked for, among those where anything passed within the range. */
export const listTopLocations = async (
  db: Executor,
  range: Interval,
  { by, limit }: Pick<TopLocationsInput, 'by' | 'limit'>,
): Promise<TopLocations['locations']> => {
  const segments = segmentsOf(range);
  const whole = { from: segments[0]?.from ?? range.from, until: segments.at(-1)?.until ?? range.until };
  const folded = inSegments(segments, sql`place_id = locations.id AND vehicle_type IS NULL`).map(
    (condition) => sql`
      SELECT locations.id, n, measured, speed_sum,
        (SELECT sum(count) FROM unnest(bins, counts) AS histogram (bin, count) WHERE bin > speed_limit) AS over
      FROM locations JOIN traffic_rollups ON ${condition}`,
  );
  // Plan: the unique index of traffic_rollups for each location; a month is at most 31 days and some hours of each.
  const { rows } = await db.execute<TopRow>(sql`
    WITH passed AS (
      ${sql.join(folded, sql` UNION ALL `)}
      UNION ALL
      SELECT locations.id, sign * vehicle, CASE WHEN speed IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0),
        CASE WHEN bin > speed_limit THEN sign END
      FROM (${passedIn(groupsWithin(whole), passedWithin(whole))}) AS fresh JOIN locations ON locations.id = location_id
    ), summed AS (
      SELECT id, sum(n)::bigint AS volume, sum(measured) AS measured, sum(speed_sum) AS speed_sum,
        coalesce(sum(over), 0) AS over
      FROM passed GROUP BY id HAVING sum(n) > 0
    ), described AS (
      SELECT id, name, speed_limit, volume,
        round(speed_sum / nullif(measured, 0) / 1000, 3)::double precision AS mean_speed,
        CASE WHEN speed_limit IS NOT NULL
          THEN round(over / nullif(measured, 0), 4)::double precision END AS share_over_limit
      FROM summed JOIN locations USING (id)
    )
    SELECT * FROM described ORDER BY ${ORDER[by]} DESC NULLS LAST, id DESC LIMIT ${limit}`);
  return rows.map((row) => ({
    locationId: row.id,
    locationName: row.name,
    volume: row.volume,
    meanSpeed: row.mean_speed,
    shareOverLimit: row.share_over_limit,
    speedLimit: row.speed_limit,
  }));
};
