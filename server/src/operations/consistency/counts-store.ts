import { DAY_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { keysOfEvent, totalsKeys, UNFOLDED, violationCondition } from '../../events/counts/counting.ts';
import { addToHours, addToPeriods, rollUpCounts } from '../../events/counts/roll-up.ts';
import { locks } from '../../platform/database/locks.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { keptSince, netVehicles, ORIGIN, passedIn, source } from '../../traffic/passed-store.ts';
import { sumsOf } from '../../traffic/periods.ts';
import { addPeriodSums, isInSlot, LEVELS, readPeriods } from '../../traffic/periods-store.ts';
import { isRemovedOf, REMOVED, recountDay } from '../../traffic/recount-store.ts';
import { addQuarter, briefOf, countedShare } from '../../traffic/roll-up-store.ts';
import { isOfMotor, longerUntil, measure, NO_SENSOR } from '../../traffic/slots-store.ts';
import { noteYearChange, removeAllYears } from '../../traffic/years-store.ts';
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

const TOGETHER = sql`
  SELECT hour, coalesce(due.n, 0) AS counted, coalesce(due.violations, 0) AS "countedViolations", coalesce(kept.n, 0) AS kept,
    coalesce(kept.violations, 0) AS violations
  FROM (
    SELECT hour, sum(n)::bigint AS n, coalesce(sum(n) FILTER (WHERE ${violationCondition}), 0)::bigint AS violations
    FROM event_totals_folded GROUP BY 1
  ) AS due FULL JOIN event_hour_totals AS kept USING (hour)
  WHERE (coalesce(due.n, 0), coalesce(due.violations, 0)) <> (coalesce(kept.n, 0), coalesce(kept.violations, 0))`;

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
    await tx.execute(sql`DELETE FROM event_hour_totals`);
    await tx.execute(addToHours(sql`event_totals_folded`));
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
    name: 'totals of all events by hour',
    compares: 'event_hour_totals with the sums of the rolled-up hours',
    find: finding(TOGETHER),
    rebuild: 'totals',
  },
  {
    name: 'arrivals',
    compares: 'event_arrivals with a count of events for each hour in which they were stored',
    find: finding(ARRIVALS),
    rebuild: 'arrivals',
  },
];

const ARRAYS = sql.raw(UNFOLDED.map(({ as }) => as).join(', '));

/** Stored events without those that are not rolled up yet, in the format of `traffic_unfolded`. */
const STORED = sql`(
  SELECT ${sql.raw(UNFOLDED.map(({ of, as }) => `ARRAY[${of}] AS ${as}`).join(', '))}, 1::smallint AS sign FROM events
  UNION ALL SELECT ${ARRAYS}, (-sign)::smallint FROM traffic_unfolded
)`;

/** The key of a packed sum. What was converted from earlier counts is not compared, and neither is what is not yet. */
const SUM_KEY = sql.raw('sensor_id, location_id, source, slot, vehicle_type, measure');
const isCompared = sql`slot >= ${keptSince} AND slot >= coalesce((SELECT unconverted_until FROM traffic_kept), '-infinity')`;

/** The measures under which the columns of a row are compared: all events, and the sums of motor vehicles. */
const [EVENTS, VEHICLES, MEASURED, SPEEDS] = ['-9', '-8', '-7', '-6'].map((each) => sql.raw(each)) as [
  SQL,
  SQL,
  SQL,
  SQL,
];

const TOTALS = sql`(VALUES (${EVENTS}, events), (${VEHICLES}, vehicles), (${MEASURED}, measured), (${SPEEDS}, speed_sum)) AS one (measure, value)`;

// The correct rolled-up sums of 5 minutes.
const DUE = sql`
  SELECT coalesce(sensor_id, ${NO_SENSOR}) AS sensor_id, coalesce(location_id, ${NO_SENSOR}) AS location_id, source, slot,
    vehicle_type, one.measure, sum(one.value)::bigint AS value
  FROM (
    ${passedIn(STORED, sql`true`, netVehicles(STORED))}
  ) AS passed CROSS JOIN LATERAL (SELECT ${isOfMotor}::int AS motor) AS kind
  CROSS JOIN LATERAL (VALUES
    (coalesce(bin, -1)::int, (sign * vehicle)::bigint), (-2, sign * speed), (-3, sign * square), (${EVENTS}, sign * event),
    (${VEHICLES}, motor * sign * vehicle), (${MEASURED}, CASE WHEN bin IS NULL THEN 0 ELSE motor * sign END),
    (${SPEEDS}, motor * sign * speed)
  ) AS one (measure, value)
  WHERE ${isCompared} GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(one.value) <> 0`;

