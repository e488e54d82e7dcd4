import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { caseFold } from '@gantry/contract/case-fold';
import type { UpdateManyInput } from '@gantry/contract/fleet';
import { isUuid } from '@gantry/contract/id';
import {
  type CreateSensorInput,
  MAX_TAGS,
  type RotateKeyInput,
  type Sensor,
  type UpdateSensorInput,
} from '@gantry/contract/sensors';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../platform/database/failure.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { replaceKey } from './keys-store.ts';
import { isLocation } from './locations-store.ts';
import { pastOf } from './past.ts';
import { correctMove, endAssignments, type Past, recordDeletedType, recordMove } from './placements-store.ts';
import type { SensorServices } from './start.ts';
import { publishStatus } from './status.ts';
import { recordStatusChange, timeOfChange } from './status-store.ts';
import {
  deleteSensorRow,
  getSensor,
  getSensorLocked,
  insertSensor,
  listSensorsLocked,
  removeFromConnections,
  updateSensorRow,
} from './store.ts';

type SensorContext = ActorContext<Core & SensorServices & Pick<RealtimeServices, 'outbox'>>;

const BY_HAND = 'set by hand';

/** The reason at the end of the status history of a deleted sensor. */
const DELETED = 'deleted';

/**
 * Registers a sensor, OFFLINE, with a new API key, which is part of the answer.
 * @param also what is committed with it; if that throws, there is no sensor
 * @throws AppError `badRequest` when the deviceId is in use or the location does not exist
 */
export async function createSensor(
  { app, actor, caller }: SensorContext,
  input: CreateSensorInput,
  also?: (tx: Transaction, sensor: Sensor) => Promise<void>,
): Promise<Sensor> {
  requireLocationForm(input.locationId);
  try {
    const created = await inTransaction(app.db, async (tx) => {
      const sensor = await insertSensor(tx, { ...input, apiKey: newApiKey() });
      await recordStatusChange(tx, {
        sensorId: sensor.id,
        from: null,
        to: sensor.status,
        reason: 'registered',
        userId: actor.id,
        at: sensor.createdAt,
      });
      await recordActivity(tx, actor.id, caller, 'sensors.create', nameOf(sensor));
      await notify(tx, channels.sensors, sensor.id);
      await also?.(tx, sensor);
      return sensor;
    });
    app.publicSensors.forget();
    return created;
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownLocation();
    if (!isUniqueViolation(error)) throw error;
    throw new AppError(
      'badRequest',
      `The deviceId "${input.deviceId}" is already in use: choose another one`,
    );
  }
}

/**
 * Sets the given fields. Concurrent heartbeats wait and apply to the result.
 * @throws AppError `notFound`; `badRequest` when the location does not exist
 */
export async function updateSensor(
  ctx: SensorContext,
  { id, validFrom, validUntil, ...given }: UpdateSensorInput,
): Promise<Sensor> {
  const { app, actor, caller } = ctx;
  const past = pastOf(
    { validFrom, validUntil },
    {
      field: 'locationId',
      isGiven: given.locationId !== undefined,
      timezone: app.settings.current().timezone,
      now: app.clock.now(),
    },
  );
  const { locationId = null, ...others } = given;
  // What ended is not where it is now.
  const changes = past?.until == null ? given : others;
  try {
    return await changeSensor(ctx, async (tx) => {
      const before = await getSensorLocked(tx, id);
      requireLocationForm(given.locationId);
      const after = await changeRow(ctx, tx, before, changes);
      if (past) await moveInPast(tx, before, locationId, past);
      else await recordMove(tx, after.id, before.locationId, after.locationId);
      const details = {
        ...nameOf(after),
        fields: givenFields(given),
        ...(past && { validFrom, validUntil }),
      };
      await recordActivity(tx, actor.id, caller, 'sensors.update', details);
      return after;
    });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownLocation();
    throw error;
  }
}

