import { type SQL, sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import {
  type Executor,
  inTransaction,
  type Transaction,
  WITHOUT_WAITING,
} from '../platform/database/transaction.ts';
import { changedVehicles, KIND, ORIGIN, passedIn, source } from './passed-store.ts';
import { ALIVE_BIT, isOfMotor, isPlausible, longerUntil, measure, NO_SENSOR } from './slots-store.ts';
import { isNoted } from './years-store.ts';

/** How long counts by minute are kept; the last five minutes are needed. */
const MINUTES_KEPT = sql.raw(`interval '15 minutes'`);

const QUARTER = sql.raw(`interval '15 minutes'`);

/**
 * Rolls up at most `limit` rows, unless another process is doing so. Readers see the counts either before or after the
 * roll-up.
 * @returns the number of rows that were rolled up
 */
export async function rollUpTraffic(db: Database, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const { rows: locked } = await tx.execute<{ mine: boolean; passages: boolean }>(sql`
      SELECT pg_try_advisory_xact_lock(${locks.traffic}) AS mine, ${sql.raw(WITHOUT_WAITING)},
        EXISTS (SELECT FROM traffic_unfolded WHERE passage_ids IS NOT NULL) AS passages`);
    const [{ mine = false, passages = false } = {}] = locked;
    if (!mine) return 0;
    await tx.execute(sql`DELETE FROM traffic_bins WHERE minutes = 1 AND slot < now() - ${MINUTES_KEPT}`);
    return passages
      ? rollUpRows(tx, firstRows(limit), changedVehicles(sql`taken`))
      : rollUpRows(
          tx,
          sql`ARRAY(SELECT ctid FROM traffic_unfolded WHERE passage_ids IS NULL LIMIT ${limit})`,
          null,
        );
  });
}

/** Events that were deleted come last: what is left of their passages is known only where these were counted before. */
function firstRows(limit: number): SQL {
  return sql`ARRAY(
    (SELECT ctid FROM traffic_unfolded WHERE sign > 0 LIMIT ${limit})
    UNION ALL (SELECT ctid FROM traffic_unfolded WHERE sign < 0 LIMIT ${limit}) LIMIT ${limit}
  )`;
}

/**
 * Rolls up some rows of `traffic_unfolded`, in a transaction that holds the lock.
 * @param ctids an array of their positions, an expression
 * @param vehicles what changes in the vehicles of passages, as for `passedIn`; null if no event is of one
 * @returns their number
 */
export async function rollUpRows(tx: Transaction, ctids: SQL, vehicles: SQL | null): Promise<number> {
  const { rows } = await tx.execute<{ rows: number; sensors: string[] | null; slots: string[] | null }>(
    ROLL_UP(ctids, vehicles),
  );
  const [row] = rows;
  if (row?.sensors && row.slots) await tx.execute(forgetSlots(row.sensors, row.slots));
  return row?.rows ?? 0;
}

/**
 * A sensor of which all events of five minutes were deleted is not known to have worked then. Of hours with other events, the
 * bits of these slots are cleared; those of counts from before 0064 stay.
 */
function forgetSlots(sensors: readonly string[], slots: readonly string[]): SQL {
  // Plan: the unique index of traffic_bins for each slot, and for its hour.
  return sql`
    UPDATE traffic_bins AS hours SET alive = hours.alive & ~emptied.bits
    FROM (
      SELECT sensor_id, location_id, source, date_bin('1 hour', slot, ${ORIGIN}) AS slot, bit_or(${ALIVE_BIT})::smallint AS bits
      FROM traffic_bins JOIN unnest(${sql.param(sensors)}::uuid[], ${sql.param(slots)}::timestamptz[]) AS deleted (sensor_id, slot)
        USING (sensor_id, slot)
      WHERE minutes = 5 AND source BETWEEN ${source.DETECTION} AND ${source.OTHER} AND first_at IS NULL GROUP BY 1, 2, 3, 4
    ) AS emptied
    WHERE hours.minutes = 60 AND (hours.sensor_id, hours.slot, hours.source) = (emptied.sensor_id, emptied.slot, emptied.source)
      AND hours.location_id IS NOT DISTINCT FROM emptied.location_id AND hours.alive & emptied.bits <> 0`;
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
    const sensors = sql`SELECT DISTINCT sensor_id FROM traffic_places WHERE last_slot >= ${longerUntil}`;
    await tx.execute(addQuarter(longerUntil, sql`${sensors} UNION ALL SELECT ${NO_SENSOR}`));
    await tx.execute(sql`UPDATE traffic_kept SET longer_until = longer_until + ${QUARTER}`);
    return true;
  });
}

