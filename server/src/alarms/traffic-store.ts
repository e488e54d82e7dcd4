import { HOUR_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { sumsOf } from '../traffic/periods.ts';
import { crossing, endOf, readCrossingPeriods } from '../traffic/periods-store.ts';
import { HAS_VEHICLES } from '../traffic/quality/no-hits-store.ts';
import { isPlausible, numbersOf } from '../traffic/slots-store.ts';

// What TRAFFIC and SENSOR_PLAUSIBILITY read: counts by minute and by hour.

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

/**
 * What sensors counted in intervals that no hour of UTC contains, as in time zones half an hour from it, by the hour in which
 * they end.
 * @param hours Unix milliseconds
 */
export async function readCrossingHours(
  db: Executor,
  sensorIds: readonly string[],
  hours: readonly number[],
): Promise<Pick<SlotFact, 'sensorId' | 'slot' | 'vehicles'>[]> {
  const segments = hours.map(
    (hour) => ({ minutes: 60, from: hour - HOUR_MS, until: hour + HOUR_MS }) as const,
  );
  const periods = await readCrossingPeriods(db, sensorIds, { sensorIds }, segments);
  return periods.map((period) => ({
    sensorId: period.sensorId,
    slot: Math.ceil(endOf(period) / HOUR_MS - 1) * HOUR_MS,
    vehicles: sumsOf(period, 1).reduce((sum, { vehicles }) => sum + vehicles, 0),
  }));
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

/** The hours, or starts of intervals that are in none, in which sensors saw a vehicle since a time, in order, by sensor. */
export async function readSeenHours(
  db: Executor,
  sensorIds: readonly string[],
  since: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.execute<{ id: string; hours: string }>(sql`
    SELECT sensor_id AS id, array_agg(DISTINCT extract(epoch FROM at)::bigint ORDER BY extract(epoch FROM at)::bigint)::text AS hours
    FROM (
      SELECT sensor_id, slot AS at FROM traffic_bins WHERE minutes = 60 AND vehicles > 0
      UNION ALL SELECT sensor_id, start FROM traffic_periods WHERE ${crossing(60)} AND ${HAS_VEHICLES}
    ) AS seen
    WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND at >= ${moment(since)}
    GROUP BY 1`);
  return new Map(rows.map(({ id, hours }) => [id, numbersOf(hours).map((second) => second * 1_000)]));
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
