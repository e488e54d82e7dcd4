import { MINUTE_MS } from '@gantry/contract/durations';
import type { EventType } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { SensorStatus } from '@gantry/contract/sensors';
import { sql } from 'drizzle-orm';
import { firstIdAt, timeOfId } from '../events/id.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { heldAt } from '../platform/history.ts';
import { locationLimits, readPlacements } from '../sensors/placements-store.ts';

// What is recorded of the time of a case, outside of the case.

/** An event as cases need it. */
export interface EventFact extends Record<string, unknown> {
  readonly id: string;
  readonly eventType: EventType;
  readonly violationType: string | null;
  readonly sensorId: string | null;
  readonly sensorName: string | null;
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly plate: string | null;
  readonly plateRegion: string | null;
  /** Per cent. */
  readonly plateConfidence: number | null;
  /** km/h */
  readonly vehicleSpeed: number | null;
  /** Addresses. */
  readonly images: readonly string[] | null;
}

/** Those of the events that exist, the oldest first. */
export async function findEventFacts(db: Executor, ids: readonly string[]): Promise<EventFact[]> {
  // Plan: events_pkey of the partitions that contain the ids.
  const { rows } = await db.execute<EventFact>(sql`
    SELECT id, event_type AS "eventType", violation_type AS "violationType", sensor_id AS "sensorId",
      sensor_name AS "sensorName", location_id AS "locationId", location_name AS "locationName", plate,
      plate_region AS "plateRegion", plate_confidence AS "plateConfidence", vehicle_speed AS "vehicleSpeed", images
    FROM events WHERE id = ANY (${sql.param(ids.filter(isUuid))}::uuid[]) ORDER BY id`);
  return rows;
}

/** The first events of an incident. */
export async function findFirstEventsOf(
  db: Executor,
  incidentId: string,
  limit: number,
): Promise<EventFact[]> {
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT event_id AS id FROM incident_events WHERE incident_id = ${incidentId}::uuid ORDER BY event_id LIMIT ${limit}`);
  return findEventFacts(
    db,
    rows.map(({ id }) => id),
  );
}

/** The status of a sensor at a time (Unix milliseconds); null if it is not known. */
export async function statusAt(db: Executor, sensorId: string, at: number): Promise<SensorStatus | null> {
  // Plan: sensor_status_history_of_sensor.
  const { rows } = await db.execute<{ status: SensorStatus | null }>(sql`
    SELECT coalesce(
      (SELECT to_status FROM sensor_status_history
        WHERE sensor_id = ${sensorId}::uuid AND at <= ${moment(at)} ORDER BY id DESC LIMIT 1),
      (SELECT from_status FROM sensor_status_history
        WHERE sensor_id = ${sensorId}::uuid AND at > ${moment(at)} ORDER BY id LIMIT 1),
      (SELECT status FROM sensors WHERE id = ${sensorId}::uuid AND created_at <= ${moment(at)}
        AND NOT EXISTS (SELECT FROM sensor_status_history WHERE sensor_id = ${sensorId}::uuid))
    ) AS status`);
  return rows[0]?.status ?? null;
}

/** Why somebody rejected the data of a sensor at a time, by the last decision; null if nobody did. */
export async function rejectionAt(db: Executor, sensorId: string, at: number): Promise<string | null> {
  // Plan: traffic_reviews_of_place.
  const { rows } = await db.execute<{ decision: string; reason: string }>(sql`
    SELECT decision, reason FROM traffic_reviews
    WHERE place_kind = 'sensor' AND place_id = ${sensorId}::uuid AND since <= ${moment(at)} AND until > ${moment(at)}
    ORDER BY id DESC LIMIT 1`);
  return rows[0]?.decision === 'REJECT' ? rows[0].reason : null;
}

/** How far from a time events are looked at for the clock of their sensor, and how many of them on each side. */
const AROUND_MS = 30 * MINUTE_MS;
const ON_EACH_SIDE = 50;

/** How much later than their times the events of a sensor around a time arrived, in milliseconds. */
export async function readLags(db: Executor, sensorId: string, at: number): Promise<number[]> {
  const side = (from: number, until: number, order: 'ASC' | 'DESC') => sql`
    (SELECT id, (extract(epoch FROM created_at) * 1000)::float8 AS arrived FROM events
      WHERE sensor_id = ${sensorId}::uuid AND id >= ${firstIdAt(from)}::uuid AND id < ${firstIdAt(until)}::uuid
      ORDER BY id ${sql.raw(order)} LIMIT ${ON_EACH_SIDE})`;
  // Plan: events_by_sensor, from the time in both directions.
  const { rows } = await db.execute<{ id: string; arrived: number }>(sql`
    ${side(at - AROUND_MS, at, 'DESC')} UNION ALL ${side(at, at + AROUND_MS, 'ASC')}`);
  return rows.map(({ id, arrived }) => arrived - timeOfId(id));
}

/** Whether the last time of a sensor that could not be used arrived around a time. */
export async function hadUnusableTime(db: Executor, sensorId: string, at: number): Promise<boolean> {
  const { rows } = await db.execute(sql`
    SELECT FROM sensor_clocks WHERE sensor_id = ${sensorId}::uuid
      AND unusable_at >= ${moment(at - AROUND_MS)} AND unusable_at < ${moment(at + AROUND_MS)}`);
  return rows.length > 0;
}

/** Where something happened. */
interface Whereabouts {
  readonly sensorId: string | null;
  readonly locationId: string | null;
}

/** The speed limit (km/h) at a time: of the location, or of where the sensor was; null if there is none. */
export async function limitAt(
  db: Executor,
  { sensorId, locationId }: Whereabouts,
  at: number,
): Promise<number | null> {
  if (locationId === null) {
    if (sensorId === null) return null;
    const { rows } = await db.execute<{ location_id: string | null }>(
      sql`SELECT location_id FROM sensors WHERE id = ${sensorId}::uuid`,
    );
    const placements = await readPlacements(db, sensorId, rows[0]?.location_id ?? null);
    return heldAt(placements, at)?.speedLimit ?? null;
  }
  const history = (await locationLimits.read(db, [locationId])).get(locationId);
  if (history) return heldAt(history, at) ?? null;
  const { rows } = await db.execute<{ speed_limit: number | null }>(
    sql`SELECT speed_limit FROM locations WHERE id = ${locationId}::uuid`,
  );
  return rows[0]?.speed_limit ?? null;
}

/** Which of the images are known to be damaged. */
export async function findDamaged(db: Executor, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ sha256: string }>(sql`
    SELECT encode(sha256, 'hex') AS sha256 FROM damaged_images
    WHERE sha256 IN (SELECT decode(hex, 'hex') FROM unnest(${sql.param([...hashes])}::text[]) AS hex)`);
  return new Set(rows.map(({ sha256 }) => sha256));
}
