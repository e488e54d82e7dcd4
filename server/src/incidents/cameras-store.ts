import type { Coordinates } from '@gantry/contract/coordinates';
import type { CameraNear } from '@gantry/contract/incident-work';
import { eq, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import { locations } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { IncidentRow } from './store.ts';

/** Where an incident is, and on which carriageway. */
interface Spot {
  readonly place: Coordinates | null;
  readonly direction: string | null;
}

/** The place of an incident: its own or that of its location, whose direction it has. */
async function spotOf(
  db: Executor,
  { location, locationId }: Pick<IncidentRow, 'location' | 'locationId'>,
): Promise<Spot> {
  const { coordinates, direction } = locations;
  const [at] =
    locationId === null
      ? []
      : await db.select({ coordinates, direction }).from(locations).where(eq(locations.id, locationId));
  return { place: location ?? at?.coordinates ?? null, direction: at?.direction ?? null };
}

/** The distance at which a camera is near, in metres, and the largest number of them. */
const NEAR_M = 1_000;
const MAX_CAMERAS = 4;
/** The age from which an image says nothing of what is to be seen now, in milliseconds. */
const FRESH_MS = 600_000;

type Found = Omit<CameraNear, 'image'> & Record<string, unknown>;

/** The mean radius of the earth, in metres. */
const RADIUS_M = 6_371_008;

/**
 * The cameras near an incident, those of its direction first, then the nearest, each with its newest image. The distance
 * is that of the haversine formula. Plan: sensors as a whole.
 */
export async function findCamerasNear(
  db: Executor,
  incident: IncidentRow,
  now: number,
): Promise<CameraNear[]> {
  const { place, direction } = await spotOf(db, incident);
  if (!place) return [];
  const of = (name: 'latitude' | 'longitude') => sql`radians((place ->> ${name})::float8)`;
  const [lat, long] = [sql`radians(${place.latitude}::float8)`, sql`radians(${place.longitude}::float8)`];
  const { rows } = await db.execute<Found>(sql`
    SELECT id AS "sensorId", name, status, direction, round(distance)::int AS distance
    FROM (
      SELECT sensors.id, sensors.name, status, coalesce(sensors.direction, locations.direction) AS direction,
        coalesce(sensors.coordinates, locations.coordinates) AS place
      FROM sensors LEFT JOIN locations ON locations.id = sensors.location_id WHERE type = 'CAMERA'
    ) AS cameras CROSS JOIN LATERAL (
      SELECT 2 * ${RADIUS_M}::float8 * asin(least(1, sqrt(
        power(sin((${of('latitude')} - ${lat}) / 2), 2)
        + cos(${lat}) * cos(${of('latitude')}) * power(sin((${of('longitude')} - ${long}) / 2), 2)))) AS distance
    ) AS measured
    WHERE place IS NOT NULL AND distance <= ${NEAR_M}
    ORDER BY coalesce(direction = ${direction}, false) DESC, measured.distance, id LIMIT ${MAX_CAMERAS}`);
  const cameras: CameraNear[] = [];
  // One statement each, because a join could not be sent to the nodes that hold the events.
  for (const camera of rows)
    cameras.push({ ...camera, image: await newestImage(db, camera.sensorId, now - FRESH_MS) });
  return cameras;
}

/** The newest image of a sensor after a time. Plan: events_by_sensor. */
async function newestImage(db: Executor, sensorId: string, after: number): Promise<CameraNear['image']> {
  const { rows } = await db.execute<{ eventId: string; address: string; at: number }>(sql`
    SELECT id AS "eventId", images ->> 0 AS address, (extract(epoch FROM event_time(id)) * 1000)::float8 AS at
    FROM events
    WHERE sensor_id = ${sensorId}::uuid AND id >= ${firstIdAt(after)}::uuid AND images ->> 0 IS NOT NULL
    ORDER BY id DESC LIMIT 1`);
  const [row] = rows;
  return row ? { eventId: row.eventId, address: row.address, at: new Date(row.at) } : null;
}
