import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval, SLOT_MS } from '../platform/time.ts';
import { firstContact, listDowntimes } from '../sensors/status-store.ts';
import { groupsWithin, keptSince, ORIGIN, passedIn, passedWithin } from './passed-store.ts';
import { readAssigned } from './points-store.ts';
import { segmentsOf } from './segments.ts';
import { ALIVE_BIT, BINS, inSegments, numbersOf, type Place } from './slots-store.ts';
import { isNoted } from './years-store.ts';

/** A sensor that is or was at a place. */
export interface KnownSensor {
  readonly sensorId: string;
  /** '' if it was deleted before types were recorded. */
  readonly type: string;
  /**
   * What it counts: its counts of intervals if it ever sent one, otherwise detections, otherwise plates; null if it sent only
   * other events. 0 if only counts from before sources were known exist.
   */
  readonly source: number | null;
  /** Whether it never sent any event. */
  readonly isSilent: boolean;
}

/** What sensors ever sent, by sensor and location: the rows of `traffic_places`, and what is not rolled up yet. */
export const SENT = sql`(
  SELECT location_id, sensor_id, detections, plates, earlier, periods FROM traffic_places
  UNION ALL
  SELECT coalesce(location_id, sensor_id), sensor_id, bool_or(event_type IN ('VEHICLE_DETECTION', 'SPEED_DETECTION')),
    bool_or(event_type = 'PLATE_RECOGNITION'), false, false
  FROM traffic_unfolded, unnest(event_ids, event_types, sensor_ids, location_ids) AS one (id, event_type, sensor_id, location_id)
  WHERE sign > 0 AND sensor_id IS NOT NULL AND event_time(id) >= ${keptSince} GROUP BY 1, 2
)`;

/**
 * Sensors with their type and the source that they count.
 * @param ids a query of ids of sensors
 */
export function countingOf(ids: SQL): SQL {
  return sql`
    SELECT here.id AS sensor_id, coalesce(sensors.type,
        (SELECT max(sensor_type) FROM sensor_places WHERE sensor_places.sensor_id = here.id), '') AS type,
      CASE WHEN periods THEN 4 WHEN detections THEN 1 WHEN plates OR sent.sensor_id IS NULL THEN 2 WHEN earlier THEN 0 END AS source, sent.sensor_id IS NULL AS silent
    FROM (${ids}) AS here (id) LEFT JOIN sensors ON sensors.id = here.id LEFT JOIN (
      SELECT sensor_id, bool_or(detections) AS detections, bool_or(plates) AS plates, bool_or(earlier) AS earlier, bool_or(periods) AS periods
      FROM ${SENT} AS sent GROUP BY 1
    ) AS sent ON sent.sensor_id = here.id`;
}

interface CountingRow extends Record<string, unknown> {
  sensor_id: string;
  type: string;
  source: number | null;
  silent: boolean;
}

/** All sensors that are or were at a place, or count for a measuring point, with what they count. */
export function readSensors(db: Executor, { kind, id }: Place): Promise<KnownSensor[]> {
  return knownSensors(
    db,
    kind === 'sensor'
      ? sql`SELECT ${id}::uuid`
      : kind === 'point'
        ? sql`SELECT DISTINCT sensor_id FROM detector_assignments WHERE point_id = ${id}::uuid AND role = 'COUNT'`
        : sql`
        SELECT sensor_id FROM ${SENT} AS sent WHERE location_id = ${id}::uuid
        UNION SELECT id FROM sensors WHERE location_id = ${id}::uuid
        UNION SELECT sensor_id FROM sensor_places WHERE location_id = ${id}::uuid`,
  );
}

/** All sensors that are or were at locations, by these. */
export async function readSensorsAt(
  db: Executor,
  locationIds: readonly string[],
): Promise<ReadonlyMap<string, KnownSensor[]>> {
  const { rows } = await db.execute<CountingRow & { location_id: string }>(sql`
    WITH here AS MATERIALIZED (
      SELECT location_id, sensor_id FROM (
        SELECT location_id, sensor_id FROM ${SENT} AS sent UNION SELECT location_id, id FROM sensors
        UNION SELECT location_id, sensor_id FROM sensor_places
      ) AS known WHERE location_id = ANY (${sql.param(locationIds)}::uuid[])
    )
    SELECT location_id, counting.* FROM here JOIN (${countingOf(sql`SELECT DISTINCT sensor_id FROM here`)}) AS counting USING (sensor_id)`);
  const sensors = new Map<string, KnownSensor[]>(locationIds.map((id) => [id, []]));
  for (const row of rows) sensors.get(row.location_id)?.push(sensorOf(row));
  return sensors;
}

