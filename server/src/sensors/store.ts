import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type {
  CreateSensorInput,
  FleetSensor,
  ListSensorsInput,
  LocatedSensor,
  Sensor,
  UpdateSensorInput,
} from '@gantry/contract/sensors';
import { and, asc, desc, eq, inArray, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { caseFolded, contains, hasTag, sortedName } from '../platform/database/case-folded.ts';
import { timeOfUpdate } from '../platform/database/moment.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { found } from '../platform/error.ts';
import { hasFault, listOpenFaults, worstRank } from './faults-store.ts';
import { acceptsKey, acceptsPreviousKey } from './keys-store.ts';
import { isOnRoad } from './locations-store.ts';
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
  make: sensors.make,
  model: sensors.model,
  serialNumber: sensors.serialNumber,
  warrantyUntil: sensors.warrantyUntil,
  certificatePlace: sensors.certificatePlace,
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
  fields: Omit<UpdateSensorInput, 'id' | 'reason'>,
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

const WORST = worstRank(sql`${sensors.status}`, sql`${sensors.id}`);

/**
 * The sensors that meet the filters. The search text is taken literally and without regard to case.
 * @param today the date in the time zone of the service, from which warranties are reckoned
 */
export async function listSensors(
  db: Executor,
  input: ListSensorsInput,
  today: string,
): Promise<Page<Sensor>> {
  const wanted = isListed(input, today);
  const items = await db
    .select(sensorColumns)
    .from(sensors)
    .where(wanted)
    .orderBy(...orderOf(input))
    .limit(input.take)
    .offset(input.skip);
  return { items, total: await db.$count(sensors, wanted) };
}

function isListed(input: ListSensorsInput, today: string): SQL | undefined {
  const { search, type, status, locationId, tag, make, model, road, warrantyEndsWithin } = input;
  const sought =
    search === undefined ? undefined : or(contains(sensors.name, search), contains(sensors.deviceId, search));
  const atLocation = (id: string) => (isUuid(id) ? eq(sensors.locationId, id) : sql`false`);
  const isSame = (column: SQLWrapper, text: string | undefined) =>
    text === undefined ? undefined : sql`${caseFolded(column)} = ${caseFolded(text)}`;
  const faulty = hasFault(sql`${sensors.id}`);
  const onRoad = isOnRoad({ ...input, road });
  return and(
    sought,
    type && eq(sensors.type, type),
    status && eq(sensors.status, status),
    locationId === undefined ? undefined : atLocation(locationId),
    tag === undefined ? undefined : hasTag(sensors.tags, tag),
    isSame(sensors.make, make),
    isSame(sensors.model, model),
    onRoad && sql`${sensors.locationId} IN (SELECT locations.id FROM locations WHERE ${onRoad})`,
    input.hasFault === undefined ? undefined : input.hasFault ? faulty : sql`NOT ${faulty}`,
    warrantyEndsWithin === undefined
      ? undefined
      : sql`${sensors.warrantyUntil} BETWEEN ${today}::date AND ${today}::date + ${warrantyEndsWithin}::integer`,
  );
}

function orderOf({ sortBy, sortOrder }: ListSensorsInput): SQL[] {
  const direction = sortOrder === 'asc' ? asc : desc;
  if (sortBy === 'worst') {
    // The first is the worst, and `desc` begins with it.
    const worst = sortOrder === 'desc' ? asc : desc;
    return [worst(WORST), worst(sensors.statusSince), worst(sortKeys.name), worst(sensors.id)];
  }
  const order = [direction(sortKeys[sortBy]), direction(sensors.id)];
  // The other keys are never null, and NULLS LAST would prevent the use of their index.
  return sortBy === 'lastHeartbeat' ? [asc(isNull(sensors.lastHeartbeat)), ...order] : order;
}

const fleetColumns = {
  id: sensors.id,
  name: sensors.name,
  deviceId: sensors.deviceId,
  type: sensors.type,
  status: sensors.status,
  statusSince: sensors.statusSince,
  ipAddress: sensors.ipAddress,
  coordinates: sensors.coordinates,
  make: sensors.make,
  model: sensors.model,
  serialNumber: sensors.serialNumber,
  warrantyUntil: sensors.warrantyUntil,
  tags: sensors.tags,
  eventsPerMin: sensors.eventsPerMin,
  lastHeartbeat: sensors.lastHeartbeat,
  lastEventAt: sensors.lastEventAt,
  lastEventType: sensors.lastEventType,
  createdAt: sensors.createdAt,
  location: {
    id: locations.id,
    name: locations.name,
    road: locations.road,
    kilometre: locations.kilometre,
  },
};

/** As `listSensors`, with what those who maintain them need. The last event is kept with the sensor: no event is read. */
export async function listFleet(
  db: Executor,
  input: ListSensorsInput,
  today: string,
): Promise<Page<FleetSensor>> {
  const wanted = isListed(input, today);
  const rows = await db
    .select(fleetColumns)
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .where(wanted)
    .orderBy(...orderOf(input))
    .limit(input.take)
    .offset(input.skip);
  const faults = await listOpenFaults(
    db,
    rows.map(({ id }) => id),
  );
  const items = rows.map(({ lastEventAt, lastEventType, ...row }) => {
    const open = faults.get(row.id) ?? [];
    const lastEvent = lastEventAt && { at: lastEventAt, eventType: lastEventType };
    return { ...row, lastEvent, openFaults: open.length, fault: open[0] ?? null };
  });
  return { items, total: await db.$count(sensors, wanted) };
}

/** The makes and models of all sensors, in one spelling each, with the number of sensors. */
export async function listModels(
  db: Executor,
): Promise<{ make: string | null; model: string | null; sensors: number }[]> {
  const { rows } = await db.execute<{ make: string | null; model: string | null; sensors: number }>(sql`
    SELECT min(make) AS make, min(model) AS model, count(*) AS sensors FROM sensors
    WHERE make IS NOT NULL OR model IS NOT NULL
    GROUP BY ${caseFolded(sql`make`)}, ${caseFolded(sql`model`)}
    ORDER BY ${caseFolded(sql`make`)} NULLS LAST, ${caseFolded(sql`model`)} NULLS LAST`);
  return rows;
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