/** Sets the given fields of a sensor that the transaction has locked, and announces its status if that changes. */
async function changeRow(
  { app, actor }: SensorContext,
  tx: Transaction,
  before: Sensor,
  changes: Omit<UpdateSensorInput, 'id'>,
): Promise<Sensor> {
  const changesStatus = changes.status !== undefined && changes.status !== before.status;
  const at = changesStatus ? await timeOfChange(tx, before.id) : undefined;
  const after = await updateSensorRow(tx, before.id, changes, at);
  if (at !== undefined) {
    const { id: sensorId, name: sensorName, status: to } = after;
    const change = { from: before.status, to, at };
    await recordStatusChange(tx, { sensorId, ...change, reason: BY_HAND, userId: actor.id });
    await publishStatus(app, tx, [{ sensorId, sensorName, ...change }], BY_HAND);
  }
  return after;
}

/**
 * Sets the given fields of several sensors, all in one transaction, or none.
 * @throws AppError `badRequest` naming the first of `ids` that is no sensor, or that would have too many tags; or when the
 * location does not exist
 */
export async function updateSensors(
  ctx: SensorContext,
  { ids, addTags = [], removeTags = [], ...fields }: UpdateManyInput,
): Promise<{ changed: number; same: number }> {
  const { app, actor, caller } = ctx;
  requireLocationForm(fields.locationId);
  const given = givenFields({ ...fields, ...(addTags.length + removeTags.length > 0 && { tags: [] }) });
  try {
    const counts = await inTransaction(app.db, async (tx) => {
      const sensors = await listSensorsLocked(tx, ids);
      const missing = ids.findIndex((id) => !sensors.some((sensor) => sensor.id === id.toLowerCase()));
      if (missing >= 0) throw invalidInput(`ids.${missing}`, 'No sensor has this id');
      let changed = 0;
      for (const before of sensors) {
        const tags = changedTags(before, addTags, removeTags);
        const after = await changeRow(ctx, tx, before, { ...fields, ...(tags && { tags }) });
        await recordMove(tx, after.id, before.locationId, after.locationId);
        if (isChanged(before, after)) changed++;
      }
      await recordActivity(tx, actor.id, caller, 'sensors.updateMany', {
        sensors: sensors.length,
        names: sensors.slice(0, NAMED).map(({ name }) => name),
        fields: given,
      });
      await notify(tx, channels.sensors, '*');
      return { changed, same: sensors.length - changed };
    });
    forgetSensors(app);
    return counts;
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownLocation();
    throw error;
  }
}

/** The number of sensors that an entry of the activity log names. */
const NAMED = 20;

/** The tags of a sensor after a change; undefined if none is asked for. @throws AppError `badRequest` for too many */
function changedTags(
  { name, tags }: Sensor,
  added: readonly string[],
  removed: readonly string[],
): string[] | undefined {
  if (added.length + removed.length === 0) return undefined;
  const gone = new Set(removed.map(caseFold));
  const kept = tags.filter((tag) => !gone.has(caseFold(tag)));
  const known = new Set(kept.map(caseFold));
  const all = [...kept, ...added.filter((tag) => !known.has(caseFold(tag)))];
  if (all.length <= MAX_TAGS) return all;
  throw invalidInput(
    'addTags',
    `The sensor ${JSON.stringify(name)} would have ${all.length} tags: a sensor has at most ${MAX_TAGS}`,
  );
}

function isChanged(before: Sensor, after: Sensor): boolean {
  const { updatedAt: _, ...was } = before;
  const { updatedAt: __, ...is } = after;
  return !isDeepStrictEqual(was, is);
}

/**
 * Deletes a sensor: its key becomes invalid, its connections are deleted, NVRs no longer name it, its assignments end, and its
 * deviceId is free. Its events stay, and so do its status history and its locations up to now, which the traffic figures of its locations need.
 * @throws AppError `notFound`
 */