const COLUMNS =
  sql.raw(`minutes, sensor_id, location_id, source, slot, events, vehicles, measured, speed_sum, alive,
  first_at, last_at, cells, measures, sums`);

/**
 * Adds rows to `traffic_bins`.
 * @param rows a query of minutes, sensor_id, location_id, source, slot, events, vehicles, measured, speed_sum,
 *   alive, first_at, last_at, cells, measures and sums
 */
export function addBins(rows: SQL): SQL {
  return sql`
    INSERT INTO traffic_bins AS known (${COLUMNS}, ${BRIEF}, counted_share)
    SELECT added.*, brief.*, ${countedShare('added', sql`unnest(cells, measures, sums)`)} FROM (${rows}) AS added (${COLUMNS})
      CROSS JOIN LATERAL (${briefOf(sql`unnest(cells, measures, sums)`, sql`minutes > 5`)}) AS brief
    ORDER BY 1, 2, 5
    ON CONFLICT (minutes, sensor_id, slot, location_id, source) DO UPDATE SET
      events = known.events + excluded.events, vehicles = known.vehicles + excluded.vehicles,
      measured = known.measured + excluded.measured, speed_sum = known.speed_sum + excluded.speed_sum,
      alive = known.alive | excluded.alive,
      first_at = CASE WHEN known.events + excluded.events > 0 THEN least(known.first_at, excluded.first_at) END,
      last_at = CASE WHEN known.events + excluded.events > 0 THEN greatest(known.last_at, excluded.last_at) END,
      (cells, measures, sums) = (
        SELECT coalesce(array_agg(cell), '{}'), coalesce(array_agg(measure), '{}'), coalesce(array_agg(value), '{}')
        FROM (
          SELECT cell, measure, sum(value::float8)::bigint AS value
          FROM unnest(known.cells || excluded.cells, known.measures || excluded.measures, known.sums || excluded.sums)
            AS both_of (cell, measure, value)
          GROUP BY 1, 2 HAVING sum(value::float8) <> 0 ORDER BY 1, 2
        ) AS merged
      ),
      (${BRIEF}) = (${briefOf(
        sql`unnest(known.brief_cells || excluded.brief_cells, known.brief_measures || excluded.brief_measures,
          known.brief_sums || excluded.brief_sums)`,
        sql`known.brief_cells IS NOT NULL`,
      )}),
      counted_share = ${countedShare(
        'known',
        sql`unnest(known.cells || excluded.cells, known.measures || excluded.measures, known.sums || excluded.sums)`,
      )}`;
}

/** How much of a slot intervals cover (`readCountedSpans`), by what is expected and covered of each channel. */
export function shareOf(minutes: SQL): SQL {
  return sql`coalesce(sum(covered), 0)::float8 / sum(expected)::float8 * least(1, max(expected)::float8 / (${minutes} * 60000))`;
}

/**
 * The same of a row of `traffic_bins`, as an expression; null for other sources.
 * @param row the name of its table
 * @param entries the rows of its arrays
 */
