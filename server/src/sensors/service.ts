import { randomBytes } from 'node:crypto';
import { isUuid } from '@gantry/contract/id';
import type { CreateSensorInput, RotateKeyInput, Sensor, UpdateSensorInput } from '@gantry/contract/sensors';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../platform/database/failure.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import type { RealtimeServices } from '../realtime/start.ts';
import { publishFault } from './faults.ts';
import { endFaults } from './faults-store.ts';
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
  removeFromConnections,
  updateSensorRow,
} from './store.ts';

export type SensorContext = ActorContext<Core & SensorServices & Pick<RealtimeServices, 'outbox'>>;

/** The reason for a status that is set by hand, if none is given. */
export const BY_HAND = 'set by hand';

/** The reason at the end of the status history of a deleted sensor. */
const DELETED = 'deleted';
/** The reason at the end of its faults. */
const SENSOR_DELETED = 'The sensor was deleted';

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
  { id, validFrom, validUntil, reason, ...given }: UpdateSensorInput,
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
      const after = await changeRow(ctx, tx, before, changes, reason || BY_HAND);
      if (past) await moveInPast(tx, before, locationId, past);
      else await recordMove(tx, after.id, before.locationId, after.locationId);
      const details = {
        ...nameOf(after),
        fields: givenFields(given),
        ...(past && { validFrom, validUntil }),
        ...(reason && { reason }),
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
  changes: Omit<UpdateSensorInput, 'id' | 'reason'>,
  reason: string,
): Promise<Sensor> {
  const changesStatus = changes.status !== undefined && changes.status !== before.status;
  const at = changesStatus ? await timeOfChange(tx, before.id) : undefined;
  const after = await updateSensorRow(tx, before.id, changes, at);
  if (at !== undefined) {
    const { id: sensorId, name: sensorName, status: to } = after;
    const change = { from: before.status, to, at };
    await recordStatusChange(tx, { sensorId, ...change, reason, userId: actor.id });
    await publishStatus(app, tx, [{ sensorId, sensorName, ...change }], reason);
  }
  return after;
}

/**
 * Deletes a sensor: its key becomes invalid, its connections are deleted, NVRs no longer name it, its assignments and faults end, and its
 * deviceId is free. Its events stay, and so do its status history and its locations up to now, which the traffic figures of its locations need.
 * @throws AppError `notFound`
 */
export async function deleteSensor(ctx: SensorContext, id: string): Promise<{ success: true; id: string }> {
  const gone = await changeSensor(ctx, async (tx) => {
    const sensor = await getSensorLocked(tx, id);
    await recordMove(tx, sensor.id, sensor.locationId, null);
    await recordDeletedType(tx, sensor.id, sensor.type);
    await endAssignments(tx, sensor.id);
    for (const fault of await endFaults(tx, sensor.id, SENSOR_DELETED, ctx.actor.id))
      await publishFault(tx, fault);
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

export function unknownLocation(): AppError {
  return invalidInput('locationId', 'No location has this locationId: use the id of an existing one');
}

/** @throws AppError `badRequest` for an unknown location */
async function moveInPast(tx: Transaction, sensor: Sensor, to: string | null, past: Past): Promise<void> {
  if (to !== null && !(await isLocation(tx, to))) throw unknownLocation();
  await correctMove(tx, sensor.id, sensor.locationId, to, past);
}

/** @throws AppError `badRequest` for a text that is never the id of a location */
export function requireLocationForm(locationId: string | null | undefined): void {
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
