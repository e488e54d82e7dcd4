import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import { idWithin } from '../events/totals.ts';
import type { Interval } from '../time.ts';
import { passedIn } from './passages-store.ts';
import type { Segment } from './segments.ts';

/** A sensor or a location. */
export interface Place {
  readonly kind: 'sensor' | 'location';
  readonly id: string;
}

/** What passed a place in a slot: all vehicles (`vehicleType` undefined) or those of a type (null for none). */
export interface Rollup {
  /** Unix milliseconds. */
  readonly slot: number;
  readonly vehicleType: string | null | undefined;
  readonly volume: number;
  readonly measured: number;
  readonly speedSum: number;
  readonly bins: readonly number[];
  readonly counts: readonly number[];
}

interface RollupRow extends Record<string, unknown> {
  slot: number;
  vehicle_type: string | null;
  n: number;
  measured: number;
  speed_sum: number;
  bins: string | null;
  counts: string | null;
}

/** `{1,2}` as PostgreSQL writes it; read here because the driver takes far longer for the same. */
const numbersOf = (array: string | null): number[] =>
  array === null || array.length <= 2 ? [] : array.slice(1, -1).split(',').map(Number);

export const moment = (time: number): SQL => sql`${new Date(time).toISOString()}::timestamptz`;

/** The condition that rows of `traffic_rollups` in these segments meet, for what comes before the slot in their index. */
export const inSegments = (segments: readonly Segment[], rest: SQL): SQL[] =>
  segments.map(
    ({ minutes, from, until }) =>
      sql`minutes = ${sql.raw(String(minutes))} AND ${rest} AND slot >= ${moment(from)} AND slot < ${moment(until)}`,
  );

/** The condition that a vehicle in `traffic_unfolded` passed within the range. */
export const passedWithin = ({ from, until }: Interval): SQL =>
  sql.join([sql`true`, ...idWithin({ from, until }).map((condition) => sql`${condition}`)], sql` AND `);

/**
 * What passed a place, slot by slot, in no order; what belongs together may come in several.
 * @param type only vehicles of this type, without regard to case; the speeds are of these, or else of all
 */
export const readRollups = async (
  db: Executor,
  { kind, id }: Place,
  segments: readonly Segment[],
  type?: string,
): Promise<Rollup[]> => {
  const range = {
    from: Math.min(...segments.map(({ from }) => from)),
    until: Math.max(...segments.map(({ until }) => until)),
  };
  const ofPlace = sql`place_id = ${id}::uuid`;
  const chosen = type === undefined ? sql`true` : sql`lower(vehicle_type) = lower(${type})`;
  const hasSpeeds = type === undefined ? sql`vehicle_type IS NULL` : sql`true`;
  const folded = inSegments(segments, ofPlace).map(
    (condition) => sql`
      SELECT slot, vehicle_type, n, measured, speed_sum, CASE WHEN ${hasSpeeds} THEN bins::text END AS bins,
        CASE WHEN ${hasSpeeds} THEN counts::text END AS counts
      FROM traffic_rollups WHERE ${condition} AND ${chosen}`,
  );
  const here = kind === 'sensor' ? sql`sensor_id = ${id}::uuid` : sql`location_id = ${id}::uuid`;
  const own = type === undefined ? sql`(VALUES (true), (false))` : sql`(VALUES (true))`;
  // Plan: the unique index of traffic_rollups for each length of slot, and what is not folded whole.
  const { rows } = await db.execute<RollupRow>(sql`
    WITH fresh AS (
      SELECT slot, CASE WHEN own THEN vehicle_type END AS vehicle_type, bin, sum(sign * vehicle) AS n,
        coalesce(sum(sign * speed), 0) AS speed_sum
      FROM (${passedIn(sql`traffic_unfolded`, sql`${here} AND ${passedWithin(range)}`)}) AS fresh
        CROSS JOIN ${own} AS kind (own)
      WHERE ${chosen} GROUP BY 1, 2, 3
    )
    SELECT (extract(epoch FROM slot) * 1000)::bigint AS slot, vehicle_type, n, measured, speed_sum, bins, counts
    FROM (
      ${sql.join(folded, sql` UNION ALL `)}
      UNION ALL
      SELECT slot, vehicle_type, n, CASE WHEN bin IS NULL THEN 0 ELSE n END, speed_sum,
        CASE WHEN bin IS NOT NULL THEN '{' || bin || '}' END, CASE WHEN bin IS NOT NULL THEN '{' || n || '}' END
      FROM fresh
    ) AS passed`);
  return rows.map((row) => ({
    slot: row.slot,
    vehicleType: row.vehicle_type === null ? undefined : row.vehicle_type || null,
    volume: Number(row.n),
    measured: Number(row.measured),
    speedSum: Number(row.speed_sum),
    bins: numbersOf(row.bins),
    counts: numbersOf(row.counts),
  }));
};