export function countedShare(row: string, entries: SQL): SQL {
  const column = (name: string): SQL => sql.raw(`${row}.${name}`);
  return sql`CASE WHEN ${column('source')} = ${source.COUNTED} THEN coalesce((
    SELECT ${shareOf(column('minutes'))}
    FROM (
      SELECT sum(value) FILTER (WHERE measure = ${measure.EXPECTED}) AS expected,
        sum(value) FILTER (WHERE measure = ${measure.COVERED}) AS covered
      FROM ${entries} AS one (cell, measure, value) WHERE measure <= ${measure.COVERED} GROUP BY cell
    ) AS channels HAVING sum(expected) > 0), 0) END`;
}

/** The sums of a row without the bins of speeds; null in slots of at most five minutes, which are read for a short time only. */
export const BRIEF = sql.raw('brief_cells, brief_measures, brief_sums');

/**
 * These sums, as a query of one row.
 * @param entries the rows of the arrays
 * @param condition where they are kept
 */
export function briefOf(entries: SQL, condition: SQL): SQL {
  return sql`
    SELECT array_agg(cell ORDER BY cell, measure), array_agg(measure ORDER BY cell, measure),
      array_agg(value ORDER BY cell, measure)
    FROM (
      SELECT cell, CASE WHEN ${isPlausible} THEN 1 WHEN measure > 0 THEN -1 ELSE measure END::smallint AS measure,
        sum(value::float8)::bigint AS value
      FROM ${entries} AS one (cell, measure, value) WHERE measure <> ${measure.SQUARES} AND ${condition}
      GROUP BY 1, 2 HAVING sum(value::float8) <> 0
    ) AS summed`;
}

/** The key of a row of `traffic_bins` in the statements below. */
export const KEY = sql.raw('minutes, sensor_id, location_id, source, slot');

/** The packed sums of a group of entries, which may be zero. */
export const PACKED = sql.raw(`
  coalesce(array_agg(cell ORDER BY cell, measure) FILTER (WHERE value <> 0), '{}') AS cells,
  coalesce(array_agg(measure ORDER BY cell, measure) FILTER (WHERE value <> 0), '{}') AS measures,
  coalesce(array_agg(value ORDER BY cell, measure) FILTER (WHERE value <> 0), '{}') AS sums`);

/** The sums of motor vehicles of a group of entries. */
const MOTOR_SUMS = sql.raw(
  'sum(vehicles)::bigint AS vehicles, sum(measured)::bigint AS measured, sum(speed_sum)::bigint AS speed_sum',
);

