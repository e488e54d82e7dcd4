import type { Page } from '@gantry/contract/page';
import type { ListSensorsInput, LocatedSensor, Sensor } from '@gantry/contract/sensors';
import { and, asc, count, desc, eq, isNull, or } from 'drizzle-orm';
import { contains, sortedName } from '../platform/database/folded.ts';
import { locations, sensors } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { sensorColumns } from './store.ts';

const sortKeys = {
  name: sortedName(sensors.name),
  type: sensors.type,
  status: sensors.status,
  createdAt: sensors.createdAt,
  lastHeartbeat: sensors.lastHeartbeat,
};

/** Sensors whose name or deviceId contains the search text, taken literally and without regard to case. */
export const listSensors = async (
  db: Executor,
  { skip, take, search, type, status, sortBy, sortOrder }: ListSensorsInput,
): Promise<Page<Sensor>> => {
  const sought =
    search === undefined ? undefined : or(contains(sensors.name, search), contains(sensors.deviceId, search));
  const wanted = and(sought, type && eq(sensors.type, type), status && eq(sensors.status, status));
  const direction = sortOrder === 'asc' ? asc : desc;
  const order = [direction(sortKeys[sortBy]), direction(sensors.id)];
  // The other keys are never null, and NULLS LAST would keep their index from being used.
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
};

/** Every sensor with the location it stands at, newest first. */
export const listLocatedSensors = (db: Executor): Promise<LocatedSensor[]> =>
  db
    .select({
      ...sensorColumns,
      location: { id: locations.id, name: locations.name, address: locations.address },
    })
    .from(sensors)
    .leftJoin(locations, eq(locations.id, sensors.locationId))
    .orderBy(desc(sensors.createdAt), desc(sensors.id));