function keptSums(minutes: SQL): SQL {
  return sql`
    SELECT minutes, sensor_id, coalesce(location_id, ${NO_SENSOR}) AS location_id, source, slot,
      coalesce(vehicle_type, '') AS vehicle_type, one.measure::int, sum(one.value)::bigint AS value
    FROM traffic_bins
      CROSS JOIN LATERAL unnest(cells, measures, sums) AS one (cell, measure, value)
      LEFT JOIN traffic_cells ON id = cell
    WHERE minutes IN ${minutes} AND source BETWEEN 1 AND 3 AND ${isCompared} GROUP BY 1, 2, 3, 4, 5, 6, 7`;
}

const FIVE_MINUTES = sql`
  WITH due AS (
    SELECT sensor_id, location_id, source, slot, CASE WHEN measure <= ${SPEEDS} THEN '' ELSE vehicle_type END AS vehicle_type,
      measure, sum(value)::bigint AS value
    FROM (${DUE}) AS due GROUP BY 1, 2, 3, 4, 5, 6
  ), kept AS (
    SELECT ${SUM_KEY}, value FROM (${keptSums(sql`(5)`)}) AS sums
    UNION ALL
    SELECT sensor_id, coalesce(location_id, ${NO_SENSOR}), source, slot, '', one.measure, one.value
    FROM traffic_bins CROSS JOIN LATERAL ${TOTALS} WHERE minutes = 5 AND source BETWEEN 1 AND 3 AND one.value <> 0 AND ${isCompared}
  )
  SELECT ${SUM_KEY}, coalesce(due.value, 0) AS counted, coalesce(kept.value, 0) AS kept, removed.until IS NULL AS "isComplete"
  FROM due FULL JOIN kept USING (${SUM_KEY}) LEFT JOIN (${REMOVED}) AS removed
    ON slot >= removed.from_ AND slot < removed.until AND slot < removed.from_ + interval '1 month'
  WHERE coalesce(due.value, 0) <> coalesce(kept.value, 0) AND (removed.until IS NULL OR (
    coalesce(kept.value, 0) < coalesce(due.value, 0) AND NOT EXISTS (
      SELECT FROM traffic_bins AS earlier
      WHERE earlier.minutes = 1440 AND earlier.sensor_id = coalesce(due.sensor_id, kept.sensor_id) AND earlier.source = 0
        AND earlier.slot = date_trunc('day', coalesce(due.slot, kept.slot), 'UTC')
    )))`;

const LONGER = sql`
  WITH kept AS MATERIALIZED (
    ${keptSums(sql`(5, 15, 60, 1440)`)}
    UNION ALL
    SELECT minutes, sensor_id, coalesce(location_id, ${NO_SENSOR}), source, slot, '', one.measure, one.value
    FROM traffic_bins CROSS JOIN LATERAL ${TOTALS} WHERE minutes > 1 AND source BETWEEN 1 AND 3 AND one.value <> 0 AND ${isCompared}
  )
  SELECT minutes, ${SUM_KEY}, coalesce(due.value, 0) AS counted, coalesce(kept.value, 0) AS kept
  FROM (
    SELECT longer.minutes, sensor_id, location_id, source, date_bin(make_interval(mins => longer.minutes), slot, ${ORIGIN}) AS slot,
      vehicle_type, measure, sum(value)::bigint AS value
    FROM kept CROSS JOIN (VALUES (15), (60), (1440)) AS longer (minutes)
    WHERE kept.minutes = 5 AND slot < ${longerUntil} GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(value) <> 0
  ) AS due FULL JOIN (
    SELECT minutes::int, ${SUM_KEY}, value FROM kept WHERE minutes > 5
  ) AS kept USING (minutes, ${SUM_KEY})
  WHERE coalesce(due.value, 0) <> coalesce(kept.value, 0)`;

/** The motor vehicles of a period, as `sumsOf` finds them. */
const VEHICLES_OF_PERIOD = sql`CASE
  WHEN content -> 'volume' = 'null' OR content ->> 'status' = 'FAULT' OR content -> 'samples' = '0' THEN 0
  WHEN content ? 'byClass' THEN (
    SELECT sum(n::bigint) FILTER (WHERE ${isOfMotor}) FROM (
      SELECT coalesce(content #>> '{byClass,scheme}', 'BASIC') || ':' || code AS vehicle_class, '' AS vehicle_type, n
      FROM jsonb_each_text(content #> '{byClass,counts}') AS one (code, n)
    ) AS classes)
  ELSE (content -> 'volume')::bigint END`;

