import { type SQL, sql } from 'drizzle-orm';
import { locks } from '../../platform/database/locks.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import { keptSince, longerUntil } from '../../traffic/kept-store.ts';
import { ALIVE_BIT, ORIGIN, passedIn } from '../../traffic/rollups-store.ts';
import type { Check, Difference } from './check.ts';

/** Stored events in the format of `traffic_unfolded`, so that the same expressions count both. */
const STORED = sql`(
  SELECT ARRAY[id] AS event_ids, ARRAY[event_type] AS event_types, ARRAY[sensor_id] AS sensor_ids,
    ARRAY[location_id] AS location_ids, ARRAY[vehicle_type] AS vehicle_types, ARRAY[vehicle_speed] AS speeds,
    1::smallint AS sign
  FROM events
)`;

// The correct folded counts of 5 minutes: the stored events minus those that are not folded yet.
const DUE = sql`
  SELECT slot, sensor_id, location_id, vehicle_type, bin, sum(sign * vehicle) AS n, sum(sign) AS events,
    coalesce(sum(sign * speed), 0) AS speed_sum
  FROM (
    ${passedIn(STORED, sql`true`)}
    UNION ALL
    SELECT at, slot, sensor_id, location_id, vehicle_type, vehicle, speed, bin, (-sign)::smallint
    FROM (${passedIn(sql`traffic_unfolded`, sql`true`)}) AS unfolded
  ) AS passed WHERE at >= ${keptSince} GROUP BY 1, 2, 3, 4, 5`;

/** The same for each sensor and location, by vehicle type and for all types (null) together. */
const DUE_OF_PLACES = sql`
  SELECT place_id, slot, CASE WHEN own THEN vehicle_type END AS vehicle_type, bin, sum(n)::bigint AS n,
    sum(events)::bigint AS events, sum(speed_sum)::bigint AS speed_sum
  FROM (${DUE}) AS due CROSS JOIN (VALUES (true), (false)) AS kind (own)
    CROSS JOIN LATERAL (VALUES (sensor_id), (location_id)) AS place (place_id)
  WHERE place_id IS NOT NULL GROUP BY 1, 2, 3, 4`;

// If retention removed events of a month up to some time, counts may exceed the stored events, but not the reverse.
const REMOVED = sql`
  SELECT month::timestamp AT TIME ZONE 'UTC' AS from_, max(until) AS until FROM retention_removals
  WHERE class = 'events' AND rows > 0 GROUP BY 1`;

const FIVE_MINUTES = sql`
  WITH due AS (
    SELECT place_id, slot, vehicle_type, sum(n)::bigint AS n, sum(events)::bigint AS events,
      coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum,
      coalesce(jsonb_object_agg(bin, n) FILTER (WHERE bin IS NOT NULL AND n <> 0), '{}') AS bins
    FROM (${DUE_OF_PLACES}) AS fine GROUP BY 1, 2, 3
  ), kept AS (
    SELECT place_id, slot, vehicle_type, n, events, measured, speed_sum,
      coalesce((SELECT jsonb_object_agg(bin, n) FROM unnest(bins, counts) AS one (bin, n)), '{}') AS bins
    FROM traffic_rollups WHERE minutes = 5 AND slot >= ${keptSince}
  ), compared AS (
    SELECT coalesce(due.place_id, kept.place_id) AS place_id, coalesce(due.slot, kept.slot) AS slot,
      coalesce(due.vehicle_type, kept.vehicle_type) AS vehicle_type,
      coalesce(due.n, 0) AS due_n, coalesce(kept.n, 0) AS kept_n,
      coalesce(due.events, 0) AS due_events, coalesce(kept.events, 0) AS kept_events,
      (coalesce(due.n, 0), coalesce(due.events, 0), coalesce(due.measured, 0), coalesce(due.speed_sum, 0),
        coalesce(due.bins, '{}'))
        = (coalesce(kept.n, 0), coalesce(kept.events, 0), coalesce(kept.measured, 0), coalesce(kept.speed_sum, 0),
        coalesce(kept.bins, '{}')) AS are_equal
    FROM due FULL JOIN kept ON kept.place_id = due.place_id AND kept.slot = due.slot
      -- An outer join has to be one of equality: no type is as long as this.
      AND coalesce(kept.vehicle_type, repeat('*', 200)) = coalesce(due.vehicle_type, repeat('*', 200))
  )
  SELECT place_id, slot, vehicle_type, due_n AS counted, kept_n AS kept, due_events AS "countedEvents",
    kept_events AS "keptEvents", removed.until IS NULL AS repairable
  FROM compared LEFT JOIN (${REMOVED}) AS removed
    ON slot >= removed.from_ AND slot < removed.until AND slot < removed.from_ + interval '1 month'
  WHERE NOT are_equal AND (removed.until IS NULL OR kept_n < due_n OR kept_events < due_events)`;

