import { type SQL, sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { ALIVE_BIT, longerUntil, ORIGIN, passedIn } from './slots-store.ts';

/** How long counts by minute are kept; the last five minutes are needed. */
const MINUTES_KEPT = sql.raw(`interval '15 minutes'`);

const QUARTER = sql.raw(`interval '15 minutes'`);

/**
 * The filter and the window of aggregates that collect the rows by type for the row of all vehicles. PostgreSQL planned
 * a join of the two badly.
 */
const OF_ALL_TYPES = sql.raw('FILTER (WHERE vehicle_type IS NOT NULL AND n <> 0) OVER all_types');

/**
 * Rolls up at most `limit` rows, unless another process is doing so. Readers see the counts either before or after the
 * roll-up.
 * @returns the number of rows that were rolled up
 */
export async function rollUpTraffic(db: Database, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows: locked } = await tx.execute<{ mine: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${locks.traffic}) AS mine, set_config('synchronous_commit', 'off', true)`,
    );
    if (!locked[0]?.mine) return 0;
    await tx.execute(sql`DELETE FROM traffic_rollups WHERE minutes = 1 AND slot < now() - ${MINUTES_KEPT}`);
    const rolledUp = await tx.execute<{ rows: number }>(ROLL_UP(limit));
    return rolledUp.rows[0]?.rows ?? 0;
  });
}

/** The number of events that are not rolled up yet. */
export async function countPending(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(
    sql`SELECT coalesce(sum(cardinality(event_ids)), 0)::bigint AS n FROM traffic_unfolded`,
  );
  return rows[0]?.n ?? 0;
}

/**
 * Adds the next quarter hour to the counts of 15 minutes, hours and days if it ended before a time (Unix milliseconds),
 * unless another process does so. Until then, readers use its slots of five minutes.
 * @returns whether there may be another one
 */
export function rollUpQuarter(db: Database, before: number): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.execute<{ mine: boolean; due: boolean; empty: boolean }>(sql`
      SELECT pg_try_advisory_xact_lock(${locks.traffic}) AS mine, longer_until + ${QUARTER} <= ${moment(before)} AS due,
        NOT EXISTS (SELECT FROM traffic_places WHERE last_slot >= longer_until) AS empty
      FROM traffic_kept`);
    const [next] = rows;
    if (!next?.mine || !next.due) return false;
    if (next.empty) {
      await tx.execute(sql`
        UPDATE traffic_kept SET longer_until = date_bin(${QUARTER}, ${moment(before)}, ${ORIGIN})`);
      return false;
    }
    const places = sql`
      SELECT sensor_id FROM traffic_places WHERE last_slot >= ${longerUntil}
      UNION SELECT location_id FROM traffic_places WHERE last_slot >= ${longerUntil}`;
    await tx.execute(addQuarter(longerUntil, places));
    await tx.execute(sql`UPDATE traffic_kept SET longer_until = longer_until + ${QUARTER}`);
    return true;
  });
}

/** Adds two lists of counts by key and omits zeros. `counts` and `keys` have the same order. */
function mergedCounts(keys: string, counts: string) {
  return sql.raw(`
        SELECT coalesce(array_agg(key ORDER BY key), '{}'), coalesce(array_agg(n ORDER BY key), '{}')
        FROM (
          SELECT key, sum(count)::int AS n
          FROM unnest(known.${keys} || excluded.${keys}, known.${counts} || excluded.${counts}) AS both_of (key, count)
          GROUP BY 1 HAVING sum(count) <> 0
        ) AS merged`);
}

/** Adds rows to `traffic_rollups`: minutes, place_id, slot, vehicle_type, n, events, measured, speed_sum, bins, counts, alive. */
function addRollups(rows: SQL) {
  return sql`
    INSERT INTO traffic_rollups AS known
      (minutes, place_id, slot, vehicle_type, n, events, measured, speed_sum, bins, counts, alive, types, type_counts)
    SELECT added.*,
      coalesce(CASE WHEN vehicle_type IS NULL THEN array_agg(vehicle_type) ${OF_ALL_TYPES} END, '{}'),
      coalesce(CASE WHEN vehicle_type IS NULL THEN array_agg(n::int) ${OF_ALL_TYPES} END, '{}')
    FROM ${rows} AS added
    WINDOW all_types AS (PARTITION BY minutes, place_id, slot ORDER BY vehicle_type
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (minutes, place_id, slot, vehicle_type) DO UPDATE SET
      n = known.n + excluded.n, events = known.events + excluded.events, measured = known.measured + excluded.measured,
      speed_sum = known.speed_sum + excluded.speed_sum, alive = known.alive | excluded.alive,
      (bins, counts) = (${mergedCounts('bins', 'counts')}
      ),
      (types, type_counts) = (${mergedCounts('types', 'type_counts')}
      )`;
}

/** Histograms of the rows of one slot and type, as the columns bins and counts. */
const HISTOGRAM = sql.raw(`
      coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE bin IS NOT NULL AND n <> 0), '{}') AS bins,
      coalesce(array_agg(n::int ORDER BY bin) FILTER (WHERE bin IS NOT NULL AND n <> 0), '{}') AS counts`);

// Each event counts for its sensor and its location, for its own type and for all types, in slots of five minutes; those
// of quarter hours that are over, in all four lengths. Equal rows are added up first, as int and double (exact for
// integers up to 2^53), because the sum of a bigint is a numeric: 19,500 events of 20 sensors take 0.25 s, and 0.34 s as
// numeric. Plan: the pending rows by position, then the unique index of traffic_rollups.
function ROLL_UP(limit: number) {
  return sql`
  WITH taken AS (
    DELETE FROM traffic_unfolded
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM traffic_unfolded LIMIT ${limit}))
    RETURNING *
  ), passed AS MATERIALIZED (
    ${passedIn(sql`taken`, sql`true`)}
  ), alike AS (
    SELECT slot, sensor_id, location_id, vehicle_type, bin, sum(sign * vehicle)::int AS n, sum(sign)::int AS events,
      coalesce(sum((sign * speed)::float8), 0) AS speed_sum,
      bool_or(sign > 0) AS seen
    FROM passed GROUP BY 1, 2, 3, 4, 5
  ), fine AS (
    SELECT place_id, slot, CASE WHEN own THEN vehicle_type END AS vehicle_type, bin, sum(n)::int AS n, sum(events)::int AS events,
      sum(speed_sum) AS speed_sum, bool_or(seen) AS seen
    FROM alike CROSS JOIN (VALUES (true), (false)) AS kind (own)
      CROSS JOIN LATERAL (VALUES (sensor_id), (location_id)) AS place (place_id)
    WHERE place_id IS NOT NULL GROUP BY 1, 2, 3, 4
  ), spread AS (
    SELECT 5 AS minutes, place_id, slot, vehicle_type, bin, n, events, speed_sum, 0 AS alive FROM fine
    UNION ALL
    SELECT minutes, place_id, date_bin(make_interval(mins => minutes), slot, ${ORIGIN}), vehicle_type, bin,
      sum(n)::int, sum(events)::int, sum(speed_sum), bit_or(CASE WHEN seen AND minutes = 60 THEN ${ALIVE_BIT} ELSE 0 END)
    FROM fine CROSS JOIN (VALUES (15), (60), (1440)) AS level (minutes)
    WHERE slot < ${longerUntil} GROUP BY 1, 2, 3, 4, 5
  ), summed AS (
    SELECT minutes, place_id, slot, vehicle_type, sum(n) AS n, sum(events) AS events,
      coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0) AS measured, sum(speed_sum)::bigint AS speed_sum,
      ${HISTOGRAM}, bit_or(alive)::smallint AS alive
    FROM spread GROUP BY 1, 2, 3, 4
    -- A car that is added and a lorry that is subtracted sum to zero, but change the counts of both types.
    HAVING vehicle_type IS NULL OR bool_or((n, events, speed_sum) <> (0, 0, 0))
  ), rolled AS (
    ${addRollups(sql`summed`)}
  ), recent AS (
    INSERT INTO traffic_rollups AS known (minutes, place_id, slot, n, measured, speed_sum)
    SELECT 1, location_id, date_trunc('minute', at), sum(sign * vehicle), coalesce(sum(sign) FILTER (WHERE speed IS NOT NULL), 0),
      coalesce(sum(sign * speed), 0)
    FROM passed WHERE location_id IS NOT NULL AND at > now() - ${MINUTES_KEPT} GROUP BY 2, 3 ORDER BY 2, 3
    ON CONFLICT (minutes, place_id, slot, vehicle_type) DO UPDATE SET
      n = known.n + excluded.n, measured = known.measured + excluded.measured,
      speed_sum = known.speed_sum + excluded.speed_sum
  ), placed AS (
    INSERT INTO traffic_places AS known
    SELECT coalesce(location_id, sensor_id), sensor_id, min(slot), max(slot) FROM alike
    WHERE seen AND sensor_id IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (location_id, sensor_id) DO UPDATE SET
      first_slot = least(known.first_slot, excluded.first_slot), last_slot = greatest(known.last_slot, excluded.last_slot)
    WHERE excluded.first_slot < known.first_slot OR excluded.last_slot > known.last_slot
  )
  SELECT count(*) AS rows FROM taken`;
}

// The sums of a quarter hour are the same for all longer slots that contain it. Each place is summed by itself, in little
// memory. Plan: the unique index of traffic_rollups for each place with events since then.
/**
 * Adds a quarter hour to the counts of 15 minutes, hours and days, from its slots of five minutes.
 * @param start of the quarter hour, an expression
 * @param places a query of the ids of the places with events since then
 */
export function addQuarter(start: SQL, places: SQL): SQL {
  return sql`
  WITH summed AS MATERIALIZED (
    SELECT place.id AS place_id, ${start} AS slot, quarter.*
    FROM (${places}) AS place (id) CROSS JOIN LATERAL (
      WITH fine AS MATERIALIZED (
        SELECT * FROM traffic_rollups
        WHERE minutes = 5 AND place_id = place.id AND slot >= ${start} AND slot < ${start} + ${QUARTER}
      )
      SELECT vehicle_type, sum(n)::bigint AS n, sum(events)::bigint AS events,
        coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum,
        ${HISTOGRAM}, bit_or(alive)::smallint AS alive
      FROM (
        SELECT vehicle_type, bin, sum(n) AS n, sum(events) AS events, sum(speed_sum) AS speed_sum, bit_or(alive) AS alive
        FROM (
          SELECT vehicle_type, bin, count AS n, 0 AS events, 0 AS speed_sum, 0 AS alive
          FROM fine, unnest(bins, counts) AS one (bin, count)
          UNION ALL
          SELECT vehicle_type, NULL, n - measured, events, speed_sum, ${ALIVE_BIT} FROM fine
        ) AS parts GROUP BY 1, 2
      ) AS alike GROUP BY 1
    ) AS quarter
  )
  ${addRollups(sql`(
    SELECT minutes, place_id, date_bin(make_interval(mins => minutes), slot, ${ORIGIN}) AS slot, vehicle_type,
      n, events, measured, speed_sum, bins, counts, CASE WHEN minutes = 60 THEN alive ELSE 0::smallint END AS alive
    FROM summed CROSS JOIN (VALUES (15), (60), (1440)) AS level (minutes)
  )`)}`;
}
