import type { CreateLocationInput, Location, UpdateLocationInput } from '@gantry/contract/locations';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isForeignKeyViolation } from '../platform/database/failure.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import {
  deleteLocationRow,
  getLocation,
  getSpeedLimitLocked,
  insertLocation,
  updateLocationRow,
} from './locations-store.ts';
import { pastOf } from './past.ts';
import { locationLimits } from './placements-store.ts';
import { forgetSensors } from './service.ts';
import type { SensorServices } from './start.ts';

export function createLocation(
  { app, actor, caller }: ActorContext,
  input: CreateLocationInput,
): Promise<Location> {
  return inTransaction(app.db, async (tx) => {
    const location = await getLocation(tx, await insertLocation(tx, input));
    const details = { locationId: location.id, name: location.name };
    await recordActivity(tx, actor.id, caller, 'locations.create', details);
    return location;
  });
}

/**
 * Sets the given fields. Ingestion discards its cached name and speed limit.
 * @throws AppError `notFound`
 */
export async function updateLocation(
  {
    app,
    actor,
    caller,
  }: ActorContext<Core & Pick<SensorServices, 'sensorKeys' | 'knownSensors' | 'publicSensors'>>,
  { id, validFrom, validUntil, ...given }: UpdateLocationInput,
): Promise<Location> {
  const concernsIngestion = given.name !== undefined || given.speedLimit !== undefined;
  const past = pastOf(
    { validFrom, validUntil },
    {
      field: 'speedLimit',
      isGiven: given.speedLimit !== undefined,
      timezone: app.settings.current().timezone,
      now: app.clock.now(),
    },
  );
  const { speedLimit = null, ...others } = given;
  // A limit that ended is not the present one.
  const changes = past?.until == null ? given : others;
  const location = await inTransaction(app.db, async (tx) => {
    const before = await getSpeedLimitLocked(tx, id);
    const updated = await updateLocationRow(tx, id, changes);
    if (past) await locationLimits.correct(tx, updated.id, before, speedLimit, past);
    else await locationLimits.record(tx, updated.id, before, updated.speedLimit);
    const details = {
      locationId: updated.id,
      name: updated.name,
      fields: givenFields(given),
      ...(past && { validFrom, validUntil }),
    };
    await recordActivity(tx, actor.id, caller, 'locations.update', details);
    if (concernsIngestion) await notify(tx, channels.sensors, '*');
    return updated;
  });
  if (concernsIngestion) forgetSensors(app);
  else app.publicSensors.forget();
  return location;
}

/**
 * Deletes a location without sensors. PostgreSQL's foreign key decides, even against a sensor that is being moved
 * there.
 * @throws AppError `notFound`; `badRequest` while sensors are assigned to it
 */
export async function deleteLocation(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  try {
    return await inTransaction(app.db, async (tx) => {
      const limit = await getSpeedLimitLocked(tx, id);
      const gone = await deleteLocationRow(tx, id);
      await locationLimits.record(tx, gone.id, limit, null);
      const details = { locationId: gone.id, name: gone.name };
      await recordActivity(tx, actor.id, caller, 'locations.delete', details);
      return { success: true as const, id: gone.id };
    });
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw new AppError(
      'badRequest',
      'This location still has sensors: move them to another one or delete them, then delete the location',
      { cause: error },
    );
  }
}
