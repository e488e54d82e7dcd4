import { DAY_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { keysOfEvent, totalsKeys } from '../../events/counts/counting.ts';
import { addToPeriods, rollUpCounts } from '../../events/counts/roll-up.ts';
import { firstIdAt } from '../../events/id.ts';
import { locks } from '../../platform/database/locks.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { addQuarter, rollUpTraffic } from '../../traffic/roll-up-store.ts';
import { groupsWithin, keptSince, longerUntil, ORIGIN, passedIn } from '../../traffic/slots-store.ts';
import type { Check, Difference, Rebuild, Rebuilding } from './check.ts';

// Each of these is read by one statement, so that events stored meanwhile are either on both sides or on neither. On a
// cluster, a snapshot of all nodes is necessary as well (checks.ts).

const HOURS = sql`
  SELECT hour, ${totalsKeys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT event_hour(id), ${keysOfEvent}, count(*) FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS counted (hour, ${totalsKeys}, n) FULL JOIN (
    SELECT hour, ${totalsKeys}, sum(n)::bigint AS n FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS kept USING (hour, ${totalsKeys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const PERIODS = sql`
  SELECT period, start, ${totalsKeys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date AS start, ${totalsKeys}, sum(n)::bigint AS n
    FROM event_totals_folded CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ) AS counted FULL JOIN event_period_totals AS kept USING (period, start, ${totalsKeys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const ARRIVALS = sql`
  SELECT hour, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (SELECT date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS n FROM events GROUP BY 1) AS counted
  FULL JOIN (SELECT hour, sum(n)::bigint AS n FROM event_arrivals GROUP BY 1) AS kept USING (hour)
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

type Query = ReturnType<typeof sql>;

function finding(query: Query) {
  return async (db: Executor, limit: number): Promise<Difference[]> => {
    const { rows } = await db.execute(sql`${query} LIMIT ${limit}`);
    return rows;
  };
}

/** Keeps the roll-up of counts away. */
async function lockRollUp(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.rollUp})`);
}

const ROWS_AT_ONCE = 20_000;

async function rollUpAll({ db }: Rebuilding): Promise<void> {
  while ((await rollUpCounts(db, ROWS_AT_ONCE)) > 0);
}

/** Sums up the longer periods again, and counts what is missing like any other change. */
export const rebuildTotals: Rebuild = async (rebuilding) => {
  const rows = await rebuilding.change(async (tx) => {
    await lockRollUp(tx);
    await tx.execute(sql`DELETE FROM event_period_totals`);
    const periods = await tx.execute(addToPeriods(sql`event_totals_folded`));
    const hours = await tx.execute(sql`
      INSERT INTO event_totals (hour, ${totalsKeys}, n)
      SELECT hour, ${totalsKeys}, counted - kept FROM (${HOURS}) AS wrong`);
    return (periods.rowCount ?? 0) + (hours.rowCount ?? 0);
  });
  await rollUpAll(rebuilding);
  return rows;
};

export const rebuildArrivals: Rebuild = async (rebuilding) => {
  const rows = await rebuilding.change(async (tx) => {
    await lockRollUp(tx);
    const { rowCount } = await tx.execute(sql`
      INSERT INTO event_arrivals (hour, n) SELECT hour, counted - kept FROM (${ARRIVALS}) AS wrong`);
    return rowCount ?? 0;
  });
  await rollUpAll(rebuilding);
  return rows;
};

export const totalsChecks: readonly Check[] = [
  {
    name: 'totals by hour',
    compares: 'event_totals with a count of events for each hour, type and state',
    find: finding(HOURS),
    rebuild: 'totals',
  },
  {
    name: 'totals by day, month and year',
    compares: 'event_period_totals with the sums of the rolled-up hours',
    find: finding(PERIODS),
    rebuild: 'totals',
  },
  {
    name: 'arrivals',
    compares: 'event_arrivals with a count of events for each hour in which they were stored',
    find: finding(ARRIVALS),
    rebuild: 'arrivals',
  },
];

/** Stored events in the format of `traffic_unfolded`, so that the same expressions count both. */
const STORED = sql`(
  SELECT ARRAY[id] AS event_ids, ARRAY[event_type] AS event_types, ARRAY[sensor_id] AS sensor_ids,
    ARRAY[location_id] AS location_ids, ARRAY[vehicle_type] AS vehicle_types, ARRAY[vehicle_speed] AS speeds,
    1::smallint AS sign
  FROM events
)`;

// The correct rolled-up counts of 5 minutes: the stored events minus those that are not rolled up yet.
const DUE = sql`
  SELECT slot, sensor_id, location_id, vehicle_type, bin, sum(sign * vehicle) AS n, sum(sign) AS events,
    coalesce(sum(sign * speed), 0) AS speed_sum
  FROM (
    ${passedIn(STORED, sql`true`)}
    UNION ALL
    SELECT at, slot, sensor_id, location_id, vehicle_type, vehicle, speed, bin, (-sign)::smallint
    FROM (${passedIn(sql`traffic_unfolded`, sql`true`)}) AS waiting
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
    kept_events AS "keptEvents", removed.until IS NULL AS "isComplete"
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
 * The days (in UTC) that differ, and whether all of their events are still stored. Where retention removed some, the
 * counts of 5 minutes stay, from which those of the longer slots are derived.
 */
const WRONG_DAYS = sql`
  SELECT (extract(epoch FROM day) * 1000)::float8 AS day, NOT EXISTS (
    SELECT FROM (${REMOVED}) AS removed
    WHERE day < removed.until AND day >= removed.from_ AND day < removed.from_ + interval '1 month'
  ) AS "isComplete"
  FROM (
    SELECT DISTINCT date_trunc('day', slot, 'UTC') AS day FROM (
      SELECT slot FROM (${FIVE_MINUTES}) AS five_minutes WHERE "isComplete"
      UNION ALL SELECT slot FROM (${LONGER}) AS longer
    ) AS slots
  ) AS wrong ORDER BY 1`;

interface WrongDay extends Record<string, unknown> {
  /** Its beginning in Unix milliseconds. */
  readonly day: number;
  readonly isComplete: boolean;
}

const QUARTER_MS = 900_000;

/** Maximum number of events in one row that waits to be rolled up. */
const PASSED_AT_ONCE = 1_000;

/**
 * Counts the events of a day again, like new ones. Those that wait to be rolled up already are subtracted in the same
 * statement, so that events stored meanwhile are counted once.
 */
function passAgain(day: Interval): SQL {
  const within = sql`id >= ${firstIdAt(day.from)}::uuid AND id < ${firstIdAt(day.until)}::uuid`;
  return sql`
    INSERT INTO traffic_unfolded
      (event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds, sign, first_id, last_id)
    SELECT array_agg(id), array_agg(event_type), array_agg(sensor_id), array_agg(location_id), array_agg(vehicle_type),
      array_agg(speed), sign, min(id::text COLLATE "C")::uuid, max(id::text COLLATE "C")::uuid
    FROM (
      SELECT *, row_number() OVER (PARTITION BY sign ORDER BY id) / ${PASSED_AT_ONCE}::int AS part
      FROM (
        SELECT id, event_type, sensor_id, location_id, vehicle_type, vehicle_speed AS speed, 1::smallint AS sign
        FROM events WHERE ${within}
        UNION ALL
        SELECT id, event_type, sensor_id, location_id, vehicle_type, speed, (-sign)::smallint
        FROM ${groupsWithin(day)} AS waiting, unnest(event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds)
          AS one (id, event_type, sensor_id, location_id, vehicle_type, speed)
        WHERE ${within}
      ) AS passed
    ) AS parts GROUP BY sign, part`;
}

async function longerSlotsAgain(tx: Transaction, { from, until }: Interval): Promise<void> {
  const { rows } = await tx.execute<{ until: number }>(
    sql`SELECT (extract(epoch FROM ${longerUntil}) * 1000)::float8 AS until`,
  );
  const end = Math.min(until, rows[0]?.until ?? until);
  for (let start = from; start < end; start += QUARTER_MS) {
    const places = sql`
      SELECT DISTINCT place_id FROM traffic_rollups
      WHERE minutes = 5 AND slot >= ${moment(start)} AND slot < ${moment(start + QUARTER_MS)}`;
    await tx.execute(addQuarter(moment(start), places));
  }
}

async function rebuildDay(tx: Transaction, { day, isComplete }: WrongDay): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  const interval = { from: day, until: day + DAY_MS };
  const ofDay = sql`slot >= ${moment(interval.from)} AND slot < ${moment(interval.until)}`;
  // Rows stay: in which parts of an hour there was a liveness signal outlasts the event that gave it.
  const cleared = await tx.execute(sql`
    UPDATE traffic_rollups SET n = 0, events = 0, measured = 0, speed_sum = 0, bins = '{}', counts = '{}',
      types = '{}', type_counts = '{}'
    WHERE minutes IN (15, 60, 1440${isComplete ? sql`, 1, 5` : sql``}) AND ${ofDay}`);
  if (isComplete) await tx.execute(passAgain(interval));
  else await longerSlotsAgain(tx, interval);
  return cleared.rowCount ?? 0;
}

const GROUPS_AT_ONCE = 200;

/** Counts the days that differ again, each in a transaction of its own. */
export const rebuildTraffic: Rebuild = async ({ db, change }) => {
  const { rows: days } = await db.execute<WrongDay>(WRONG_DAYS);
  let rows = 0;
  for (const day of days) rows += await change((tx) => rebuildDay(tx, day));
  while ((await rollUpTraffic(db, GROUPS_AT_ONCE)) > 0);
  return rows;
};

export const trafficChecks: readonly Check[] = [
  {
    name: 'traffic by 5 minutes',
    compares: 'counts and speeds of sensors and locations with the events that are stored',
    find: find(FIVE_MINUTES),
    rebuild: 'traffic',
  },
  {
    name: 'traffic by longer slots',
    compares: 'counts of 15 minutes, hours and days with the sums of their 5 minutes',
    find: find(LONGER),
    rebuild: 'traffic',
  },
];
