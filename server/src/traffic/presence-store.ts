import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { ORIGIN, passedIn } from './passages-store.ts';
import { inSegments, moment, type Place, passedWithin } from './rollups-store.ts';

/** A sensor, and the time for which it is to be counted with a place; an end without limit is null. */
export interface Watch {
  readonly sensorId: string;
  readonly from: number | null;
  readonly until: number | null;
}

const milliseconds = (column: string) => sql.raw(`(extract(epoch FROM ${column}) * 1000)::bigint`);

/**
 * The sensors that a location had within the range, and from when to when: a sensor that stands there now, since it was
 * elsewhere last or since there is such a sensor; another one from the first to the last vehicle that it saw there.
 */
const watchesOfLocation = async (db: Executor, id: string, range: Interval): Promise<Watch[]> => {
  const { rows } = await db.execute<{ sensor_id: string; since: number; until: number | null }>(sql`
    WITH fresh AS (
      SELECT location_id, sensor_id, min(slot) AS first_slot, max(slot) AS last_slot
      FROM (${passedIn(sql`traffic_unfolded`, sql`location_id = ${id}::uuid AND sign > 0`)}) AS fresh
      WHERE sensor_id IS NOT NULL GROUP BY 1, 2
    ), seen AS (
      SELECT sensor_id, min(first_slot) AS first_slot, max(last_slot) AS last_slot
      FROM (
        SELECT sensor_id, first_slot, last_slot FROM traffic_places WHERE location_id = ${id}::uuid
        UNION ALL SELECT sensor_id, first_slot, last_slot FROM fresh
      ) AS known GROUP BY 1
    ), standing AS (
      SELECT id AS sensor_id, greatest(created_at, (
        SELECT max(last_slot) + interval '5 minutes' FROM traffic_places
        WHERE traffic_places.sensor_id = sensors.id AND location_id <> ${id}::uuid
      )) AS since
      FROM sensors WHERE location_id = ${id}::uuid
    ), watched AS (
      SELECT sensor_id, least(first_slot, date_bin('5 minutes', since, ${ORIGIN})) AS since,
        CASE WHEN standing.sensor_id IS NULL THEN last_slot + interval '5 minutes' END AS until
      FROM seen FULL JOIN standing USING (sensor_id)
    )
    SELECT sensor_id, ${milliseconds('since')} AS since, ${milliseconds('until')} AS until FROM watched
    WHERE since < ${moment(range.until)} AND (until IS NULL OR until > ${moment(range.from)})`);
  return rows.map(({ sensor_id, since, until }) => ({ sensorId: sensor_id, from: since, until }));
};

/** The sensors whose silence matters for a place within the range. */
export const findWatches = (db: Executor, place: Place, range: Interval): Promise<Watch[]> | Watch[] =>
  place.kind === 'sensor'
    ? [{ sensorId: place.id, from: null, until: null }]
    : watchesOfLocation(db, place.id, range);

/** A time in which something is known of a sensor. */
export interface Span extends Interval {
  readonly sensorId: string;
}

/** The times in which sensors were ONLINE, by their status history. */
export const readOnlineSpans = async (
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Span[]> => {
  // Plan: sensor_status_history_of_sensor.
  const { rows } = await db.execute<{ sensor_id: string; since: number; until: number | null }>(sql`
    SELECT sensor_id, ${milliseconds('at')} AS since, ${milliseconds('until')} AS until
    FROM (
      SELECT sensor_id, to_status, at, lead(at) OVER (PARTITION BY sensor_id ORDER BY id) AS until
      FROM sensor_status_history WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[])
    ) AS changes
    WHERE to_status = 'ONLINE' AND at < ${moment(range.until)} AND (until IS NULL OR until > ${moment(range.from)})`);
  return rows.map(({ sensor_id, since, until }) => ({
    sensorId: sensor_id,
    from: since,
    until: until ?? Number.POSITIVE_INFINITY,
  }));
};

/** The slots of five minutes in which sensors saw anything, as spans. */
export const readSightings = async (
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Span[]> => {
  const places = sql`place_id = ANY (${sql.param(sensorIds)}::uuid[])`;
  const [hours = sql`false`] = inSegments([{ minutes: 60, ...range }], places);
  // Plan: the unique index of traffic_rollups at hours. A month of one sensor is 720 rows.
  const { rows } = await db.execute<{ sensor_id: string; slot: number; alive: number }>(sql`
    SELECT place_id AS sensor_id, ${milliseconds('slot')} AS slot, alive FROM traffic_rollups
    WHERE ${hours} AND vehicle_type IS NULL
    UNION ALL
    SELECT sensor_id, ${milliseconds("date_bin('1 hour', slot, timestamptz '2000-01-01 00:00Z')")},
      bit_or(1 << (extract(minute FROM slot AT TIME ZONE 'UTC')::int / 5))
    FROM (${passedIn(
      sql`traffic_unfolded`,
      sql`sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND sign > 0 AND ${passedWithin(range)}`,
    )}) AS fresh GROUP BY 1, 2`);
  return rows.flatMap(({ sensor_id: sensorId, slot, alive }) =>
    Array.from({ length: 12 }, (_, n) => n)
      .filter((n) => (alive & (1 << n)) !== 0)
      .map((n) => ({ sensorId, from: slot + n * 300_000, until: slot + (n + 1) * 300_000 })),
  );
};
