import type { Corridor } from '@gantry/contract/corridors';
import { isUuid } from '@gantry/contract/id';
import type {
  CreateLocationInput,
  ListLocationsInput,
  Location,
  LocationInFull,
  UpdateLocationInput,
} from '@gantry/contract/locations';
import type { Page } from '@gantry/contract/page';
import { and, asc, count, desc, eq, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm';
import { caseFolded, contains, sortedName } from '../platform/database/case-folded.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { found, notFound } from '../platform/error.ts';

const columns = {
  id: locations.id,
  name: locations.name,
  address: locations.address,
  coordinates: locations.coordinates,
  description: locations.description,
  speedLimit: locations.speedLimit,
  road: locations.road,
  kilometre: locations.kilometre,
  direction: locations.direction,
  lanes: locations.lanes,
  hasShoulder: locations.hasShoulder,
  speedUnits: locations.speedUnits,
  sensorCount: count(sensors.id),
  createdAt: locations.createdAt,
  updatedAt: locations.updatedAt,
};

/** @throws AppError `notFound` */
export async function getLocation(db: Executor, id: string): Promise<LocationInFull> {
  return found(isUuid(id) ? await selectLocations(db).where(eq(locations.id, id)) : [], 'Location');
}

/** Whether a location has this id, which must be a UUID. */
export async function isLocation(db: Executor, id: string): Promise<boolean> {
  return (await db.select({ id: locations.id }).from(locations).where(eq(locations.id, id))).length > 0;
}

const sortKeys = {
  name: sortedName(locations.name),
  createdAt: locations.createdAt,
  kilometre: locations.kilometre,
};

/** Whether a location is on a part of a road; undefined for any place. */
export function isOnRoad({ road, fromKilometre, toKilometre }: Corridor): SQL | undefined {
  if (road === undefined) return undefined;
  return and(
    sql`${caseFolded(locations.road)} = ${caseFolded(road)}`,
    fromKilometre === undefined ? undefined : sql`${locations.kilometre} >= ${fromKilometre}::numeric`,
    toKilometre === undefined ? undefined : sql`${locations.kilometre} <= ${toKilometre}::numeric`,
  );
}

/** Locations whose name or address contains the search text, which is taken literally and without regard to case. */
export async function listLocations(
  db: Executor,
  { skip, take, search, sortBy, sortOrder, ...place }: ListLocationsInput,
): Promise<Page<Location>> {
  const sought = and(
    search === undefined
      ? undefined
      : or(contains(locations.name, search), contains(locations.address, search)),
    isOnRoad(place),
  );
  const direction = sortOrder === 'asc' ? asc : desc;
  const order = [direction(sortKeys[sortBy]), direction(locations.id)];
  // The other keys are never null, and NULLS LAST would prevent the use of their index.
  if (sortBy === 'kilometre') order.unshift(asc(isNull(locations.kilometre)));
  const items = await selectLocations(db)
    .where(sought)
    .orderBy(...order)
    .limit(take)
    .offset(skip);
  const [counted] = await db.select({ total: count() }).from(locations).where(sought);
  return { items, total: counted?.total ?? 0 };
}

/** The roads of all locations, in the spelling of the first of each, with the number of locations. */
export async function listRoads(db: Executor): Promise<{ road: string; locations: number }[]> {
  const key = caseFolded(locations.road);
  return db
    .select({ road: sql<string>`min(${locations.road})`, locations: count() })
    .from(locations)
    .where(isNotNull(locations.road))
    .groupBy(key)
    .orderBy(key);
}

/**
 * The speed limit (km/h) of a location, which is locked until the transaction ends.
 * @throws AppError `notFound`
 */
export async function getSpeedLimitLocked(tx: Executor, id: string): Promise<number | null> {
  const row = found(
    isUuid(id)
      ? await tx
          .select({ speedLimit: locations.speedLimit })
          .from(locations)
          .where(eq(locations.id, id))
          .for('no key update')
      : [],
    'Location',
  );
  return row.speedLimit;
}

/** @returns the id of the new location */
export async function insertLocation(db: Executor, fields: CreateLocationInput): Promise<string> {
  const [row] = await db.insert(locations).values(fields).returning({ id: locations.id });
  if (!row) throw new Error('PostgreSQL did not return the inserted location');
  return row.id;
}

/**
 * Sets the given fields; `null` clears a field.
 * @throws AppError `notFound`
 */
export async function updateLocationRow(
  db: Executor,
  id: string,
  fields: Omit<UpdateLocationInput, 'id'>,
): Promise<Location> {
  if (!isUuid(id)) throw notFound('Location');
  await db
    .update(locations)
    .set({ ...fields, updatedAt: sql`now()` })
    .where(eq(locations.id, id));
  return getLocation(db, id);
}

/**
 * PostgreSQL refuses (23503) while sensors are assigned to it.
 * @returns the deleted location
 * @throws AppError `notFound`
 */
export async function deleteLocationRow(db: Executor, id: string): Promise<{ id: string; name: string }> {
  return found(
    isUuid(id)
      ? await db.delete(locations).where(eq(locations.id, id)).returning({
          id: locations.id,
          name: locations.name,
        })
      : [],
    'Location',
  );
}

function selectLocations(db: Executor) {
  return db
    .select(columns)
    .from(locations)
    .leftJoin(sensors, eq(sensors.locationId, locations.id))
    .groupBy(locations.id)
    .$dynamic();
}