/** Sensors, wherever they are, with what they count. */
export async function readSensorsById(db: Executor, ids: readonly string[]): Promise<KnownSensor[]> {
  return ids.length === 0 ? [] : knownSensors(db, sql`SELECT unnest(${sql.param(ids)}::uuid[])`);
}

/** @param ids a query of ids of sensors */
async function knownSensors(db: Executor, ids: SQL): Promise<KnownSensor[]> {
  const { rows } = await db.execute<CountingRow>(countingOf(ids));
  return rows.map(sensorOf);
}

function sensorOf({ sensor_id: sensorId, silent: isSilent, type, source }: CountingRow): KnownSensor {
  return { sensorId, type, source, isSilent };
}

/** The sensors that never sent a count of intervals from anywhere but a location. */
export async function findOnlyHere(db: Executor, locationId: string): Promise<string[]> {
  // Plan: the primary key of traffic_places, then traffic_places_of_sensor.
  const { rows } = await db.execute<{ sensor_id: string }>(sql`
    SELECT sensor_id FROM traffic_places AS here WHERE location_id = ${locationId}::uuid AND periods AND NOT EXISTS (
      SELECT FROM traffic_places AS other
      WHERE other.sensor_id = here.sensor_id AND other.location_id <> here.location_id AND other.periods
    )`);
  return rows.map(({ sensor_id }) => sensor_id);
}

/** A sensor with the time for which it counts for a place; null for an open end. */
export interface Stay {
  readonly sensorId: string;
  readonly from: number | null;
  readonly until: number | null;
}

/** The sensors whose silence affects a place within the range. */
export async function findStays(db: Executor, place: Place, range: Interval): Promise<Stay[]> {
  if (place.kind === 'point')
    return (await readAssigned(db, place))
      .filter(
        ({ isHere, role, from, until }) =>
          isHere && role === 'COUNT' && from < range.until && until > range.from,
      )
      .map(({ sensorId, from, until }) => ({
        sensorId,
        from: Number.isFinite(from) ? from : null,
        until: Number.isFinite(until) ? until : null,
      }));
  return place.kind === 'sensor'
    ? (place.spans ?? [ENDLESS]).map(({ from, until }) => ({ sensorId: place.id, from, until }))
    : staysAtLocation(db, place.id, range);
}

/** A time for which the location of a sensor was entered afterwards, so that its counts are stored with another one. */
export interface Moved extends Interval {
  readonly sensorId: string;
  readonly locationId: string | null;
}

