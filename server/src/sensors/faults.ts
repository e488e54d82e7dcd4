import { DAY_MS } from '@gantry/contract/durations';
import { mayFollow, needsReason, nextFaultStates } from '@gantry/contract/fault-states';
import {
  type FaultDetail,
  type FollowFaultsInput,
  MAX_FAULT_IMAGES,
  MAX_FOUND_DAYS,
  MAX_OPEN_FAULTS,
  type ReportFaultInput,
  type UpdateFaultInput,
} from '@gantry/contract/faults';
import { findNames } from '../accounts/names-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import {
  attachToFault,
  countOpenFaults,
  findByKey,
  findOpenByCode,
  getFault,
  insertFault,
  type LockedFault,
  lockFault,
  updateFaultRow,
} from './faults-store.ts';
import { getSensor, getSensorLocked } from './store.ts';

// Faults of sensors: reported by whoever finds them, and followed until they are repaired.

/** Clocks differ by less than this, in milliseconds: something may have been found so far ahead. */
const JUST_NOW_MS = 60_000;

/** When it was found, in Unix milliseconds. @throws AppError `badRequest` in the future, or too long ago */
function whenFound(given: string, zone: string, now: number): number {
  const at = resolveTime(given, zone);
  if (at > now + JUST_NOW_MS)
    throw invalidInput('foundAt', 'This time is in the future: give the one at which it was found');
  if (at < now - MAX_FOUND_DAYS * DAY_MS)
    throw invalidInput(
      'foundAt',
      `This is more than ${MAX_FOUND_DAYS} days ago: say in the text since when it is known`,
    );
  return Math.min(at, now);
}

/** Reads a fault again after a change, for the answer and for those who follow. */
export async function publishFault(tx: Transaction, id: string): Promise<FaultDetail> {
  const fault = await getFault(tx, id);
  const { history: _, images: __, ...body } = fault;
  await recordChanges(tx, [{ topic: 'faults', body }]);
  return fault;
}

/** @throws AppError `conflict` if the sensor has as many open faults as it may have */
async function requireRoom(tx: Transaction, sensorId: string): Promise<void> {
  if ((await countOpenFaults(tx, sensorId)) < MAX_OPEN_FAULTS) return;
  throw new AppError(
    'conflict',
    `This sensor has ${MAX_OPEN_FAULTS} faults that are not repaired: update one of them instead`,
  );
}

/** The refusal of a code that another open fault of the sensor has. */
async function codeRefusal(db: Executor, sensorId: string, code: string): Promise<AppError> {
  const other = await findOpenByCode(db, sensorId, code);
  const who = other
    ? `${other.reportedBy.name} reported it at ${other.createdAt.toISOString()}`
    : 'it is new';
  return new AppError(
    'conflict',
    `This sensor has a fault ${JSON.stringify(code)} that is not repaired (${who}): update that one, or use another code`,
  );
}

/** An input whose images are stored: their SHA-256 in the order in which they were given. */
type Stored<Input extends { readonly images: unknown }> = Omit<Input, 'images'> & {
  readonly images: readonly string[];
};

/** @throws AppError `badRequest` if the fault has too many images then */
async function attachImages(
  tx: Transaction,
  id: string,
  images: readonly string[],
  userId: string,
): Promise<void> {
  if (images.length > 0 && (await attachToFault(tx, id, images, userId)) > MAX_FAULT_IMAGES)
    throw invalidInput('images', `A fault has at most ${MAX_FAULT_IMAGES} images: attach fewer`);
}

/** The fault that the user reported with the key. @throws AppError `conflict` if the key was that of another one */
async function formerReport(
  db: Executor,
  userId: string,
  { sensorId, text, code, ticket, idempotencyKey }: Omit<ReportFaultInput, 'images'>,
): Promise<FaultDetail | null> {
  const known = idempotencyKey === undefined ? undefined : await findByKey(db, userId, idempotencyKey);
  if (!known) return null;
  // What was changed since need not be what was sent.
  const isSame = known.version > 1 || (known.code === code && known.ticket === ticket);
  if (isSame && known.text === text && known.sensor.id === sensorId.toLowerCase())
    return getFault(db, known.id);
  throw new AppError('conflict', 'You used this idempotencyKey for another fault: use a new one');
}

/**
 * Finds the fault of a repeated call, before images are stored for it, and refuses a sensor that does not exist.
 * @throws AppError as `reportFault`
 */
export async function findFormerReport(
  { app, actor }: ActorContext,
  input: ReportFaultInput,
): Promise<FaultDetail | null> {
  const former = await formerReport(app.db, actor.id, input);
  if (!former) await getSensor(app.db, input.sensorId).catch(refuseUnknown);
  return former;
}

function refuseUnknown(error: unknown): never {
  throw error instanceof AppError
    ? invalidInput('sensorId', 'No sensor has this id: use the id of an existing one')
    : error;
}