/** Counts of intervals: their motor vehicles, and the time of the periods in milliseconds. */
const INTERVALS = sql`
  WITH due AS (
    SELECT minutes, sensor_id, location_id, slot, coalesce(sum(vehicles), 0)::bigint AS vehicles, sum(seconds)::bigint * 1000 AS expected
    FROM (
      SELECT minutes, sensor_id, coalesce(location_id, ${NO_SENSOR}) AS location_id, seconds, ${VEHICLES_OF_PERIOD} AS vehicles,
        date_bin(make_interval(mins => minutes), start, ${ORIGIN}) AS slot
      FROM (SELECT *, start + make_interval(secs => seconds) AS until FROM traffic_periods) AS periods CROSS JOIN ${LEVELS}
      WHERE ${isInSlot}
    ) AS spread WHERE slot >= ${keptSince} GROUP BY 1, 2, 3, 4
  ), kept AS (
    SELECT minutes::int, sensor_id, coalesce(location_id, ${NO_SENSOR}) AS location_id, slot, vehicles, (
      SELECT coalesce(sum(value), 0)::bigint FROM unnest(measures, sums) AS one (measure, value) WHERE measure = ${measure.EXPECTED}
    ) AS expected
    FROM traffic_bins WHERE source = ${source.COUNTED} AND slot >= ${keptSince}
  )
  SELECT minutes, sensor_id, location_id, slot, coalesce(due.vehicles, 0) AS counted, coalesce(kept.vehicles, 0) AS kept,
    coalesce(due.expected, 0) AS "countedMs", coalesce(kept.expected, 0) AS "keptMs"
  FROM due FULL JOIN kept USING (minutes, sensor_id, location_id, slot)
  WHERE (coalesce(due.vehicles, 0), coalesce(due.expected, 0)) <> (coalesce(kept.vehicles, 0), coalesce(kept.expected, 0))`;

const SUMS_OF_ROW = sql`(${briefOf(sql`unnest(cells, measures, sums)`, sql`true`)}) AS due (due_cells, due_measures, due_sums)`;
const IS_WRONG = sql.raw(
  ['cells', 'measures', 'sums'].map((name) => `brief_${name} <> coalesce(due_${name}, '{}')`).join(' OR '),
);
const DUE_SHARE = countedShare('traffic_bins', sql`unnest(cells, measures, sums)`);

const WRONG_BRIEFS = sql`
  SELECT minutes, sensor_id, location_id, source, slot, brief_measures, brief_sums FROM traffic_bins CROSS JOIN LATERAL ${SUMS_OF_ROW}
  WHERE minutes > 5 AND (${IS_WRONG})`;

const WRONG_SHARES = sql`
  SELECT minutes, sensor_id, location_id, source, slot, counted_share, ${DUE_SHARE} AS due FROM traffic_bins
  WHERE counted_share <> coalesce(${DUE_SHARE}, -1)`;

/** Makes the sums without speeds of longer slots again, also of rows from before they were kept. */
async function briefSumsAgain(tx: Transaction): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    UPDATE traffic_bins AS kept SET brief_cells = coalesce(due_cells, '{}'), brief_measures = coalesce(due_measures, '{}'),
      brief_sums = coalesce(due_sums, '{}')
    FROM (SELECT traffic_bins.ctid AS at, due.* FROM traffic_bins CROSS JOIN LATERAL ${SUMS_OF_ROW}
      WHERE minutes > 5 AND (brief_cells IS NULL OR ${IS_WRONG})) AS wrong
    WHERE kept.ctid = wrong.at`);
  return rowCount ?? 0;
}

/** The same of the shares that counts of intervals cover. */
async function sharesAgain(tx: Transaction): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    UPDATE traffic_bins SET counted_share = ${DUE_SHARE} WHERE counted_share IS DISTINCT FROM ${DUE_SHARE}`);
  return rowCount ?? 0;
}

function find(...queries: readonly SQL[]) {
  return async (db: Executor, limit: number): Promise<Difference[]> => {
    const found: Difference[] = [];
    for (const query of queries)
      found.push(...(await db.execute(sql`${query} LIMIT ${limit - found.length}`)).rows);
    return found;
  };
}

/**
 * The days (in UTC) that differ, and whether all of their events are still stored. Where retention removed some, the
 * counts of 5 minutes stay, from which those of the longer slots are derived.
 */
