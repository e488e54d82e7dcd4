import { isDeepStrictEqual } from 'node:util';
import { isUuid } from '@gantry/contract/id';
import type { Lane } from '@gantry/contract/movements';
import type { Page } from '@gantry/contract/page';
import {
  type Assignment,
  type CreateAssignmentInput,
  type ListAssignmentsInput,
  MAX_ASSIGNMENTS,
  type MeasuringPoint,
  type UpdateAssignmentInput,
} from '@gantry/contract/points';
import { recordActivity } from '../activity/store.ts';
import { laneOfText, movementOfText, movementText } from '../events/passage-columns.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import { getSensorLocked } from '../sensors/store.ts';
import { channelOf, directionIn, hasDirection, storedChannel } from './channels.ts';
import { overlaps, requireValidity, type Validity, validityOf } from './points.ts';
import {
  type AssignmentRow,
  deleteAssignmentRow,
  findOwnPoint,
  getAssignment,
  getPoint,
  insertAssignment,
  listAssignments,
  listRivals,
  lockAssignments,
  updateAssignmentRow,
} from './points-store.ts';

/** An assignment that is to be stored. */
type Wanted = Pick<AssignmentRow, 'pointId' | 'sensorId' | 'channel' | 'lane' | 'movement' | 'role'> &
  Validity & { readonly id?: string };

/**
 * Assigns a channel of a sensor to a measuring point.
 * @throws AppError `badRequest` for an unknown sensor or point, a channel or lane that the point has not, an end that is
 * not after the start, times outside of those of the point, and what already counts or measures the same
 */
export function createAssignment(
  { app, actor, caller }: ActorContext,
  { channel, lane, movement, validFrom, validUntil, ...input }: CreateAssignmentInput,
): Promise<Assignment> {
  const fields = {
    ...input,
    channel: storedChannel(channel),
    lane: laneText(lane),
    movement: movement && movementText(movement),
    validFrom: null,
    validUntil: null,
    ...validityOf({ validFrom, validUntil }, app.settings.current().timezone),
  };
  return inTransaction(app.db, async (tx) => {
    await lockAssignments(tx);
    await requireSensor(tx, input.sensorId);
    const point = await requirePoint(tx, input.pointId);
    await requireFree(tx, point, fields);
    const row = await getAssignment(tx, await insertAssignment(tx, fields));
    await recordActivity(tx, actor.id, caller, 'assignments.create', detailsOf(row));
    return assignmentOf(row);
  });
}

/**
 * Sets the given fields; null clears one.
 * @throws AppError `notFound`; `badRequest` as for `createAssignment`
 */
export function updateAssignment(
  { app, actor, caller }: ActorContext,
  { id, channel, lane, movement, validFrom, validUntil, ...input }: UpdateAssignmentInput,
): Promise<Assignment> {
  const changes = given({
    ...input,
    channel: channel === undefined ? undefined : storedChannel(channel),
    lane: lane === undefined ? undefined : laneText(lane),
    movement: movement && movementText(movement),
    ...validityOf({ validFrom, validUntil }, app.settings.current().timezone),
  });
  return inTransaction(app.db, async (tx) => {
    await lockAssignments(tx);
    const before = await getAssignment(tx, id);
    await requireFree(tx, await getPoint(tx, before.pointId), { ...before, ...changes });
    await updateAssignmentRow(tx, before.id, changes);
    const row = await getAssignment(tx, before.id);
    const details = { ...detailsOf(row), fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'assignments.update', details);
    return assignmentOf(row);
  });
}

/** Deletes an assignment, as if it had never been entered. @throws AppError `notFound` */
export function deleteAssignment(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return inTransaction(app.db, async (tx) => {
    await lockAssignments(tx);
    const row = await getAssignment(tx, id);
    await deleteAssignmentRow(tx, row.id);
    await recordActivity(tx, actor.id, caller, 'assignments.delete', detailsOf(row));
    return { success: true as const, id: row.id };
  });
}

export async function viewAssignments(
  { db, settings }: Pick<Core, 'db' | 'settings'>,
  { at, ...input }: ListAssignmentsInput,
): Promise<Page<Assignment>> {
  const time = at === undefined ? undefined : resolveTime(at, settings.current().timezone);
  const { items, total } = await listAssignments(db, { ...input, at }, time);
  return { items: items.map(assignmentOf), total };
}

function laneText(lane: Lane | null): string | null {
  return lane === null ? null : String(lane);
}