/**
 * Reports a fault of a sensor. A sensor may have several, but only one open fault with the same code.
 * @throws AppError `badRequest` for an unknown sensor, or a time in the future or too long ago; `conflict` for a code
 *   that an open fault of the sensor has, too many of them, or an idempotency key of another fault
 */
export function reportFault(
  { app, actor, caller }: ActorContext,
  input: Stored<ReportFaultInput>,
): Promise<FaultDetail> {
  const { timezone } = app.settings.current();
  const { text, code, ticket, idempotencyKey } = input;
  const foundAt = input.foundAt === undefined ? null : whenFound(input.foundAt, timezone, app.clock.now());
  return inTransaction(app.db, async (tx) => {
    const sensor = await getSensorLocked(tx, input.sensorId).catch(refuseUnknown);
    const former = await formerReport(tx, actor.id, input);
    if (former) return former;
    await requireRoom(tx, sensor.id);
    const id = await insertFault(tx, {
      ...{ text, code, ticket, foundAt, idempotencyKey, userId: actor.id },
      ...{ sensorId: sensor.id, sensorName: sensor.name },
    });
    // The sensor is locked, so another report with the key is seen above unless it is of another sensor.
    if (id === null && code !== null && (await findOpenByCode(tx, sensor.id, code)))
      throw await codeRefusal(tx, sensor.id, code);
    if (id === null)
      throw new AppError('conflict', 'You used this idempotencyKey for another fault: use a new one');
    await attachImages(tx, id, input.images, actor.id);
    const details = { faultId: id, sensorId: sensor.id, name: sensor.name, ...(code !== null && { code }) };
    await recordActivity(tx, actor.id, caller, 'faults.report', details);
    return publishFault(tx, id);
  });
}

/** @throws AppError `conflict` if somebody changed the fault since the user saw it, with the name */
async function requireSeen(tx: Transaction, before: LockedFault, version: number | undefined): Promise<void> {
  if (version === undefined || version === before.version) return;
  const nameOf = await findNames(tx, [before.updatedBy]);
  throw new AppError(
    'conflict',
    `${nameOf(before.updatedBy)?.name} changed this fault at ${before.updatedAt.toISOString()}: read it again first`,
  );
}

/** @throws AppError `conflict` for a state that may not follow; `badRequest` without a reason that is needed */
async function requireTurn(
  tx: Transaction,
  before: LockedFault,
  { state, reason }: Pick<UpdateFaultInput, 'state' | 'reason'>,
): Promise<void> {
  if (state === undefined) return;
  if (!mayFollow(before.state, state)) {
    const nameOf = await findNames(tx, [before.setBy]);
    throw new AppError(
      'conflict',
      `${nameOf(before.setBy)?.name} set this fault to ${before.state} at ${before.since.toISOString()}: it can become ${nextFaultStates[before.state].join(' or ')} now`,
    );
  }
  if (reason === null && needsReason(before.state, state))
    throw invalidInput(
      'reason',
      state === 'WAITING' ? 'Say what it waits for' : 'Say why the repaired fault is open again',
    );
  if (before.state === 'REPAIRED') await requireRoom(tx, before.sensorId);
}

/**
 * Changes a fault, or its state.
 * @throws AppError `notFound`; `conflict` for a state that may not follow, a fault that somebody else changed since, or a code
 *   that another open fault of the sensor has; `badRequest` without a reason that is needed
 */
export async function updateFault(
  { app, actor, caller }: ActorContext,
  { id, version, images, ...changes }: Stored<UpdateFaultInput>,
): Promise<FaultDetail> {
  const { sensor, code } = await getFault(app.db, id);
  try {
    return await inTransaction(app.db, async (tx) => {
      const before = await lockFault(tx, id);
      await requireSeen(tx, before, version);
      await requireTurn(tx, before, changes);
      await updateFaultRow(tx, before.id, changes, actor.id);
      await attachImages(tx, before.id, images, actor.id);
      const { reason, ...fields } = changes;
      const details = {
        ...{ faultId: before.id, sensorId: before.sensorId, name: sensor.name },
        fields: [...givenFields(fields), ...(images.length > 0 ? ['images'] : [])],
        ...(changes.state && { from: before.state, to: changes.state, reason }),
      };
      await recordActivity(tx, actor.id, caller, 'faults.update', details);
      return publishFault(tx, before.id);
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw await codeRefusal(app.db, sensor.id, changes.code ?? code ?? '');
  }
}

/** Streams faults as they are reported and change, of all sensors or of one. @throws AppError as `follow` does */
export function followFaults(
  ctx: FollowContext,
  { sensorId, lastEventId }: FollowFaultsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'faults'>> {
  const id = sensorId?.toLowerCase();
  const matches = ({ sensor }: { sensor: { id: string } }): boolean => id === undefined || sensor.id === id;
  return follow(ctx, { topics: ['faults'], matches, lastEventId }, signal);
}
