import { caseFold } from '@gantry/contract/case-fold';
import type { Coordinates } from '@gantry/contract/coordinates';
import type { FleetFileInput, ImportedFleet, ImportedSensors } from '@gantry/contract/fleet';
import {
  type CreateLocationInput,
  createLocationInput,
  type UpdateLocationInput,
  updateLocationInput,
} from '@gantry/contract/locations';
import {
  type CreateSensorInput,
  createSensorInput,
  type UpdateSensorInput,
  updateSensorInput,
} from '@gantry/contract/sensors';
import { recordActivity } from '../../activity/store.ts';
import type { ActorContext, Core } from '../../platform/context.ts';
import { isUniqueViolation } from '../../platform/database/failure.ts';
import { channels, notify } from '../../platform/database/notify.ts';
import { type Executor, inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { AppError } from '../../platform/error.ts';
import { insertLocation, updateLocationRow } from '../locations-store.ts';
import { locationLimits, recordMove } from '../placements-store.ts';
import { forgetSensors, newApiKey } from '../service.ts';
import type { SensorServices } from '../start.ts';
import { recordStatusChange } from '../status-store.ts';
import { insertSensor, updateSensorRow } from '../store.ts';
import { type CellValue, type Given, type LocationItem, locationFields, sensorFields } from './fields.ts';
import {
  describePlan,
  type Flaw,
  type FleetKind,
  planFleet,
  readFleetFile,
  requireApplicable,
} from './plan.ts';
import {
  byName,
  findSensorItems,
  listLocationItems,
  listLocationNames,
  type StoredSensorItem,
} from './store.ts';

type FleetContext = ActorContext<Core & SensorServices>;

type SensorKind = FleetKind<StoredSensorItem, CreateSensorInput, UpdateSensorInput>;
type LocationKind = FleetKind<LocationItem, CreateLocationInput, UpdateLocationInput>;

/**
 * Creates and changes sensors as a file says, all in one transaction, or none. Sensors that the file does not contain stay as
 * they are. A column that it has not changes nothing; an empty cell clears its field, or leaves one that cannot be empty.
 * @throws AppError `badRequest` if the file cannot be understood, or has errors and is to be applied; `conflict` if
 * it would change something else than expected
 */
export async function importSensors(ctx: FleetContext, input: FleetFileInput): Promise<ImportedSensors> {
  const { app, actor, caller } = ctx;
  const file = await readFleetFile(input, sensorFields, 'deviceId');
  const givens = file.rows.map(({ given }) => given);
  if (input.dryRun) {
    const plan = planFleet(await sensorKind(app.db, givens, false), file);
    return { ...describePlan(file, plan, true), keys: [] };
  }
  try {
    const imported = await inTransaction(app.db, async (tx) => {
      const plan = planFleet(await sensorKind(tx, givens, true), file);
      requireApplicable(plan, input.expected);
      const keys: ImportedSensors['keys'] = [];
      for (const row of plan.rows) {
        if (row.result === 'NEW') keys.push(await register(tx, actor.id, row.input));
        else if (row.result === 'CHANGED') await change(tx, row.item, row.input);
      }
      const applied = describePlan(file, plan, false);
      const { created, changed } = applied;
      await recordActivity(tx, actor.id, caller, 'sensors.import', { created, changed });
      await notify(tx, channels.sensors, '*');
      return { ...applied, keys };
    });
    forgetSensors(app);
    return imported;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError(
      'conflict',
      'Nothing was changed: somebody else registered one of the sensors meanwhile, so compare the file again',
    );
  }
}

async function register(
  tx: Transaction,
  userId: string,
  input: CreateSensorInput,
): Promise<ImportedSensors['keys'][number]> {
  const { id, deviceId, name, apiKey, status, createdAt } = await insertSensor(tx, {
    ...input,
    apiKey: newApiKey(),
  });
  await recordStatusChange(tx, {
    sensorId: id,
    from: null,
    to: status,
    reason: 'registered',
    userId,
    at: createdAt,
  });
  return { id, deviceId, name, apiKey };
}

async function change(tx: Transaction, item: StoredSensorItem, input: UpdateSensorInput): Promise<void> {
  const { id, ...fields } = input;
  const { locationId } = await updateSensorRow(tx, id, fields);
  await recordMove(tx, id, item.locationId, locationId);
}

/** As `importSensors`, for locations. A row is recognised by its id, and otherwise by its name. */
export async function importLocations(ctx: FleetContext, input: FleetFileInput): Promise<ImportedFleet> {
  const { app, actor, caller } = ctx;
  const file = await readFleetFile(input, locationFields, 'name');
  if (input.dryRun) {
    return describePlan(file, planFleet(locationKind(await listLocationItems(app.db)), file), true);
  }
  const imported = await inTransaction(app.db, async (tx) => {
    const plan = planFleet(locationKind(await listLocationItems(tx, true)), file);
    requireApplicable(plan, input.expected);
    for (const row of plan.rows) {
      if (row.result === 'NEW') await insertLocation(tx, row.input);
      else if (row.result === 'CHANGED') {
        const { id, ...fields } = row.input;
        const { speedLimit } = await updateLocationRow(tx, id, fields);
        await locationLimits.record(tx, id, row.item.speedLimit, speedLimit);
      }
    }
    const applied = describePlan(file, plan, false);
    const { created, changed } = applied;
    await recordActivity(tx, actor.id, caller, 'locations.import', { created, changed });
    await notify(tx, channels.sensors, '*');
    return applied;
  });
  forgetSensors(app);
  return imported;
}

/** The fields of the API that a row says as they are, if the file has their columns. */
function takeOver(row: Given, names: readonly string[]): Record<string, CellValue> {
  return Object.fromEntries(names.flatMap((name) => (row.has(name) ? [[name, row.get(name) ?? null]] : [])));
}

/** The fields of the API that cannot be empty: an empty cell leaves them as they are. */
function takeOverGiven(row: Given, names: readonly string[]): Record<string, CellValue> {
  return Object.fromEntries(Object.entries(takeOver(row, names)).filter(([, value]) => value !== null));
}

/**
 * The coordinates that a row says; what it has no columns for stays as it is.
 * @param hasAddress whether the address belongs to them
 */
function coordinatesOf(
  row: Given,
  present: Coordinates | null,
  hasAddress: boolean,
): { readonly coordinates?: Record<string, CellValue> | null } | Flaw {
  const names = ['latitude', 'longitude', ...(hasAddress ? (['address'] as const) : [])] as const;
  if (!names.some((name) => row.has(name))) return {};
  const [latitude, longitude, address] = (['latitude', 'longitude', 'address'] as const).map((name) =>
    row.has(name) && (name !== 'address' || hasAddress) ? (row.get(name) ?? null) : (present?.[name] ?? null),
  );
  if (latitude === null && longitude === null && address === null) return { coordinates: null };
  const missing = latitude === null ? 'latitude' : longitude === null ? 'longitude' : null;
  if (missing !== null)
    return { column: missing, message: 'Give the latitude and the longitude, in degrees' };
  return {
    coordinates: {
      ...{ latitude: latitude ?? null, longitude: longitude ?? null },
      ...(address != null && { address }),
    },
  };
}

const SENSOR_TEXTS = [
  'ipAddress',
  'lane',
  'direction',
  'make',
  'model',
  'serialNumber',
  'warrantyUntil',
  'certificatePlace',
  'tags',
  'description',
];
const SENSOR_MUST = ['name', 'type', 'eventsPerMin', 'requiresHeartbeats'];

async function sensorKind(db: Executor, rows: readonly Given[], locks: boolean): Promise<SensorKind> {
  const deviceIds = rows.flatMap((row) => row.get('deviceId') ?? []) as string[];
  const items = new Map((await findSensorItems(db, deviceIds, locks)).map((item) => [item.deviceId, item]));
  const places = byName(await listLocationNames(db, locks));
  const locationOf = (row: Given): { locationId?: string | null } | Flaw => {
    if (!row.has('location')) return {};
    const name = row.get('location') as string | null;
    if (name === null) return { locationId: null };
    const [found, other] = places.get(caseFold(name)) ?? [];
    const shown = JSON.stringify(name);
    if (!found)
      return { column: 'location', message: `No location is named ${shown}: import or create it first` };
    return other
      ? { column: 'location', message: `Several locations are named ${shown}: give them different names` }
      : { locationId: found.id };
  };
  return {
    key: 'deviceId',
    create: createSensorInput,
    update: updateSensorInput,
    find: (row) => {
      const deviceId = row.get('deviceId') as string | null;
      return deviceId === null
        ? { column: 'deviceId', message: 'Must not be empty' }
        : { item: items.get(deviceId) ?? null };
    },
    inputOf: (row, item) => {
      const place = locationOf(row);
      if ('message' in place) return place;
      const at = coordinatesOf(row, item?.coordinates ?? null, true);
      if ('message' in at) return at;
      const given = { ...takeOver(row, SENSOR_TEXTS), ...takeOverGiven(row, SENSOR_MUST), ...place, ...at };
      return { input: item ? given : { deviceId: row.get('deviceId'), ...given } };
    },
    applied: (row, item, input) => {
      const { id: _, ...fields } = input as UpdateSensorInput;
      const names = places.get(caseFold(String(row.get('location') ?? ''))) ?? [];
      const locationName = row.has('location') ? (names[0]?.name ?? null) : (item?.locationName ?? null);
      return {
        ...(item ?? ({} as StoredSensorItem)),
        ...(fields as Partial<StoredSensorItem>),
        locationName,
      };
    },
  };
}

const LOCATION_TEXTS = [
  'speedLimit',
  'speedUnits',
  'road',
  'kilometre',
  'direction',
  'lanes',
  'hasShoulder',
  'description',
];
const LOCATION_MUST = ['name', 'address'];

function locationKind(all: readonly LocationItem[]): LocationKind {
  const byId = new Map(all.map((item) => [item.id, item]));
  const named = byName(all);
  return {
    key: 'name',
    create: createLocationInput,
    update: updateLocationInput,
    find: (row) => {
      const id = row.get('id') as string | null | undefined;
      const name = row.get('name') as string | null;
      if (id) {
        const item = byId.get(id.toLowerCase());
        return item
          ? { item }
          : { column: 'id', message: 'No location has this id: leave it empty for a new one' };
      }
      const [item, other] = named.get(caseFold(name ?? '')) ?? [];
      return other
        ? { column: 'name', message: `Several locations have this name: add a column id to tell them apart` }
        : { item: item ?? null };
    },
    inputOf: (row, item) => {
      const at = coordinatesOf(row, item?.coordinates ?? null, false);
      if ('message' in at) return at;
      return { input: { ...takeOver(row, LOCATION_TEXTS), ...takeOverGiven(row, LOCATION_MUST), ...at } };
    },
    applied: (_row, item, input) => ({
      ...(item ?? ({} as LocationItem)),
      ...(input as Partial<LocationItem>),
    }),
  };
}