const WRONG_DAYS = sql`
  SELECT (extract(epoch FROM day) * 1000)::float8 AS day, NOT ${isRemovedOf(sql`day`)} AS "isComplete"
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

/** Counts longer slots again, from those of five minutes. Counts of intervals may be longer, and stay. */
async function longerSlotsAgain(tx: Transaction, { from, until }: Interval): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    UPDATE traffic_bins SET events = 0, vehicles = 0, measured = 0, speed_sum = 0, cells = '{}', measures = '{}', sums = '{}',
      brief_cells = '{}', brief_measures = '{}', brief_sums = '{}'
    WHERE minutes IN (15, 60, 1440) AND source <> ${source.COUNTED} AND slot >= ${moment(from)} AND slot < ${moment(until)}`);
  await noteYearChange(tx, null, { from, until });
  const { rows } = await tx.execute<{ until: number }>(
    sql`SELECT (extract(epoch FROM ${longerUntil}) * 1000)::float8 AS until`,
  );
  const end = Math.min(until, rows[0]?.until ?? until);
  for (let start = from; start < end; start += QUARTER_MS) {
    const sensors = sql`
      SELECT DISTINCT sensor_id FROM traffic_bins
      WHERE minutes = 5 AND slot >= ${moment(start)} AND slot < ${moment(start + QUARTER_MS)}`;
    await tx.execute(addQuarter(moment(start), sensors, sql`source <> ${source.COUNTED}`));
  }
  return rowCount ?? 0;
}

async function rebuildDay(tx: Transaction, { day, isComplete }: WrongDay): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  const interval = { from: day, until: day + DAY_MS };
  return isComplete ? recountDay(tx, interval, sql`true`) : longerSlotsAgain(tx, interval);
}

/** Maximum number of periods whose sums are added by one statement. */
const PERIODS_AT_ONCE = 1_000;

/** Sums up the periods of a sensor that begin on a day again. Those that are in slots are in slots of the same day. */
async function rebuildIntervals(
  tx: Transaction,
  { sensor_id: sensorId, day }: { sensor_id: string; day: number },
): Promise<number> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  const interval = { from: day, until: day + DAY_MS };
  const { rowCount } = await tx.execute(sql`
    DELETE FROM traffic_bins WHERE minutes IN (5, 15, 60, 1440) AND sensor_id = ${sensorId}::uuid AND source = ${source.COUNTED}
      AND slot >= ${moment(interval.from)} AND slot < ${moment(interval.until)}`);
  await noteYearChange(tx, null, interval);
  const periods = await readPeriods(tx, sensorId, interval);
  for (let n = 0; n < periods.length; n += PERIODS_AT_ONCE) {
    const some = periods.slice(n, n + PERIODS_AT_ONCE);
    await addPeriodSums(
      tx,
      sensorId,
      some.flatMap((period) => sumsOf(period, 1)),
    );
  }
  return rowCount ?? 0;
}

/** Counts the days that differ again, each in a transaction of its own. */
export const rebuildTraffic: Rebuild = async ({ db, change }) => {
  const { rows: days } = await db.execute<WrongDay>(WRONG_DAYS);
  let rows = 0;
  for (const day of days) rows += await change((tx) => rebuildDay(tx, day));
  const { rows: intervals } = await db.execute<{ sensor_id: string; day: number }>(sql`
    SELECT DISTINCT sensor_id, (extract(epoch FROM date_bin('1 day', slot, ${ORIGIN})) * 1000)::float8 AS day
    FROM (${INTERVALS}) AS wrong ORDER BY 2, 1`);
  for (const each of intervals) rows += await change((tx) => rebuildIntervals(tx, each));
  return rows + (await change(briefSumsAgain)) + (await change(sharesAgain)) + (await change(removeAllYears));
};

export const trafficChecks: readonly Check[] = [
  {
    name: 'traffic by 5 minutes',
    compares: 'counts and speeds of sensors with the events that are stored',
    find: find(FIVE_MINUTES),
    rebuild: 'traffic',
  },
  {
    name: 'traffic by longer slots',
    compares:
      'counts of 15 minutes, hours and days with the sums of their 5 minutes; those without speeds with those by speed; the shares that counts of intervals cover with their sums',
    find: find(LONGER, WRONG_BRIEFS, WRONG_SHARES),
    rebuild: 'traffic',
  },
  {
    name: 'traffic of intervals',
    compares: 'motor vehicles and times in counts of intervals with the periods that sensors sent',
    find: find(INTERVALS),
    rebuild: 'traffic',
  },
];