/** The moves that were entered afterwards and concern a range, in slots of five minutes; some overlap. */
export async function readMoved(db: Executor, range: Interval): Promise<Moved[]> {
  // Plan: sensor_places_entered.
  const { rows } = await db.execute<{
    sensor_id: string;
    location_id: string | null;
    since: number;
    until: number;
  }>(sql`
    SELECT sensor_id, location_id, ${milliseconds('greatest(places.since, entered.since)')} AS since,
      ${milliseconds('least(places.until, entered.until)')} AS until
    FROM (
      SELECT sensor_id, date_bin('5 minutes', since, ${ORIGIN}) AS since, date_bin('5 minutes', entered_at, ${ORIGIN}) AS until
      FROM sensor_places WHERE entered_at IS NOT NULL AND since < ${moment(range.until)} AND entered_at > ${moment(range.from)}
    ) AS entered JOIN (
      SELECT sensor_id, location_id, since, lead(since) OVER (PARTITION BY sensor_id ORDER BY since) AS until
      FROM (
        SELECT sensor_id, location_id, CASE WHEN since = '-infinity' THEN since ELSE date_bin('5 minutes', since, ${ORIGIN}) END AS since
        FROM sensor_places WHERE sensor_id IN (SELECT sensor_id FROM sensor_places WHERE entered_at IS NOT NULL)
      ) AS slots
    ) AS places USING (sensor_id)
    WHERE places.since < entered.until AND coalesce(places.until > entered.since, true)`);
  return rows.flatMap(({ sensor_id: sensorId, location_id: locationId, since, until }) =>
    since < until ? [{ sensorId, locationId, from: since, until }] : [],
  );
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

/** The periods in which sensors were in MAINTENANCE or ERROR, by their status history; without an end while it lasts. */
export async function readBrokenSpans(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<(Span & { readonly status: string })[]> {
  // Plan: sensor_status_history_of_sensor.
  const { rows } = await db.execute<{
    sensor_id: string;
    status: string;
    since: number;
    until: number | null;
  }>(sql`
    SELECT sensor_id, to_status AS status, ${milliseconds('at')} AS since, ${milliseconds('until')} AS until
    FROM (
      SELECT sensor_id, to_status, at, lead(at) OVER (PARTITION BY sensor_id ORDER BY id) AS until
      FROM sensor_status_history WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[])
    ) AS changes
    WHERE to_status IN ('MAINTENANCE', 'ERROR') AND at < ${moment(range.until)}
      AND (until IS NULL OR until > ${moment(range.from)})`);
  return rows.map(({ sensor_id: sensorId, status, since, until }) => ({
    sensorId,
    status,
    from: since,
    until: until ?? Number.POSITIVE_INFINITY,
  }));
}

/** Notes that a sensor sent every vehicle of a time. */
export async function noteObserved(db: Executor, sensorId: string, { from, until }: Interval): Promise<void> {
  await db.execute(sql`
    WITH changed AS (
      INSERT INTO traffic_year_changes (concern, since, until)
      SELECT ${sensorId}::uuid, ${moment(from)}::timestamptz, ${moment(until)} WHERE ${isNoted(moment(from))}
    ), joined AS (
      DELETE FROM traffic_observed
      WHERE sensor_id = ${sensorId}::uuid AND since <= ${moment(until)} AND until >= ${moment(from)}
      RETURNING since, until
    )
    INSERT INTO traffic_observed AS known (sensor_id, since, until)
    SELECT ${sensorId}::uuid, least(${moment(from)}, min(since)), greatest(${moment(until)}, max(until)) FROM joined
    ON CONFLICT (sensor_id, since) DO UPDATE SET until = greatest(known.until, excluded.until)`);
}

/** The times of which sensors sent every vehicle, as far as their traffic is kept. */
export async function readObservedSpans(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
): Promise<Span[]> {
  // Plan: the primary key of traffic_observed.
  const { rows } = await db.execute<{ sensor_id: string; since: number; until: number }>(sql`
    SELECT sensor_id, ${milliseconds(`greatest(since, kept)`)} AS since, ${milliseconds('until')} AS until
    FROM traffic_observed, (SELECT ${keptSince} AS kept) AS traffic
    WHERE sensor_id = ANY (${sql.param(sensorIds)}::uuid[]) AND since < ${moment(range.until)}
      AND until > greatest(kept, ${moment(range.from)})`);
  return rows.map(({ sensor_id: sensorId, since, until }) => ({ sensorId, from: since, until }));
}

/** The parts of a period between some others, which are in order. */
export function without(others: readonly Interval[], { from, until }: Interval): Interval[] {
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
    sql`sensor_id = ANY (${ids})`,
  );
  const pending = passedIn(groupsWithin(range), sql`sensor_id = ANY (${ids}) AND ${passedWithin(range)}`);
  // Slots of which all events are deleted have their bits as a negative number.
  // Plan: the unique index of traffic_bins for hours. A month of one sensor is 720 rows.
  const { rows } = await db.execute<{ sensor_id: string; hours: string; alive: string }>(sql`
    WITH fresh AS MATERIALIZED (
      SELECT sensor_id, slot, bool_or(sign > 0) AS is_seen, bool_or(sign < 0) AS is_less, sum(sign) AS events
      FROM (${pending}) AS pending GROUP BY 1, 2
    )
    SELECT sensor_id, array_agg(date_part('epoch', slot)::bigint)::text AS hours, array_agg(alive)::text AS alive
    FROM (
      SELECT sensor_id, slot, alive::int FROM ${BINS} AS hours WHERE ${hours}
      UNION ALL
      SELECT sensor_id, date_bin('1 hour', slot, ${ORIGIN}), ${ALIVE_BIT}
      FROM ${BINS} AS recent WHERE ${recent} AND (first_at IS NOT NULL OR source = 0)
      UNION ALL
      SELECT sensor_id, date_bin('1 hour', slot, ${ORIGIN}), bit_or(${ALIVE_BIT}) FROM fresh WHERE is_seen GROUP BY 1, 2
      UNION ALL
      SELECT sensor_id, date_bin('1 hour', slot, ${ORIGIN}), -bit_or(${ALIVE_BIT}) FROM fresh
      WHERE is_less AND events + (
        SELECT coalesce(sum(bins.events), 0) FROM ${BINS} AS bins
        WHERE minutes = 5 AND bins.sensor_id = fresh.sensor_id AND bins.slot = fresh.slot
      ) <= 0 GROUP BY 1, 2
    ) AS seen GROUP BY 1`);
  return rows.map((row) => ({
    sensorId: row.sensor_id,
    ...withoutDeleted(
      numbersOf(row.hours).map((seconds) => seconds * 1_000),
      numbersOf(row.alive),
    ),
  }));
}

/** Hours without the slots whose bits are negative. */
function withoutDeleted(hours: number[], alive: number[]): Pick<Sightings, 'hours' | 'alive'> {
  if (alive.every((bits) => bits >= 0)) return { hours, alive };
  const deleted = new Map(
    hours.flatMap((hour, n) => ((alive[n] ?? 0) < 0 ? [[hour, -(alive[n] ?? 0)]] : [])),
  );
  return {
    hours,
    alive: alive.map((bits, n) => (bits < 0 ? 0 : bits & ~(deleted.get(hours[n] ?? 0) ?? 0))),
  };
}

/** The times of the first and the last event of a sensor in a slot of five minutes, in Unix milliseconds. */
export interface Edges {
  readonly first: number;
  readonly last: number;
}

/**
 * The first and the last events of sensors in some slots. What is not known, because it was counted before, is left out.
 * @param slots pairs of a sensor and the start of a slot
 * @returns by the sensor and the start, with a blank between them
 */
export async function readEdges(
  db: Executor,
  slots: readonly (readonly [sensorId: string, slot: number])[],
): Promise<ReadonlyMap<string, Edges>> {
  if (slots.length === 0) return new Map();
  const ids = slots.map(([sensorId]) => sensorId);
  const times = slots.map(([, slot]) => slot);
  const range = { from: Math.min(...times), until: Math.max(...times) + SLOT_MS };
  const fresh = passedIn(
    groupsWithin(range),
    sql`sensor_id = ANY (${sql.param([...new Set(ids)])}::uuid[]) AND sign > 0 AND ${passedWithin(range)}`,
  );
  // Plan: the unique index of traffic_bins for each slot.
  const { rows } = await db.execute<{ sensor_id: string; slot: number; first: number; last: number }>(sql`
    WITH wanted AS MATERIALIZED (
      SELECT * FROM unnest(${sql.param(ids)}::uuid[], ${sql.param(times.map((time) => new Date(time).toISOString()))}::timestamptz[])
        AS one (sensor_id, slot)
    )
    SELECT sensor_id, ${milliseconds('slot')} AS slot, ${milliseconds('min(first_at)')} AS first,
      ${milliseconds('max(last_at)')} AS last
    FROM (
      SELECT bins.sensor_id, bins.slot, first_at, last_at FROM wanted JOIN ${BINS} AS bins
        ON minutes = 5 AND bins.sensor_id = wanted.sensor_id AND bins.slot = wanted.slot
      UNION ALL SELECT sensor_id, slot, at, at FROM (${fresh}) AS fresh
    ) AS seen WHERE first_at IS NOT NULL GROUP BY 1, 2`);
  return new Map(rows.map(({ sensor_id, slot, first, last }) => [`${sensor_id} ${slot}`, { first, last }]));
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
 * there; another one that is there now, since it was last elsewhere or since its first contact; any other, from its
 * first to its last vehicle there.
 */
async function staysAtLocation(db: Executor, id: string, range: Interval): Promise<Stay[]> {
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
