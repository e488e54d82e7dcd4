import { DAY_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import { sortedName } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { groupsWithin, inSegments, passedIn, passedWithin } from './rollups-store.ts';
import type { Segment } from './segments.ts';

/** The last minutes of a location; sums of speeds in metres per hour. */
export interface LiveRow extends Record<string, unknown> {
  readonly id: string;
  readonly name: string;
  readonly speed_limit: number | null;
  readonly watched: boolean;
  readonly n: number;
  readonly measured: number;
  readonly speed_sum: number;
  readonly usual_measured: number;
  readonly usual_sum: number;
}

const USUAL_MS = 7 * DAY_MS;

/** The traffic of every location within a range of minutes, and during the seven days before. */
export async function readLive(db: Executor, range: Interval): Promise<LiveRow[]> {
  const usual: Segment = { minutes: 1_440, from: range.from - USUAL_MS, until: range.until };
  const days = inSegments([usual], sql`place_id = locations.id AND vehicle_type IS NULL`).map(
    (condition) => sql`
        SELECT place_id, measured, speed_sum FROM locations JOIN traffic_rollups ON ${condition}
        WHERE speed_limit IS NULL`,
  );
  // Plan: the unique index of traffic_rollups for minutes, and for days of each location.
  const { rows } = await db.execute<LiveRow>(sql`
    WITH passed AS (
      SELECT place_id, n, measured, speed_sum FROM traffic_rollups
      WHERE minutes = 1 AND slot >= ${moment(range.from)} AND slot < ${moment(range.until)}
      UNION ALL
      SELECT location_id, sign * vehicle, CASE WHEN speed IS NULL THEN 0 ELSE sign END, sign * coalesce(speed, 0)
      FROM (${passedIn(groupsWithin(range), sql`location_id IS NOT NULL AND ${passedWithin(range)}`)}) AS fresh
    ), live AS (
      SELECT place_id, sum(n) AS n, sum(measured) AS measured, sum(speed_sum) AS speed_sum FROM passed GROUP BY 1
    ), usual AS (
      SELECT place_id, sum(measured) AS measured, sum(speed_sum) AS speed_sum
      FROM (
        ${sql.join(days, sql` UNION ALL `)}
      ) AS days GROUP BY 1
    ), watched AS (
      SELECT DISTINCT location_id FROM sensors WHERE status = 'ONLINE' AND location_id IS NOT NULL
    )
    SELECT id, name, speed_limit, watched.location_id IS NOT NULL AS watched, coalesce(live.n, 0)::bigint AS n,
      coalesce(live.measured, 0)::bigint AS measured, coalesce(live.speed_sum, 0)::bigint AS speed_sum,
      coalesce(usual.measured, 0)::bigint AS usual_measured, coalesce(usual.speed_sum, 0)::bigint AS usual_sum
    FROM locations LEFT JOIN live ON live.place_id = id LEFT JOIN usual ON usual.place_id = id
      LEFT JOIN watched ON watched.location_id = id
    ORDER BY ${sortedName(sql`name`)}, id`);
  return rows;
}
