import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { isPlausible, numbersOf } from '../traffic/slots-store.ts';

// What TRAFFIC and SENSOR_PLAUSIBILITY read: counts by minute and by hour, and a few events.

/** Motor vehicles of a sensor in a slot. */
export interface SlotFact {
  readonly sensorId: string;
  readonly locationId: string | null;
  /** Unix milliseconds. */
  readonly slot: number;
  readonly vehicles: number;
  /** Those with a speed, and the sum of the speeds in m/h. */
  readonly measured: number;
  readonly speedSum: number;
  /** Vehicles by whole km/h, rounded up, if they were asked for. */
  readonly bins: ReadonlyMap<number, number>;
}

interface SlotRow extends Record<string, unknown> {
  readonly sensorId: string;
  readonly locationId: string | null;
  readonly slot: number;
  readonly vehicles: number;
  readonly measured: number;
  readonly speedSum: number;
  readonly bins: string | null;
  readonly counts: string | null;
}

/** What a sensor counts: its counts of intervals, otherwise detections, otherwise plates. */
const COUNTED = sql.raw('(source = CASE WHEN sent.periods THEN 4 WHEN sent.detections THEN 1 ELSE 2 END)');

function slotsWhere(condition: SQL, hasBins: boolean): SQL {
  const histogram = hasBins
    ? sql`(SELECT array_agg(measure ORDER BY n)::text FROM unnest(cells, measures, sums) WITH ORDINALITY AS one (cell, measure, total, n)
          WHERE ${isPlausible}) AS bins,
        (SELECT array_agg(total ORDER BY n)::text FROM unnest(cells, measures, sums) WITH ORDINALITY AS one (cell, measure, total, n)
          WHERE ${isPlausible}) AS counts`
    : sql`NULL AS bins, NULL AS counts`;
  return sql`
    SELECT sensor_id AS "sensorId", location_id AS "locationId", (extract(epoch FROM slot) * 1000)::float8 AS slot,
      vehicles::float8 AS vehicles, measured::float8 AS measured, speed_sum::float8 AS "speedSum", ${histogram}
    FROM traffic_bins JOIN (
      SELECT sensor_id AS id, bool_or(periods) AS periods, bool_or(detections) AS detections FROM traffic_places GROUP BY 1
    ) AS sent ON sent.id = sensor_id
    WHERE ${condition} AND ${COUNTED}`;
}

async function readSlots(db: Executor, condition: SQL, hasBins: boolean): Promise<SlotFact[]> {
  const { rows } = await db.execute<SlotRow>(slotsWhere(condition, hasBins));
  return rows.map(({ bins, counts, ...row }) => {
    const sums = counts === null ? [] : numbersOf(counts);
    const byBin = new Map<number, number>();
    for (const [n, bin] of (bins === null ? [] : numbersOf(bins)).entries())
      byBin.set(bin, (byBin.get(bin) ?? 0) + (sums[n] ?? 0));
    return { ...row, bins: byBin };
  });
}

/** What was counted in the minutes from one time until another (Unix milliseconds, whole minutes). */
export function readMinutes(
  db: Executor,
  from: number,
  until: number,
  hasBins: boolean,
): Promise<SlotFact[]> {
  return readSlots(db, sql`minutes = 1 AND slot >= ${moment(from)} AND slot < ${moment(until)}`, hasBins);
}

/** What was counted in these hours (Unix milliseconds). */
export function readHours(db: Executor, hours: readonly number[], hasBins = false): Promise<SlotFact[]> {
  const times = sql`ARRAY[${sql.join(hours.map(moment), sql`, `)}]`;
  // Plan: the unique index of traffic_bins.
  return readSlots(db, sql`minutes = 60 AND slot = ANY (${times})`, hasBins);
}

/** What sensors counted in the slots of five minutes of a range. */
export function readFives(
  db: Executor,
  sensorIds: readonly string[],
  { from, until }: Interval,
  hasBins: boolean,
): Promise<SlotFact[]> {
  // Plan: the unique index of traffic_bins.
  const range = sql`slot >= ${moment(from)} AND slot < ${moment(until)}`;
  return readSlots(
    db,
    sql`minutes = 5 AND sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND ${range}`,
    hasBins,
  );
}

