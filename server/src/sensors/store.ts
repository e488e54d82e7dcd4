import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type {
  CreateSensorInput,
  ListSensorsInput,
  LocatedSensor,
  Sensor,
  UpdateSensorInput,
} from '@gantry/contract/sensors';
import { and, asc, count, desc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import { caseFolded, contains, sortedName } from '../platform/database/case-folded.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { found } from '../platform/error.ts';
import { acceptsKey, acceptsPreviousKey } from './keys-store.ts';
import { readPlacements } from './placements-store.ts';
import type { KnownSensor } from './sensor-keys.ts';

/** The columns of a sensor: all fields that the API returns, and the API key in full. */
export const sensorColumns = {
  id: sensors.id,
  name: sensors.name,
  deviceId: sensors.deviceId,
  type: sensors.type,
  status: sensors.status,
  ipAddress: sensors.ipAddress,
  macAddress: sensors.macAddress,
  firmware: sensors.firmware,
  coordinates: sensors.coordinates,
  apiKey: sensors.apiKey,
  eventsPerMin: sensors.eventsPerMin,
  description: sensors.description,
  locationId: sensors.locationId,
  lane: sensors.lane,
  direction: sensors.direction,
  model: sensors.model,
  serialNumber: sensors.serialNumber,
  tags: sensors.tags,
  lastHeartbeat: sensors.lastHeartbeat,
  lastCommunication: sensors.lastCommunication,
  lastPing: sensors.lastPing,
  createdAt: sensors.createdAt,
  updatedAt: sensors.updatedAt,
};

/** @throws AppError `notFound` */
export async function getSensor(db: Executor, id: string): Promise<Sensor> {
  return found(await db.select(sensorColumns).from(sensors).where(hasId(id)), 'Sensor');
}

/**
 * Reads a sensor and locks it against heartbeats and other changes until the transaction ends.
 * @throws AppError `notFound`
 */
export async function getSensorLocked(tx: Executor, id: string): Promise<Sensor> {
  return found(await tx.select(sensorColumns).from(sensors).where(hasId(id)).for('no key update'), 'Sensor');
}

/** As `getSensorLocked`, for those of the ids that exist, in the order of their ids. */
export async function listSensorsLocked(tx: Executor, ids: readonly string[]): Promise<Sensor[]> {
  const wanted = ids.filter(isUuid);
  if (wanted.length === 0) return [];
  return tx
    .select(sensorColumns)
    .from(sensors)
    .where(inArray(sensors.id, wanted))
    .orderBy(asc(sensors.id))
    .for('no key update');
}

/** PostgreSQL refuses a deviceId in use (23505) and an unknown location (23503). */
export async function insertSensor(
  db: Executor,
  fields: CreateSensorInput & { apiKey: string },
): Promise<Sensor> {
  return found(await db.insert(sensors).values(fields).returning(sensorColumns), 'Sensor');
}

/**
 * Sets the given fields; `null` clears a field. PostgreSQL refuses an unknown location (23503).
 * @param statusSince when the status changes, if it does
 * @throws AppError `notFound`
 */
export async function updateSensorRow(
  db: Executor,
  id: string,
  fields: Omit<UpdateSensorInput, 'id'>,
  statusSince?: Date,
): Promise<Sensor> {
  const changes = { ...fields, ...(statusSince && { statusSince }), updatedAt: sql`now()` };
  return found(await db.update(sensors).set(changes).where(hasId(id)).returning(sensorColumns), 'Sensor');
}

/** Deletes the row of the sensor; what is recorded about its past stays. */
export async function deleteSensorRow(tx: Executor, id: string): Promise<void> {
  await tx.delete(sensors).where(hasId(id));
  await tx.execute(sql`DELETE FROM sensor_clocks WHERE sensor_id = ${id}::uuid`);
}

/**
 * Marks the connections of a sensor as deleted, and removes the sensor from the options of other connections. A sweep
 * removes the messages of the deleted ones.
 */
export async function removeFromConnections(tx: Executor, sensorId: string): Promise<void> {
  // Locked in one order, so that two sensors can be deleted at the same time.
  await tx.execute(sql`
    UPDATE connections SET
      deleted_at = CASE WHEN sensor_id = ${sensorId}::uuid THEN now() END,
      signing_key = CASE WHEN sensor_id = ${sensorId}::uuid THEN NULL ELSE signing_key END,
      updated_at = ${timeOfUpdate()},
      options = jsonb_set(options, '{sensors}', (
        SELECT coalesce(jsonb_object_agg(name, id), '{}') FROM jsonb_each_text(options -> 'sensors') AS assigned (name, id)
        WHERE lower(id) <> ${sensorId}), false)
    WHERE id = ANY (ARRAY(
      SELECT id FROM connections WHERE deleted_at IS NULL AND (sensor_id = ${sensorId}::uuid
        OR ${sensorId} IN (SELECT lower(value) FROM jsonb_each_text(options -> 'sensors')))
      ORDER BY id FOR NO KEY UPDATE))`);
}

/** Records that the device's address has just answered. @throws AppError `notFound` */
export async function setLastPing(db: Executor, id: string): Promise<Sensor> {
  return found(
    await db.update(sensors).set({ lastPing: sql`now()` }).where(hasId(id)).returning(sensorColumns),
    'Sensor',
  );
}

/** The data of the sensor with the key for ingestion; null when there is none. */
export function findSensorByKey(db: Executor, apiKey: string): Promise<KnownSensor | null> {
  return findKnownSensor(
    db,
    acceptsKey(apiKey),
    // Milliseconds for which it is accepted, if it is the previous key.
    sql<number | null>`CASE WHEN ${acceptsPreviousKey(apiKey)}
      THEN (extract(epoch FROM sensors.previous_key_until - statement_timestamp()) * 1000)::float8 END`,
  );
}

/** The data of a sensor for the ingestion of what arrives through its connections; null when there is none. */
export async function findKnownSensorById(db: Executor, id: string): Promise<KnownSensor | null> {
  return isUuid(id) ? findKnownSensor(db, eq(sensors.id, id), sql<number | null>`NULL::float8`) : null;
}

async function findKnownSensor(
  db: Executor,
  wanted: SQL,
  previousMs: SQL<number | null>,
): Promise<KnownSensor | null> {
  const [row] = await db
    .select({
      id: sensors.id,
      name: sensors.name,
      coordinates: sensors.coordinates,
      locationId: sensors.locationId,
      locationName: locations.name,
      speedLimit: locations.speedLimit,
      eventsPerMin: sensors.eventsPerMin,
      previousMs,
      hasPast: sql<boolean>`(EXISTS (SELECT FROM sensor_places WHERE sensor_id = ${sensors.id})
        OR EXISTS (SELECT FROM location_limits WHERE location_limits.location_id = ${sensors.locationId}))`,
    })
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .where(wanted);
  if (!row) return null;
  const { coordinates, hasPast, previousMs: validMs, ...known } = row;
  const sensor = {
    ...known,
    address: coordinates?.address ?? null,
    ...(validMs !== null && { previousKey: { validMs } }),
  };
  if (!hasPast) return sensor;
  const placements = await readPlacements(db, row.id, row.locationId);
  const until = placements.at(-1)?.since ?? Number.NEGATIVE_INFINITY;
  return { ...sensor, past: { until, placements } };
}

const sortKeys = {
  name: sortedName(sensors.name),
  type: sensors.type,
  status: sensors.status,
  createdAt: sensors.createdAt,
  lastHeartbeat: sensors.lastHeartbeat,
};

/** Sensors whose name or deviceId contains the search text, which is taken literally and without regard to case. */
export async function listSensors(
  db: Executor,
  { skip, take, search, type, status, locationId, tag, sortBy, sortOrder }: ListSensorsInput,
): Promise<Page<Sensor>> {
  const sought =
    search === undefined ? undefined : or(contains(sensors.name, search), contains(sensors.deviceId, search));
  const atLocation = (id: string) => (isUuid(id) ? eq(sensors.locationId, id) : sql`false`);
  const there = locationId === undefined ? undefined : atLocation(locationId);
  const wanted = and(
    sought,
    type && eq(sensors.type, type),
    status && eq(sensors.status, status),
    there,
    tag === undefined ? undefined : hasTag(tag),
  );
  const direction = sortOrder === 'asc' ? asc : desc;
  const order = [direction(sortKeys[sortBy]), direction(sensors.id)];
  // The other keys are never null, and NULLS LAST would prevent the use of their index.
  if (sortBy === 'lastHeartbeat') order.unshift(asc(isNull(sensors.lastHeartbeat)));
  const items = await db
    .select(sensorColumns)
    .from(sensors)
    .where(wanted)
    .orderBy(...order)
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(sensors).where(wanted);
  return { items, total: counted?.total ?? 0 };
}

/** Whether a sensor has a tag, without regard to case. */
function hasTag(tag: string): SQL {
  return sql`EXISTS (SELECT FROM unnest(${sensors.tags}) AS given (tag) WHERE ${caseFolded(sql`given.tag`)} = ${caseFolded(tag)})`;
}

/** The tags of all sensors, in one spelling each, with the number of sensors. */
export async function listTags(db: Executor): Promise<{ tag: string; sensors: number }[]> {
  const { rows } = await db.execute<{ tag: string; sensors: number }>(sql`
    SELECT min(tag) AS tag, count(*) AS sensors FROM sensors, unnest(tags) AS given (tag)
    GROUP BY ${caseFolded(sql`tag`)} ORDER BY ${caseFolded(sql`tag`)}`);
  return rows;
}

/** All sensors with their locations, newest first. */
export function listLocatedSensors(db: Executor): Promise<LocatedSensor[]> {
  return db
    .select({
      ...sensorColumns,
      location: { id: locations.id, name: locations.name, address: locations.address },
    })
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .orderBy(desc(sensors.createdAt), desc(sensors.id));
}

/** PostgreSQL refuses to compare an id with text of another form, which is never the id of a sensor. */
function hasId(id: string) {
  return isUuid(id) ? eq(sensors.id, id) : sql`false`;
}

/** The device IDs of sensors by their ids; sensors that do not exist are absent. */
export async function listDeviceIds(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: sensors.id, deviceId: sensors.deviceId })
    .from(sensors)
    .where(inArray(sensors.id, [...ids]));
  return new Map(rows.map(({ id, deviceId }) => [id, deviceId]));
}
