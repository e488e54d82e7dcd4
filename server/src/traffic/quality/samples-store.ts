import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { MAX_SPEED, ORIGIN, passedWithin, storedVehicles } from '../passed-store.ts';
import type { Counting } from '../slots-store.ts';
import type { Sample } from './detector-rules.ts';
import { THRESHOLDS } from './rules.ts';

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

/** A burst of a sensor, as `burstsIn` finds it. */
interface BurstRow extends Record<string, unknown> {
  sensor_id: string;
  direction: string;
  lane: string;
  end: number;
  n: number;
}

interface PassagesRow extends Record<string, unknown> {
  bursts: BurstRow[] | null;
  standing: { direction: string; lane: string; start: number; end: number }[] | null;
  quarters: { start: number; mean: number; n: number }[] | null;
  since: number | null;
  until: number | null;
  shortest: number | null;
  longest: number | null;
}

const BURST_MS = 30_000;
const QUARTER_MS = 900_000;

function ms(time: string): SQL {
  return sql.raw(`(extract(epoch FROM ${time}) * 1000)::float8`);
}

/** Of each lane, every 30 seconds: the most vehicles in 30 seconds, where they are too many. @param passed a table of vehicles */
function burstsIn(passed: SQL): SQL {
  return sql`
      SELECT sensor_id, direction, lane, ${ms('max(at)')} AS end, max(n)::int AS n FROM (
        SELECT sensor_id, direction, lane, at, count(*) OVER (
          PARTITION BY sensor_id, direction, lane ORDER BY at RANGE BETWEEN interval '29.999 seconds' PRECEDING AND CURRENT ROW
        ) AS n FROM ${passed} AS passed
      ) AS counted WHERE n >= ${THRESHOLDS.chatterVehicles}
      GROUP BY sensor_id, direction, lane, date_bin('30 seconds', at, ${ORIGIN})`;
}

function burstOf({ direction, lane, end, n }: BurstRow): ChannelSample {
  return { ...NOTHING_ELSE, direction, lane, start: end - BURST_MS, end, volume: n };
}

const NOTHING_ELSE = { movement: '', occupancy: null, meanSpeed: null };

/** A burst with its sensor. */
export interface Burst extends ChannelSample {
  readonly sensorId: string;
}

/** The most vehicles in 30 seconds on lanes of sensors that send vehicles, where they are too many. */
export async function readBursts(
  db: Executor,
  counting: readonly Counting[],
  range: Interval,
): Promise<Burst[]> {
  if (counting.length === 0) return [];
  const [ids, sources] = [counting.map(({ sensorId }) => sensorId), counting.map((each) => each.source)];
  const { rows } = await db.execute<BurstRow>(sql`
    WITH passed AS MATERIALIZED (
      SELECT at, sensor_id, coalesce(direction, '') AS direction, coalesce(lane, '') AS lane
      FROM (${storedVehicles(sql`sensor_id = ANY (${sql.param(ids)}::uuid[])`, range, [])}) AS vehicles
        JOIN unnest(${sql.param(ids)}::uuid[], ${sql.param(sources)}::smallint[]) AS one (sensor_id, source) USING (sensor_id, source)
    )
    ${burstsIn(sql`passed`)}`);
  return rows.map((row) => ({ ...burstOf(row), sensorId: row.sensor_id }));
}

/** How often the latest events of sensors repeat a speed or a plate. */
export interface Repeats extends Record<string, unknown> {
  readonly id: string;
  /** Number of the latest events with a speed, at most `equalSpeeds`, if all speeds are equal and not 0; otherwise 0. */
  readonly equalSpeeds: number;
  /** How often the most frequent plate was read among the latest events of ten minutes, twice as many as `samePlate`. */
  readonly samePlate: number;
}

/** How often the latest events of sensors, all within an hour, repeat themselves. @param now Unix milliseconds */
export async function readRepeats(
  db: Executor,
  sensorIds: readonly string[],
  now: number,
): Promise<Repeats[]> {
  if (sensorIds.length === 0) return [];
  const { equalSpeeds, samePlate } = THRESHOLDS;
  // Plan: events_by_sensor from its end, for each sensor.
  const { rows } = await db.execute<Repeats>(sql`
    SELECT asked.id, speeds.n AS "equalSpeeds", plates.n AS "samePlate"
    FROM unnest(${sql.param(sensorIds)}::uuid[]) AS asked (id)
    CROSS JOIN LATERAL (
      SELECT CASE WHEN min(vehicle_speed) = max(vehicle_speed) AND min(vehicle_speed) <> 0 THEN count(*) ELSE 0 END::int AS n FROM (
        SELECT vehicle_speed FROM events WHERE sensor_id = asked.id AND vehicle_speed IS NOT NULL
          AND ${passedWithin({ from: now - HOUR_MS, until: now })} ORDER BY id DESC LIMIT ${equalSpeeds}
      ) AS latest
    ) AS speeds
    CROSS JOIN LATERAL (
      SELECT coalesce(max(n), 0)::int AS n FROM (
        SELECT count(*) AS n FROM (
          SELECT plate_key FROM events WHERE sensor_id = asked.id AND plate_key IS NOT NULL
            AND ${passedWithin({ from: now - 10 * MINUTE_MS, until: now })} ORDER BY id DESC LIMIT ${2 * samePlate}
        ) AS latest GROUP BY plate_key
      ) AS counted
    ) AS plates`);
  return rows;
}

/** What is odd about the single vehicles of a sensor within a range, of a source that it counts. */
export async function readPassages(
  db: Executor,
  { sensorId, source }: { readonly sensorId: string; readonly source: number },
  range: Interval,
): Promise<Passages> {
  const { minLength, maxLength, lockedOnMinutes } = THRESHOLDS;
  const standsMs = Math.min(...Object.values(lockedOnMinutes)) * 60_000;
  const { rows } = await db.execute<PassagesRow>(sql`
    WITH passed AS MATERIALIZED (
      SELECT at, sensor_id, coalesce(direction, '') AS direction, coalesce(lane, '') AS lane, vehicle_length AS length, occupancy_ms,
        CASE WHEN speed > 0 AND speed <= ${MAX_SPEED} THEN speed END AS speed
      FROM (${storedVehicles(sql`sensor_id = ${sensorId}::uuid`, range, ['vehicle_length', 'occupancy_ms'])}) AS vehicles
      WHERE source = ${source}
    ), bursts AS (
      ${burstsIn(sql`passed`)}
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
  const isOdd = row !== undefined && row.since !== null && row.until !== null;
  return {
    bursts: (row?.bursts ?? []).map(burstOf),
    standing: (row?.standing ?? []).map((each) => ({ ...NOTHING_ELSE, ...each, volume: 1, occupancy: 100 })),
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