// Each event counts for its sensor, its location and its source, in slots of five minutes; those of quarter hours that
// are over, in all four lengths. Equal rows are added up first, as int and double (exact for integers up to 2^53), because
// the sum of a bigint is a numeric. Only one process at a time inserts kinds of vehicles, so none can be there twice.
// Plan: the pending rows by position, then the unique index of traffic_bins.
function ROLL_UP(ctids: SQL, vehicles: SQL | null) {
  return sql`
  WITH taken AS (
    DELETE FROM traffic_unfolded WHERE ctid = ANY (${ctids}) RETURNING *
  ), passed AS MATERIALIZED (
    ${passedIn(sql`taken`, sql`true`, vehicles)}
  ), alike AS MATERIALIZED (
    SELECT slot, CASE WHEN at > now() - ${MINUTES_KEPT} THEN date_trunc('minute', at) END AS minute,
      coalesce(sensor_id, ${NO_SENSOR}) AS sensor_id, location_id, source, ${KIND}, bin,
      sum(sign * vehicle)::float8 AS n, sum(sign * event)::int AS events, coalesce(sum((sign * speed)::float8), 0) AS speed_sum,
      coalesce(sum((sign * square)::float8), 0) AS square_sum,
      min(at) FILTER (WHERE sign > 0) AS first_at, max(at) FILTER (WHERE sign > 0) AS last_at, bool_or(sign < 0 AND event = 1) AS is_less
    FROM passed GROUP BY 1, 2, 3, location_id, source, ${KIND}, bin
  ), kinds AS MATERIALIZED (
    SELECT kind.*, traffic_cells.id, coalesce(is_motor, ${isOfMotor}) AS is_motor
    FROM (SELECT DISTINCT ${KIND} FROM alike) AS kind
      LEFT JOIN traffic_cells USING (${KIND})
  ), new_kinds AS (
    INSERT INTO traffic_cells (${KIND}, is_motor) SELECT ${KIND}, is_motor FROM kinds WHERE id IS NULL
    RETURNING ${KIND}, id, is_motor
  ), known_kinds AS MATERIALIZED (
    SELECT ${KIND}, id, is_motor FROM kinds WHERE id IS NOT NULL UNION ALL SELECT * FROM new_kinds
  ), fine AS MATERIALIZED (
    SELECT alike.*, known_kinds.id AS cell, is_motor::int AS motor FROM alike JOIN known_kinds USING (${KIND})
  ), spread AS (
    SELECT 5 AS minutes, sensor_id, location_id, source, slot, cell, bin, n, motor, events, speed_sum, square_sum,
      0 AS alive, first_at, last_at
    FROM fine
    UNION ALL
    SELECT 1, sensor_id, location_id, source, minute, cell, bin, n, motor, events, speed_sum, square_sum, 0, first_at, last_at
    FROM fine WHERE minute IS NOT NULL AND location_id IS NOT NULL
    UNION ALL
    SELECT minutes, sensor_id, location_id, source, date_bin(make_interval(mins => minutes), slot, ${ORIGIN}), cell, bin,
      n, motor, events, speed_sum, square_sum,
      CASE WHEN first_at IS NOT NULL AND minutes = 60 THEN ${ALIVE_BIT} ELSE 0 END, first_at, last_at
    FROM fine CROSS JOIN (VALUES (15), (60), (1440)) AS level (minutes) WHERE slot < ${longerUntil}
  ), by_bin AS MATERIALIZED (
    SELECT ${KEY}, cell, bin, sum(n) AS n, max(motor) AS motor, sum(events)::int AS events, sum(speed_sum) AS speed_sum,
      sum(square_sum) AS square_sum, bit_or(alive) AS alive, min(first_at) AS first_at, max(last_at) AS last_at
    FROM spread GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), entries AS (
    SELECT ${KEY}, cell, coalesce(bin, -1::smallint) AS measure, n::bigint AS value, events, motor * n AS vehicles,
      CASE WHEN bin IS NULL THEN 0 ELSE motor * n END AS measured, motor * speed_sum AS speed_sum, alive, first_at, last_at
    FROM by_bin
    UNION ALL
    SELECT ${KEY}, cell, measure, value::bigint, 0, 0, 0, 0, 0, NULL, NULL
    FROM (
      SELECT ${KEY}, cell, sum(speed_sum) AS speeds, sum(square_sum) AS squares FROM by_bin
      WHERE bin IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6
    ) AS by_cell CROSS JOIN LATERAL (VALUES (-2::smallint, speeds), (-3::smallint, squares)) AS one (measure, value)
  ), rolled AS (
    ${addBins(sql`
      SELECT ${KEY}, sum(events) AS events, ${MOTOR_SUMS},
        bit_or(alive)::smallint AS alive, CASE WHEN sum(events) > 0 THEN min(first_at) END AS first_at,
        CASE WHEN sum(events) > 0 THEN max(last_at) END AS last_at, ${PACKED}
      FROM entries GROUP BY 1, 2, 3, 4, 5`)}
  ), placed AS (
    INSERT INTO traffic_places AS known (location_id, sensor_id, first_slot, last_slot, detections, plates)
    SELECT coalesce(location_id, sensor_id), sensor_id, min(slot), max(slot), bool_or(source = ${source.DETECTION}),
      bool_or(source = ${source.PLATE})
    FROM alike WHERE first_at IS NOT NULL AND sensor_id <> ${NO_SENSOR} GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (location_id, sensor_id) DO UPDATE SET
      first_slot = least(known.first_slot, excluded.first_slot), last_slot = greatest(known.last_slot, excluded.last_slot),
      detections = known.detections OR excluded.detections, plates = known.plates OR excluded.plates
    WHERE excluded.first_slot < known.first_slot OR excluded.last_slot > known.last_slot
      OR (excluded.detections AND NOT known.detections) OR (excluded.plates AND NOT known.plates)
  ), unjudged AS (
    INSERT INTO traffic_unjudged (sensor_id, day)
    SELECT DISTINCT sensor_id, (slot AT TIME ZONE 'UTC')::date FROM alike
    WHERE first_at IS NOT NULL AND sensor_id <> ${NO_SENSOR} ORDER BY 1, 2
    ON CONFLICT DO NOTHING
  ), changed AS (
    INSERT INTO traffic_year_changes (concern, since, until)
    SELECT sensor_id, min(slot), max(slot) + interval '5 minutes' FROM alike WHERE ${isNoted(sql`slot`)} GROUP BY 1
  )
  SELECT (SELECT count(*) FROM taken) AS rows, array_agg(sensor_id) AS sensors, array_agg(slot::text) AS slots
  FROM (SELECT DISTINCT sensor_id, slot FROM alike WHERE is_less) AS deleted`;
}