export async function deleteSensor(ctx: SensorContext, id: string): Promise<{ success: true; id: string }> {
  const gone = await changeSensor(ctx, async (tx) => {
    const sensor = await getSensorLocked(tx, id);
    await recordMove(tx, sensor.id, sensor.locationId, null);
    await recordDeletedType(tx, sensor.id, sensor.type);
    await endAssignments(tx, sensor.id);
    await recordStatusChange(tx, {
      sensorId: sensor.id,
      from: sensor.status,
      to: 'OFFLINE',
      reason: DELETED,
      userId: ctx.actor.id,
      at: await timeOfChange(tx, sensor.id),
    });
    await deleteSensorRow(tx, sensor.id);
    await removeFromConnections(tx, sensor.id);
    await notify(tx, channels.connections, '');
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'sensors.delete', nameOf(sensor));
    return sensor;
  });
  return { success: true, id: gone.id };
}

/**
 * Replaces the key of a sensor. The previous one is accepted for another `overlapMinutes`; older ones become invalid.
 * @throws AppError `notFound`
 */
export async function rotateKey(
  ctx: SensorContext,
  { id, overlapMinutes }: RotateKeyInput,
): Promise<{ id: string; apiKey: string }> {
  const sensor = await changeSensor(ctx, async (tx) => {
    await replaceKey(tx, id, { apiKey: newApiKey(), overlapMinutes });
    const rotated = await getSensor(tx, id);
    const details = { ...nameOf(rotated), ...(overlapMinutes > 0 && { overlapMinutes }) };
    await recordActivity(tx, ctx.actor.id, ctx.caller, 'sensors.rotateKey', details);
    return rotated;
  });
  return { id: sensor.id, apiKey: sensor.apiKey };
}

/** The key of a sensor, which is not shown without a record of it. @throws AppError `notFound` */
export function revealKey(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ id: string; apiKey: string }> {
  return inTransaction(app.db, async (tx) => {
    const sensor = await getSensor(tx, id);
    await recordActivity(tx, actor.id, caller, 'sensors.revealKey', nameOf(sensor));
    return { id: sensor.id, apiKey: sensor.apiKey };
  });
}

/** A sensor's entry in the activity log, without its key. */
function nameOf({ id, name, deviceId }: Sensor) {
  return { sensorId: id, name, deviceId };
}

function unknownLocation(): AppError {
  return invalidInput('locationId', 'No location has this locationId: use the id of an existing one');
}

/** @throws AppError `badRequest` for an unknown location */
async function moveInPast(tx: Transaction, sensor: Sensor, to: string | null, past: Past): Promise<void> {
  if (to !== null && !(await isLocation(tx, to))) throw unknownLocation();
  await correctMove(tx, sensor.id, sensor.locationId, to, past);
}

function requireLocationForm(locationId: string | null | undefined): void {
  if (locationId && !isUuid(locationId)) throw unknownLocation();
}

/**
 * Commits a change that affects ingestion: this process updates its caches at once, the others when they are
 * notified.
 */
async function changeSensor(
  { app }: SensorContext,
  change: (tx: Transaction) => Promise<Sensor>,
): Promise<Sensor> {
  const sensor = await inTransaction(app.db, async (tx) => {
    const changed = await change(tx);
    await notify(tx, channels.sensors, changed.id);
    return changed;
  });
  app.sensorKeys.forget(sensor.id);
  app.knownSensors.forget(sensor.id);
  app.publicSensors.forget();
  return sensor;
}

/** Makes this process read all sensors again, after many were changed. */
export function forgetSensors(
  app: Pick<SensorServices, 'sensorKeys' | 'knownSensors' | 'publicSensors'>,
): void {
  app.sensorKeys.forgetAll();
  app.knownSensors.forgetAll();
  app.publicSensors.forget();
}

/** 256 random bits as 64 hexadecimal characters. */
export function newApiKey(): string {
  return randomBytes(32).toString('hex');
}
