import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../platform/time.ts';
import { firstContact, listDowntimes } from '../sensors/status-store.ts';
import { segmentsOf } from './segments.ts';
import {
  ALIVE_BIT,
  groupsWithin,
  inSegments,
  keptSince,
  numbersOf,
  ORIGIN,
  type Place,
  passedIn,
  passedWithin,
} from './slots-store.ts';

/** A sensor with the time for which it counts for a place; null for an open end. */
export interface Assignment {
  readonly sensorId: string;
  readonly from: number | null;
  readonly until: number | null;
}

/** The sensors whose silence affects a place within the range. */
export function findAssignments(
  db: Executor,
  place: Place,
  range: Interval,
): Promise<Assignment[]> | Assignment[] {
  return place.kind === 'sensor'
    ? (place.spans ?? [ENDLESS]).map(({ from, until }) => ({ sensorId: place.id, from, until }))
    : assignmentsOfLocation(db, place.id, range);
}

/** A period in which something is known about a sensor. */
export interface Span extends Interval {
  readonly sensorId: string;
}

/**
 * The periods in which sensors were ONLINE, by their status history, as far as their traffic is kept and the service was
 * not down.
 */
export async function readOnlineSpans(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Span[]> {
  // Plan: sensor_status_history_of_sensor.
  const { rows } = await db.execute<{ sensor_id: string; since: number; until: number | null }>(sql`
    SELECT sensor_id, ${milliseconds('greatest(at, kept)')} AS since, ${milliseconds('until')} AS until
    FROM (
      SELECT sensor_id, to_status, ${keptSince} AS kept, at, lead(at) OVER (PARTITION BY sensor_id ORDER BY id) AS until
      FROM sensor_status_history WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[])
    ) AS changes
    WHERE to_status = 'ONLINE' AND at < ${moment(range.until)}
      AND (until IS NULL OR until > greatest(kept, ${moment(range.from)}))`);
  const downtimes = await listDowntimes(db, range);
  return rows.flatMap(({ sensor_id: sensorId, since, until }) =>
    without(downtimes, { from: since, until: until ?? Number.POSITIVE_INFINITY }).map((span) => ({
      sensorId,
      ...span,
    })),
  );
}

/** The parts of a period between some others, which are in order. */
function without(others: readonly Interval[], { from, until }: Interval): Interval[] {
  const starts = [from, ...others.map((other) => Math.max(from, other.until))];
  const ends = [...others.map((other) => Math.min(until, other.from)), until];
  return starts
    .map((start, n) => ({ from: start, until: ends[n] ?? until }))
    .filter((part) => part.from < part.until);
}

/**
 * The hours (Unix milliseconds) in which a sensor detected anything, with a bit for each five minutes: bit 0 is the
 * first.
 */
export interface Sightings {
  readonly sensorId: string;
  readonly hours: readonly number[];
  readonly alive: readonly number[];
}

/** When sensors detected anything in the hours that overlap a range; an hour may occur twice. */
export async function readSightings(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Sightings[]> {
  const ids = sql`${sql.param(sensorIds)}::uuid[]`;
  const [hours = sql`false`, recent = sql`false`] = inSegments(
    segmentsOf(range, [60]),
    sql`place_id = ANY (${ids})`,
  );
  // Plan: the unique index of traffic_rollups for hours. A month of one sensor is 720 rows. There is a row of five minutes
  // where there was an event, even if that is gone.
  const { rows } = await db.execute<{ sensor_id: string; hours: string; alive: string }>(sql`
    SELECT sensor_id, array_agg(date_part('epoch', slot)::bigint)::text AS hours, array_agg(alive)::text AS alive
    FROM (
      SELECT place_id AS sensor_id, slot, alive::int FROM traffic_rollups WHERE ${hours} AND vehicle_type IS NULL
      UNION ALL
      SELECT place_id, date_bin('1 hour', slot, ${ORIGIN}), ${ALIVE_BIT}
      FROM traffic_rollups WHERE ${recent} AND vehicle_type IS NULL
      UNION ALL
      SELECT sensor_id, date_bin('1 hour', slot, ${ORIGIN}), bit_or(${ALIVE_BIT})
      FROM (${passedIn(
        groupsWithin(range),
        sql`sensor_id = ANY (${ids}) AND sign > 0 AND ${passedWithin(range)}`,
      )}) AS fresh GROUP BY 1, 2
    ) AS seen GROUP BY 1`);
  return rows.map((row) => ({
    sensorId: row.sensor_id,
    hours: numbersOf(row.hours).map((seconds) => seconds * 1_000),
    alive: numbersOf(row.alive),
  }));
}

function milliseconds(column: string) {
  return sql.raw(`(extract(epoch FROM ${column}) * 1000)::bigint`);
}

/** The slot of the smallest or largest of some ids, which PostgreSQL 15 can only compare as text. */
function slotOf(end: 'min' | 'max') {
  return sql`date_bin('5 minutes', event_time(${sql.raw(end)}(id::text COLLATE "C")::uuid), ${ORIGIN})`;
}

/**
 * The sensors of a location within the range, with their times: a sensor that was moved or deleted, while it stood
 * there; another one that is assigned now, since it was last elsewhere or since its first contact; any other, from its
 * first to its last vehicle there.
 */
async function assignmentsOfLocation(db: Executor, id: string, range: Interval): Promise<Assignment[]> {
  const { rows } = await db.execute<{ sensor_id: string; since: number; until: number | null }>(sql`
    WITH fresh AS (
      SELECT sensor_id, ${slotOf('min')} AS first_slot, ${slotOf('max')} AS last_slot
      FROM traffic_unfolded, unnest(event_ids, sensor_ids, location_ids) AS one (id, sensor_id, location_id)
      WHERE sign > 0 AND location_id = ${id}::uuid AND sensor_id IS NOT NULL GROUP BY 1
    ), seen AS (
      SELECT sensor_id, min(first_slot) AS first_slot, max(last_slot) AS last_slot
      FROM (
        SELECT sensor_id, first_slot, last_slot FROM traffic_places WHERE location_id = ${id}::uuid
        UNION ALL SELECT sensor_id, first_slot, last_slot FROM fresh
      ) AS known GROUP BY 1
    ), moved AS (
      SELECT sensor_id, since, until
      FROM (
        SELECT sensor_id, location_id, since, lead(since) OVER (PARTITION BY sensor_id ORDER BY since) AS until
        FROM sensor_places WHERE sensor_id IN (SELECT sensor_id FROM sensor_places WHERE location_id = ${id}::uuid)
      ) AS stays WHERE location_id = ${id}::uuid
    ), contacts AS (
      SELECT sensor_id, CASE WHEN contact IS NOT NULL THEN greatest(created_at, contact) END AS contact
      FROM (
        SELECT sensor_id, created_at, ${firstContact(sql`here.sensor_id`)} AS contact
        FROM (
          SELECT id AS sensor_id FROM sensors WHERE location_id = ${id}::uuid UNION SELECT sensor_id FROM moved
        ) AS here LEFT JOIN sensors ON sensors.id = sensor_id
      ) AS known
    ), installed AS (
      SELECT sensor_id, CASE WHEN contact IS NOT NULL THEN greatest(contact, (
        SELECT max(last_slot) + interval '5 minutes' FROM traffic_places
        WHERE traffic_places.sensor_id = contacts.sensor_id AND location_id <> ${id}::uuid
      )) END AS since
      FROM contacts
    ), monitored AS (
      SELECT sensor_id, least(first_slot, date_bin('5 minutes', since, ${ORIGIN})) AS since,
        CASE WHEN installed.sensor_id IS NULL THEN last_slot + interval '5 minutes' END AS until
      FROM seen FULL JOIN installed USING (sensor_id) WHERE sensor_id NOT IN (SELECT sensor_id FROM moved)
      UNION ALL
      SELECT sensor_id, date_bin('5 minutes', greatest(nullif(since, '-infinity'), least(first_slot, contact)), ${ORIGIN}), until
      FROM moved JOIN contacts USING (sensor_id) LEFT JOIN seen USING (sensor_id)
      WHERE contact IS NOT NULL OR first_slot IS NOT NULL
    )
    SELECT sensor_id, ${milliseconds('since')} AS since, ${milliseconds('until')} AS until FROM monitored
    WHERE since < ${moment(range.until)} AND (until IS NULL OR until > ${moment(range.from)})`);
  return rows.map(({ sensor_id, since, until }) => ({ sensorId: sensor_id, from: since, until }));
}