const LONGER = sql`
  SELECT minutes, place_id, slot, vehicle_type, coalesce(due.n, 0) AS counted, coalesce(kept.n, 0) AS kept,
    coalesce(due.events, 0) AS "countedEvents", coalesce(kept.events, 0) AS "keptEvents"
  FROM (
    SELECT longer.minutes, place_id, date_bin(make_interval(mins => longer.minutes), slot, ${ORIGIN}) AS slot,
      coalesce(vehicle_type, repeat('*', 200)) AS vehicle_type, sum(n)::bigint AS n, sum(events)::bigint AS events,
      sum(measured)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum
    FROM traffic_rollups CROSS JOIN (VALUES (15), (60), (1440)) AS longer (minutes)
    WHERE traffic_rollups.minutes = 5 AND slot >= ${keptSince} AND slot < ${longerUntil} GROUP BY 1, 2, 3, 4
  ) AS due FULL JOIN (
    SELECT minutes::int, place_id, slot, coalesce(vehicle_type, repeat('*', 200)) AS vehicle_type, n, events, measured, speed_sum
    FROM traffic_rollups WHERE minutes IN (15, 60, 1440) AND slot >= ${keptSince}
  ) AS kept USING (minutes, place_id, slot, vehicle_type)
  WHERE (coalesce(due.n, 0), coalesce(due.events, 0), coalesce(due.measured, 0), coalesce(due.speed_sum, 0))
    <> (coalesce(kept.n, 0), coalesce(kept.events, 0), coalesce(kept.measured, 0), coalesce(kept.speed_sum, 0))`;

function find(query: SQL) {
  return async (db: Executor, limit: number): Promise<Difference[]> =>
    (await db.execute(sql`${query} LIMIT ${limit}`)).rows;
}

/**
 * The days of places (in UTC) that differ, and whether the stored events are authoritative. They are not on days of which
 * retention removed events: such a day keeps its counts of 5 minutes, from which those of the longer slots are derived.
 */
const WRONG_DAYS = sql`
  SELECT place_id, day, NOT EXISTS (
    SELECT FROM (${REMOVED}) AS removed
    WHERE day < removed.until AND day >= removed.from_ AND day < removed.from_ + interval '1 month'
  ) AS authoritative
  FROM (
    SELECT DISTINCT place_id, date_trunc('day', slot, 'UTC') AS day FROM (
      SELECT place_id, slot FROM (${FIVE_MINUTES}) AS five_minutes WHERE repairable
      UNION ALL SELECT place_id, slot FROM (${LONGER}) AS longer
    ) AS slots
  ) AS wrong`;

function onWrongDay(place: SQL): SQL {
  return sql`wrong_days.place_id = ${place} AND slot >= day AND slot < day + interval '24 hours'`;
}

