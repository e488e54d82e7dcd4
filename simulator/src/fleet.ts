import type { GantryClient } from '@gantry/client';
import { MAX_TAKE } from '@gantry/contract/page';
import type { RegisteredSensor } from './device.ts';
import { identityOf } from './health.ts';
import { addressOf, isFreeway, limitKmh, type Place, roadOf } from './places.ts';
import { kilometreOf } from './roads.ts';
import { devicePrefix, type VirtualSensor, virtualSensor } from './sensor.ts';

type Api = GantryClient['api'];

/** The sensors of a simulation, all registered with the service. */
export interface Fleet {
  readonly sensors: readonly RegisteredSensor[];
  /** How many of them were not registered before. */
  readonly created: number;
}

/** Number of concurrent registrations. */
const AT_ONCE = 50;

/** Registers the first `count` sensors of the seed at their places, or finds those that are registered already. */
export async function prepareFleet(api: Api, seed: number, count: number): Promise<Fleet> {
  const wanted = Array.from({ length: count }, (_, index) => virtualSensor(seed, index));
  return ensureSensors(api, devicePrefix(seed), wanted);
}

/** Registers sensors at their places, or finds those that are registered already. */
export async function ensureSensors(
  api: Api,
  prefix: string,
  wanted: readonly VirtualSensor[],
): Promise<Fleet> {
  const known = await findKnown(api, prefix);
  const missing = wanted.filter(({ deviceId }) => !known.has(deviceId));

  const places = [...new Set(missing.map(({ place }) => place))];
  const ids = await inGroups(places, (place) => ensureLocation(api, place));
  const locations = new Map(places.map((place, index) => [place, ids[index]]));

  const register = async (sensor: VirtualSensor): Promise<void> => {
    const { name, deviceId, type, eventsPerMin, place } = sensor;
    const created = await api.sensors.create.mutate({
      name,
      deviceId,
      type,
      eventsPerMin,
      ipAddress: identityOf(sensor).ipAddress,
      coordinates: { latitude: place.latitude, longitude: place.longitude, address: addressOf(place) },
      locationId: locations.get(place),
      tags: tagsOf(sensor),
      description: 'A virtual sensor of the simulator',
    });
    known.set(deviceId, created.apiKey);
  };
  await inGroups(missing, register);

  const sensors = wanted.map((sensor) => ({ sensor, apiKey: known.get(sensor.deviceId) ?? '' }));
  return { sensors, created: missing.length };
}

/** By which lists and rules select sensors. */
function tagsOf({ place, type }: VirtualSensor): string[] {
  return [isFreeway(place) ? 'freeway' : 'arterial', ...(ENFORCES.has(type) ? ['enforcement'] : [])];
}

const ENFORCES: ReadonlySet<VirtualSensor['type']> = new Set(['CAMERA', 'SPEED_DETECTOR', 'EDGE_CONTROLLER']);

async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}

/** The keys of the sensors of this seed that are registered already, by device id. */
async function findKnown(api: Api, prefix: string): Promise<Map<string, string>> {
  const known = new Map<string, string>();
  for (let skip = 0; ; skip += MAX_TAKE) {
    const search = { search: prefix, sortBy: 'createdAt', sortOrder: 'asc', skip, take: MAX_TAKE } as const;
    const { sensors, total } = await api.sensors.getAll.query(search);
    for (const { deviceId, apiKey } of sensors) if (deviceId.startsWith(prefix)) known.set(deviceId, apiKey);
    if (sensors.length === 0 || skip + MAX_TAKE >= total) return known;
  }
}

/** The id of the location with that name, which is created if necessary. */
async function ensureLocation(api: Api, place: Place): Promise<string> {
  const { locations } = await api.locations.getAll.query({ search: place.name, take: MAX_TAKE });
  const found = locations.find(({ name }) => name === place.name);
  if (found) return found.id;
  const { latitude, longitude } = place;
  const road = roadOf(place);
  const created = await api.locations.create.mutate({
    name: place.name,
    address: addressOf(place),
    coordinates: { latitude, longitude },
    speedLimit: limitKmh(place),
    road,
    kilometre: kilometreOf(road, latitude, longitude),
    lanes: isFreeway(place) ? 6 : 4,
    description: `Posted limit ${place.limitMph} mph (${Math.round(limitKmh(place))} km/h)`,
  });
  return created.id;
}
