import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import type { Sample } from './detector-rules.ts';
import { THRESHOLDS } from './quality-rules.ts';
import { ORIGIN, passedWithin, sourceOf } from './slots-store.ts';

// What sensors reported, one by one: the samples of detectors, and single vehicles.

/** A sample with the channel that it is of. */
export interface ChannelSample extends Sample {
  /** '' for none. */
  readonly direction: string;
  readonly lane: string;
  readonly movement: string;
  /** Metres: the end of the classes of lengths that is farthest from plausible; null if all are plausible. */
  readonly oddLength?: number | null;
}

interface SamplesRow extends Record<string, unknown> {
  direction: string;
  lane: string;
  movement: string;
  starts: number[];
  seconds: number[];
  volumes: (number | null)[];
  occupancies: (number | null)[];
  speeds: (number | null)[];
  lengths: (number | null)[];
}

/** The intervals that a sensor counted within a range, by channel and in order. Those with a FAULT have no values. */
export async function readSamples(
  db: Executor,
  sensorId: string,
  { from, until }: Interval,
): Promise<ChannelSample[]> {
  const { minLength, maxLength } = THRESHOLDS;
  // Plan: traffic_periods_by_start, and a sort of short rows. Each channel is sent as arrays, because the driver takes longer to parse rows.
  const { rows } = await db.execute<SamplesRow>(sql`
    SELECT direction, lane, movement, array_agg(at) AS starts, array_agg(seconds) AS seconds, array_agg(volume) AS volumes,
      array_agg(occupancy) AS occupancies, array_agg(speed) AS speeds, array_agg(length) AS lengths
    FROM (
      SELECT direction, lane, movement, (extract(epoch FROM start) * 1000)::float8 AS at, seconds,
        (known -> 'volume')::float8 AS volume, (known -> 'occupancy')::float8 AS occupancy,
        (known -> 'speed' -> 'mean')::float8 AS speed,
        CASE WHEN known ? 'byLength' THEN (
          SELECT max(CASE WHEN (bin -> 'from')::float8 >= ${maxLength} THEN (bin -> 'from')::float8 ELSE (bin -> 'to')::float8 END)
          FROM jsonb_array_elements(known -> 'byLength') AS one (bin)
          WHERE (bin -> 'count')::float8 > 0
            AND ((bin -> 'from')::float8 >= ${maxLength} OR (bin -> 'to')::float8 <= ${minLength})
        ) END AS length
      FROM (
        SELECT *, CASE WHEN content ->> 'status' <> 'FAULT' AND content -> 'volume' <> 'null' THEN content END AS known
        FROM traffic_periods
        WHERE sensor_id = ${sensorId}::uuid AND start >= ${moment(from)} AND start < ${moment(until)}
      ) AS periods ORDER BY 1, 2, 3, 4
    ) AS periods GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`);
  return rows.flatMap(
    ({ direction, lane, movement, starts, seconds, volumes, occupancies, speeds, lengths }) =>
      starts.map((start, n) => ({
        direction,
        lane,
        movement,
        start,
        end: start + (seconds[n] ?? 0) * 1_000,
        volume: volumes[n] ?? null,
        occupancy: occupancies[n] ?? null,
        meanSpeed: speeds[n] ?? null,
        oddLength: lengths[n] ?? null,
      })),
  );
}

/** Whether a sensor reported any interval before a range, and after it. */
export async function hasSamplesAround(
  db: Executor,
  sensorId: string,
  { from, until }: Interval,
): Promise<boolean> {
  // Plan: traffic_periods_by_start.
  const { rows } = await db.execute<{ around: boolean }>(sql`
    SELECT EXISTS (SELECT FROM traffic_periods WHERE sensor_id = ${sensorId}::uuid AND start <= ${moment(from)})
      AND EXISTS (SELECT FROM traffic_periods WHERE sensor_id = ${sensorId}::uuid AND start >= ${moment(until)}) AS around`);
  return rows[0]?.around ?? false;
}

/** Vehicles with a length that none has, in a range. */
export interface OddLengths extends Interval {
  /** In metres, the one that is farthest from plausible. */
  readonly shortest: number;
  readonly longest: number;
}

