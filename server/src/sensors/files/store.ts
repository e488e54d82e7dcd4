import { caseFold } from '@gantry/contract/case-fold';
import { asc, eq, inArray } from 'drizzle-orm';
import { locations, sensors } from '../../platform/database/tables.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { LocationItem, SensorItem } from './fields.ts';

/** A sensor with its id, as it is compared with a row. */
export interface StoredSensorItem extends SensorItem {
  readonly id: string;
  readonly locationId: string | null;
}

const sensorItem = {
  id: sensors.id,
  deviceId: sensors.deviceId,
  name: sensors.name,
  type: sensors.type,
  locationId: sensors.locationId,
  locationName: locations.name,
  coordinates: sensors.coordinates,
  ipAddress: sensors.ipAddress,
  eventsPerMin: sensors.eventsPerMin,
  requiresHeartbeats: sensors.requiresHeartbeats,
  lane: sensors.lane,
  direction: sensors.direction,
  make: sensors.make,
  model: sensors.model,
  serialNumber: sensors.serialNumber,
  warrantyUntil: sensors.warrantyUntil,
  certificatePlace: sensors.certificatePlace,
  tags: sensors.tags,
  description: sensors.description,
};

/** All sensors, by name. */
export function listSensorItems(db: Executor): Promise<StoredSensorItem[]> {
  return selectSensors(db).orderBy(asc(sensors.name), asc(sensors.id));
}

/** The sensors with these deviceIds. @param locks whether they are locked until the transaction ends */
export async function findSensorItems(
  db: Executor,
  deviceIds: readonly string[],
  locks: boolean,
): Promise<StoredSensorItem[]> {
  // Locked in one order, so that two imports wait for one another.
  const found = selectSensors(db)
    .where(inArray(sensors.deviceId, [...deviceIds]))
    .orderBy(asc(sensors.id));
  return locks ? found.for('no key update', { of: sensors }) : found;
}

function selectSensors(db: Executor) {
  return db
    .select(sensorItem)
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .$dynamic();
}

const locationItem = {
  id: locations.id,
  name: locations.name,
  address: locations.address,
  coordinates: locations.coordinates,
  speedLimit: locations.speedLimit,
  speedUnits: locations.speedUnits,
  road: locations.road,
  kilometre: locations.kilometre,
  direction: locations.direction,
  lanes: locations.lanes,
  hasShoulder: locations.hasShoulder,
  description: locations.description,
};

/** All locations, by name. @param locks whether they are locked until the transaction ends */
export async function listLocationItems(db: Executor, locks = false): Promise<LocationItem[]> {
  const found = db
    .select(locationItem)
    .from(locations)
    .orderBy(asc(locations.name), asc(locations.id))
    .$dynamic();
  return locks ? found.for('no key update') : found;
}

/** Items by name without regard to case; several may have the same. */
export function byName<Item extends { readonly name: string }>(
  items: readonly Item[],
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = caseFold(item.name);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The names of all locations. @param locks whether none of them can be deleted until the transaction ends */
export async function listLocationNames(
  db: Executor,
  locks: boolean,
): Promise<{ readonly id: string; readonly name: string }[]> {
  const found = db
    .select({ id: locations.id, name: locations.name })
    .from(locations)
    .orderBy(asc(locations.id))
    .$dynamic();
  return locks ? found.for('key share') : found;
}