/** The sensors of these that saw a vehicle since a time (Unix milliseconds). */
export async function findSeeing(
  db: Executor,
  sensorIds: readonly string[],
  since: number,
): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM unnest(${sql.param(sensorIds)}::uuid[]) AS asked (id)
    WHERE EXISTS (SELECT FROM traffic_bins WHERE minutes = 5 AND sensor_id = id AND slot >= ${moment(since)} AND vehicles > 0)`);
  return new Set(rows.map(({ id }) => id));
}

/** The hours (Unix milliseconds) in which sensors saw a vehicle since a time, in order, by sensor. */
export async function readSeenHours(
  db: Executor,
  sensorIds: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.execute<{ id: string; hours: string }>(sql`
    SELECT sensor_id AS id, array_agg(DISTINCT extract(epoch FROM slot)::bigint ORDER BY extract(epoch FROM slot)::bigint)::text AS hours
    FROM traffic_bins
    WHERE minutes = 60 AND sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND slot >= ${moment(since)} AND vehicles > 0
    GROUP BY 1`);
  return new Map(rows.map(({ id, hours }) => [id, numbersOf(hours).map((second) => second * 1_000)]));
}

/** The greatest number of vehicles of a sensor on a lane in 30 s of a minute. */
export async function readDensest(
  db: Executor,
  sensorIds: readonly string[],
  minute: number,
): Promise<ReadonlyMap<string, number>> {
  if (sensorIds.length === 0) return new Map();
  // Plan: events_by_sensor, for a minute of each sensor.
  const { rows } = await db.execute<{ id: string; n: number }>(sql`
    SELECT sensor_id AS id, max(n)::int AS n FROM (
      SELECT sensor_id, count(*) AS n FROM events
      WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[])
        AND id >= ${firstIdAt(minute)}::uuid AND id < ${firstIdAt(minute + MINUTE_MS)}::uuid
        AND event_type IN ('VEHICLE_DETECTION', 'SPEED_DETECTION', 'PLATE_RECOGNITION')
      GROUP BY sensor_id, event_type, lane, floor(extract(epoch FROM event_time(id)) / 30)
    ) AS halves GROUP BY 1`);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** How often the latest events of sensors repeat a speed or a plate. */
export interface LatestFact extends Record<string, unknown> {
  readonly id: string;
  /** Number of the latest events with a speed, at most 30, if all speeds are equal and not 0; otherwise 0. */
  readonly equalSpeeds: number;
  /** How often the most frequent plate was read among the latest 40 events of ten minutes. */
  readonly samePlate: number;
}

/** Number of equal speeds, and of reads of one plate, by which a sensor is stuck. */
export const EQUAL_SPEEDS = 30;
export const SAME_PLATE = 20;

/** The latest events of sensors, all within an hour, for SENSOR_PLAUSIBILITY. */
export async function readLatest(
  db: Executor,
  sensorIds: readonly string[],
  now: number,
): Promise<LatestFact[]> {
  if (sensorIds.length === 0) return [];
  // Plan: events_by_sensor from its end, for each sensor.
  const { rows } = await db.execute<LatestFact>(sql`
    SELECT asked.id, speeds.n AS "equalSpeeds", plates.n AS "samePlate"
    FROM unnest(${sql.param(sensorIds)}::uuid[]) AS asked (id)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN min(vehicle_speed) = max(vehicle_speed) AND min(vehicle_speed) <> 0 THEN count(*) ELSE 0 END::int AS n FROM (
        SELECT vehicle_speed FROM events WHERE sensor_id = asked.id AND vehicle_speed IS NOT NULL
          AND id >= ${firstIdAt(now - HOUR_MS)}::uuid AND id < ${firstIdAt(now)}::uuid ORDER BY id DESC LIMIT ${EQUAL_SPEEDS}
      ) AS latest
    ) AS speeds
    CROSS JOIN LATERAL (
      SELECT coalesce(max(n), 0)::int AS n FROM (
        SELECT count(*) AS n FROM (
          SELECT plate_key FROM events WHERE sensor_id = asked.id AND plate_key IS NOT NULL
            AND id >= ${firstIdAt(now - 10 * MINUTE_MS)}::uuid AND id < ${firstIdAt(now)}::uuid ORDER BY id DESC LIMIT 40
        ) AS latest GROUP BY plate_key
      ) AS counted
    ) AS plates`);
  return rows;
}

/** The shares of events with a plate of sensors in these hours, by sensor and hour as `<id> <hour>`. */
export async function readPlateShares(
  db: Executor,
  hours: readonly number[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.execute<{ id: string; slot: number; share: number }>(sql`
    SELECT sensor_id AS id, (extract(epoch FROM slot) * 1000)::float8 AS slot,
      (sum(events) FILTER (WHERE source = 2) / sum(events))::float8 AS share
    FROM traffic_bins
    WHERE minutes = 60 AND slot = ANY (ARRAY[${sql.join(hours.map(moment), sql`, `)}]) AND source IN (1, 2)
    GROUP BY 1, 2 HAVING sum(events) >= 20 AND count(DISTINCT source) = 2 OR (sum(events) >= 20 AND min(source) = 1)`);
  return new Map(rows.map(({ id, slot, share }) => [`${id} ${slot}`, share ?? 0]));
}