/** What is known of the single vehicles of a sensor in a range. */
export interface Passages {
  /** The most vehicles in 30 seconds, where they are many. */
  readonly bursts: readonly ChannelSample[];
  /** Vehicles that stood on the detector for a long time. */
  readonly standing: readonly ChannelSample[];
  /** The mean speeds of quarter hours. */
  readonly quarters: readonly Sample[];
  readonly lengths: OddLengths | null;
}

interface PassagesRow extends Record<string, unknown> {
  bursts: { direction: string; lane: string; end: number; n: number }[] | null;
  standing: { direction: string; lane: string; start: number; end: number }[] | null;
  quarters: { start: number; mean: number; n: number }[] | null;
  since: number | null;
  until: number | null;
  shortest: number | null;
  longest: number | null;
}

const BURST_MS = 30_000;
const QUARTER_MS = 900_000;

/** What is odd about the single vehicles of a sensor within a range, of a source that it counts. */
export async function readPassages(
  db: Executor,
  { sensorId, source }: { readonly sensorId: string; readonly source: number },
  range: Interval,
): Promise<Passages> {
  const { chatterVehicles, minLength, maxLength, lockedOnMinutes } = THRESHOLDS;
  const standsMs = Math.min(...Object.values(lockedOnMinutes)) * 60_000;
  const ms = (time: string): SQL => sql.raw(`(extract(epoch FROM ${time}) * 1000)::float8`);
  // Plan: events_by_sensor.
  const { rows } = await db.execute<PassagesRow>(sql`
    WITH passed AS MATERIALIZED (
      SELECT event_time(id) AS at, coalesce(direction, '') AS direction, coalesce(lane, '') AS lane, vehicle_length AS length, occupancy_ms,
        CASE WHEN vehicle_speed > 0 AND vehicle_speed <= 250 THEN vehicle_speed END AS speed
      FROM events
      WHERE sensor_id = ${sensorId}::uuid AND event_type <> 'INCIDENT' AND ${sourceOf} = ${source} AND ${passedWithin(range)}
    ), bursts AS (
      SELECT direction, lane, ${ms('max(at)')} AS end, max(n)::int AS n FROM (
        SELECT direction, lane, at,
          count(*) OVER (PARTITION BY direction, lane ORDER BY at RANGE BETWEEN interval '29.999 seconds' PRECEDING AND CURRENT ROW) AS n
        FROM passed
      ) AS counted WHERE n >= ${chatterVehicles} GROUP BY direction, lane, date_bin('30 seconds', at, ${ORIGIN})
    ), standing AS (
      SELECT direction, lane, ${ms('at')} AS start, ${ms('at')} + occupancy_ms AS end FROM passed WHERE occupancy_ms >= ${standsMs}
    ), quarters AS (
      SELECT ${ms(`date_bin('15 minutes', at, timestamptz '2000-01-01 00:00Z')`)} AS start, avg(speed) AS mean, count(*)::int AS n
      FROM passed WHERE speed IS NOT NULL GROUP BY 1
    )
    SELECT (SELECT json_agg(bursts ORDER BY "end") FROM bursts) AS bursts,
      (SELECT json_agg(standing ORDER BY start) FROM standing) AS standing,
      (SELECT json_agg(quarters ORDER BY start) FROM quarters) AS quarters, lengths.*
    FROM (
      SELECT ${ms('min(at)')} AS since, ${ms('max(at)')} AS until, min(length)::float8 AS shortest, max(length)::float8 AS longest
      FROM passed WHERE length < ${minLength} OR length > ${maxLength}
    ) AS lengths`);
  const [row] = rows;
  const none = { movement: '', occupancy: null, meanSpeed: null };
  const isOdd = row !== undefined && row.since !== null && row.until !== null;
  return {
    bursts: (row?.bursts ?? []).map(({ direction, lane, end, n }) => {
      return { ...none, direction, lane, start: end - BURST_MS, end, volume: n };
    }),
    standing: (row?.standing ?? []).map((each) => ({ ...none, ...each, volume: 1, occupancy: 100 })),
    quarters: (row?.quarters ?? []).map(({ start, mean, n }) => {
      return { start, end: start + QUARTER_MS, volume: n, meanSpeed: mean };
    }),
    lengths: isOdd
      ? {
          from: row.since ?? 0,
          until: (row.until ?? 0) + 1,
          shortest: row.shortest ?? minLength,
          longest: row.longest ?? maxLength,
        }
      : null,
  };
}