const RECOUNT = sql`
  WITH kept AS (
    SELECT rollups.* FROM traffic_rollups AS rollups JOIN wrong_days ON ${onWrongDay(sql`rollups.place_id`)}
    WHERE minutes = 5 AND NOT authoritative
  ), fine AS (
    SELECT due.place_id, slot, vehicle_type, bin, n, events, speed_sum
    FROM (${DUE_OF_PLACES}) AS due JOIN wrong_days ON ${onWrongDay(sql`due.place_id`)} WHERE authoritative
    UNION ALL
    SELECT place_id, slot, vehicle_type, bin, counted, 0, 0 FROM kept, unnest(bins, counts) AS one (bin, counted)
    UNION ALL
    SELECT place_id, slot, vehicle_type, NULL, n - measured, events, speed_sum FROM kept
  ), spread AS (
    SELECT minutes, place_id, date_bin(make_interval(mins => minutes), slot, ${ORIGIN}) AS slot, vehicle_type, bin,
      sum(n)::bigint AS n, sum(events)::bigint AS events, sum(speed_sum)::bigint AS speed_sum,
      bit_or(CASE WHEN minutes = 60 AND events <> 0 THEN ${ALIVE_BIT} ELSE 0 END) AS alive
    FROM fine CROSS JOIN (VALUES (5), (15), (60), (1440)) AS level (minutes)
    WHERE minutes = 5 OR slot < ${longerUntil} GROUP BY 1, 2, 3, 4, 5
  ), summed AS (
    SELECT minutes, place_id, slot, vehicle_type, sum(n)::bigint AS n, sum(events)::bigint AS events,
      coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum,
      coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE bin IS NOT NULL AND n <> 0), '{}') AS bins,
      coalesce(array_agg(n::int ORDER BY bin) FILTER (WHERE bin IS NOT NULL AND n <> 0), '{}') AS counts,
      bit_or(alive)::smallint AS alive
    FROM spread GROUP BY 1, 2, 3, 4
  )
  INSERT INTO traffic_rollups AS known
    (minutes, place_id, slot, vehicle_type, n, events, measured, speed_sum, bins, counts, alive, types, type_counts)
  SELECT summed.*,
    coalesce(CASE WHEN vehicle_type IS NULL THEN array_agg(vehicle_type) FILTER (WHERE vehicle_type IS NOT NULL AND n <> 0) OVER all_types END, '{}'),
    coalesce(CASE WHEN vehicle_type IS NULL THEN array_agg(n::int) FILTER (WHERE vehicle_type IS NOT NULL AND n <> 0) OVER all_types END, '{}')
  FROM summed
  WINDOW all_types AS (PARTITION BY minutes, place_id, slot ORDER BY vehicle_type
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
  ON CONFLICT (minutes, place_id, slot, vehicle_type) DO UPDATE SET n = excluded.n, events = excluded.events,
    measured = excluded.measured, speed_sum = excluded.speed_sum, bins = excluded.bins, counts = excluded.counts,
    -- In which parts of an hour there was a sign of life outlasts the event that gave it.
    alive = known.alive | excluded.alive, types = excluded.types, type_counts = excluded.type_counts`;

/**
 * Clears the counts of the differing days before they are counted again, except the counts of 5 minutes where the events
 * are not authoritative. Rows without any stored events remain as signs of life.
 */
const CLEAR = sql`
  UPDATE traffic_rollups AS rollups SET n = 0, events = 0, measured = 0, speed_sum = 0, bins = '{}', counts = '{}',
    types = '{}', type_counts = '{}'
  FROM wrong_days
  WHERE ${onWrongDay(sql`rollups.place_id`)} AND minutes IN (15, 60, 1440, 5) AND (minutes > 5 OR authoritative)`;

async function repair(tx: Transaction): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  await tx.execute(sql`CREATE TEMPORARY TABLE wrong_days ON COMMIT DROP AS ${WRONG_DAYS}`);
  const cleared = await tx.execute(CLEAR);
  const counted = await tx.execute(RECOUNT);
  return Math.max(cleared.rowCount ?? 0, counted.rowCount ?? 0);
}

export const trafficChecks: readonly Check[] = [
  {
    name: 'traffic by 5 minutes',
    compares: 'counts and speeds of sensors and locations with the events that are stored',
    find: find(FIVE_MINUTES),
    repair,
  },
  {
    name: 'traffic by longer slots',
    compares: 'counts of 15 minutes, hours and days with the sums of their 5 minutes',
    find: find(LONGER),
    repair,
  },
];