// The sums of a quarter hour are the same for all longer slots that contain it. Each sensor is summed by itself, in little
// memory. Plan: the unique index of traffic_bins for each sensor with events since then.
/**
 * Adds a quarter hour to the counts of 15 minutes, hours and days, from its slots of five minutes.
 * @param start of the quarter hour, an expression
 * @param sensors a query of the ids of the sensors with events since then
 * @param among a condition on the rows of traffic_bins that are added
 */
export function addQuarter(start: SQL, sensors: SQL, among = sql`true`): SQL {
  return sql`
  WITH summed AS MATERIALIZED (
    SELECT sensor.id AS sensor_id, quarter.*
    FROM (${sensors}) AS sensor (id) CROSS JOIN LATERAL (
      WITH fine AS MATERIALIZED (
        SELECT * FROM traffic_bins
        WHERE minutes = 5 AND sensor_id = sensor.id AND slot >= ${start} AND slot < ${start} + ${QUARTER} AND ${among}
      )
      SELECT location_id, source, sum(events)::bigint AS events, ${MOTOR_SUMS}, bit_or(alive)::smallint AS alive,
        min(first_at) AS first_at, max(last_at) AS last_at, ${PACKED}
      FROM (
        SELECT location_id, source, cell, measure, sum(value)::bigint AS value, 0 AS events, 0 AS vehicles, 0 AS measured, 0 AS speed_sum, 0 AS alive,
          NULL::timestamptz AS first_at, NULL::timestamptz AS last_at
        FROM fine, unnest(cells, measures, sums) AS one (cell, measure, value) GROUP BY 1, 2, 3, 4
        UNION ALL
        SELECT location_id, source, NULL, NULL, 0, events, vehicles, measured, speed_sum,
          CASE WHEN first_at IS NOT NULL THEN ${ALIVE_BIT} ELSE 0 END, first_at, last_at
        FROM fine
      ) AS entries GROUP BY 1, 2
    ) AS quarter
  )
  ${addBins(sql`
    SELECT minutes, sensor_id, location_id, source, date_bin(make_interval(mins => minutes), ${start}, ${ORIGIN}) AS slot,
      events, vehicles, measured, speed_sum, CASE WHEN minutes = 60 THEN alive ELSE 0::smallint END AS alive, first_at, last_at, cells, measures, sums
    FROM summed CROSS JOIN (VALUES (15), (60), (1440)) AS level (minutes)`)}`;
}