function assignmentOf({ channel, lane, movement, ...row }: AssignmentRow): Assignment {
  return {
    ...row,
    channel: channelOf(channel),
    lane: lane === null ? null : laneOfText(lane),
    movement: movement === null ? null : movementOfText(movement),
  };
}

function detailsOf({
  id: assignmentId,
  pointId,
  sensorId,
  role,
  channel,
  validFrom,
  validUntil,
}: AssignmentRow) {
  return { assignmentId, pointId, sensorId, role, channel, validFrom, validUntil };
}

/** Locks the sensor, so that it is not deleted meanwhile. */
async function requireSensor(tx: Transaction, id: string): Promise<void> {
  const unknown = () =>
    invalidInput('sensorId', 'No sensor has this sensorId: use the id of an existing one');
  if (!isUuid(id)) throw unknown();
  try {
    await getSensorLocked(tx, id);
  } catch (error) {
    if (error instanceof AppError && error.kind === 'notFound') throw unknown();
    throw error;
  }
}

async function requirePoint(tx: Transaction, id: string): Promise<MeasuringPoint> {
  const isLocation = (await findOwnPoint(tx, id)) !== undefined;
  if (isLocation)
    throw invalidInput(
      'pointId',
      'This is the id of a location for which no point is entered: enter one with points.create first',
    );
  try {
    return await getPoint(tx, id);
  } catch (error) {
    if (error instanceof AppError && error.kind === 'notFound')
      throw invalidInput('pointId', 'No measuring point has this pointId: use the id of an existing one');
    throw error;
  }
}

/** @throws AppError `badRequest` if the point does not have it, or something else counts or measures the same */
async function requireFree(tx: Transaction, point: MeasuringPoint, wanted: Wanted): Promise<void> {
  requireValidity(wanted);
  requireOfPoint(point, wanted);
  const rivals = (await listRivals(tx, wanted.pointId, wanted.sensorId)).filter(({ id }) => id !== wanted.id);
  const ofPoint = rivals.filter(({ pointId }) => pointId === wanted.pointId);
  if (ofPoint.length >= MAX_ASSIGNMENTS)
    throw new AppError(
      'badRequest',
      `This point has ${MAX_ASSIGNMENTS} assignments already, which is the maximum: delete one first`,
    );
  if (wanted.role !== 'COUNT' && wanted.role !== 'SPEED') return;
  const rival = rivals.find(
    (other) => other.role === wanted.role && overlaps(other, wanted) && isSame(other, wanted),
  );
  if (!rival) return;
  const what = wanted.role === 'COUNT' ? 'counts' : 'measures the speeds of';
  const since = `${rival.validFrom === null ? 'always' : `since ${rival.validFrom.toISOString()}`}${rival.validUntil === null ? '' : ` until ${rival.validUntil.toISOString()}`}`;
  throw invalidInput(
    rival.pointId === wanted.pointId ? 'pointId' : 'channel',
    rival.pointId === wanted.pointId
      ? `${rival.sensorName ?? 'A deleted sensor'} already ${what} this point, lane and movement (assignment ${rival.id}, ${since}): end that first, give each its lane or movement, or use the role VERIFY`
      : `This channel of the sensor already ${what} another point (assignment ${rival.id}, ${since}): end that first, or give each the channel that it is about`,
  );
}

/** Whether two assignments are of the same vehicles: of one point, or one channel of a sensor. */
function isSame(one: Wanted, other: Wanted): boolean {
  const agree = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;
  if (one.pointId === other.pointId)
    return agree(one.lane, other.lane) && agree(one.movement, other.movement);
  return isDeepStrictEqual(one.channel, other.channel);
}

/** @throws AppError `badRequest` for a time, direction or lane that the point does not have */
function requireOfPoint(point: MeasuringPoint, wanted: Wanted): void {
  if (!overlaps(point, wanted))
    throw invalidInput(
      'validFrom',
      `The point is valid ${point.validFrom === null ? '' : `from ${point.validFrom.toISOString()} `}${point.validUntil === null ? '' : `until ${point.validUntil.toISOString()}`}: give a time within that, or change the point`,
    );
  const direction = directionIn(wanted.channel);
  if (direction !== null && !hasDirection(point, direction))
    throw invalidInput(
      'channel',
      `The point is ${point.direction}, so vehicles of the direction ${direction} do not pass it: choose the channel of its direction, or another point`,
    );
  if (point.lanes !== null && wanted.lane !== null && Number(wanted.lane) > point.lanes)
    throw invalidInput('lane', `The point has ${point.lanes} lanes: use a lane from 1 to ${point.lanes}`);
}
