import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import {
  type CreatePointInput,
  type ListedPoint,
  type ListPointsInput,
  MAX_MEASURING_POINTS,
  type MeasuringPoint,
  type UpdatePointInput,
} from '@gantry/contract/points';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isForeignKeyViolation } from '../platform/database/failure.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { given, givenFields } from '../platform/given.ts';
import { resolveTime } from '../platform/time.ts';
import { angleBetween, degreesOf, directionIn, hasDirection } from './channels.ts';
import {
  countPoints,
  deletePointRow,
  getPoint,
  insertPoint,
  listAssignments,
  listPoints,
  lockAssignments,
  updatePointRow,
} from './points-store.ts';

/** From when until when something is valid, as given: null is open, undefined leaves it as it is. */
export interface GivenValidity {
  readonly validFrom?: string | null | undefined;
  readonly validUntil?: string | null | undefined;
}

/** The given ends of a validity as times. @param zone of times without an offset */
export function validityOf({ validFrom, validUntil }: GivenValidity, zone: string) {
  const timeOf = (text: string | null): Date | null =>
    text === null ? null : new Date(resolveTime(text, zone));
  return {
    ...(validFrom !== undefined && { validFrom: timeOf(validFrom) }),
    ...(validUntil !== undefined && { validUntil: timeOf(validUntil) }),
  };
}

/** From when until when something is valid; null is open. */
export interface Validity {
  readonly validFrom: Date | null;
  readonly validUntil: Date | null;
}

/** @throws AppError `badRequest` */
export function requireValidity({ validFrom, validUntil }: Validity): void {
  if (validFrom && validUntil && validUntil <= validFrom)
    throw invalidInput(
      'validUntil',
      `validUntil is ${validUntil.toISOString()}, which is not after validFrom, ${validFrom.toISOString()}: give a later end, or null for none`,
    );
}

/** Whether two validities have any time in common. */
export function overlaps(one: Validity, other: Validity): boolean {
  const startsBefore = (a: Validity, b: Validity): boolean =>
    (a.validFrom?.getTime() ?? Number.NEGATIVE_INFINITY) <
    (b.validUntil?.getTime() ?? Number.POSITIVE_INFINITY);
  return startsBefore(one, other) && startsBefore(other, one);
}

/** @throws AppError `badRequest` if the bearing of a point is not in its direction, or its end not after its start */
function requirePoint(point: Pick<MeasuringPoint, 'direction' | 'bearing'> & Validity): void {
  const { direction, bearing } = point;
  const degrees = degreesOf(direction);
  if (bearing !== null && degrees !== null && angleBetween(bearing, degrees) >= 90)
    throw invalidInput(
      'bearing',
      `A bearing of ${bearing}° is not ${direction}, which is ${degrees}°: give the direction of travel in both`,
    );
  requireValidity(point);
}

/**
 * Adds a measuring point.
 * @throws AppError `badRequest` for an unknown location, a bearing in another direction, an end that is not after the
 * start, and a location with too many points
 */
export async function createPoint(
  { app, actor, caller }: ActorContext,
  { validFrom, validUntil, ...input }: CreatePointInput,
): Promise<MeasuringPoint> {
  if (!isUuid(input.locationId)) throw unknownLocation();
  const { timezone } = app.settings.current();
  const fields = {
    ...input,
    validFrom: null,
    validUntil: null,
    ...validityOf({ validFrom, validUntil }, timezone),
  };
  requirePoint(fields);
  try {
    return await inTransaction(app.db, async (tx) => {
      await lockAssignments(tx);
      if ((await countPoints(tx, input.locationId)) >= MAX_MEASURING_POINTS)
        throw new AppError(
          'badRequest',
          `This location has ${MAX_MEASURING_POINTS} measuring points already, which is the maximum: delete one first`,
        );
      const point = await insertPoint(tx, fields);
      await recordActivity(tx, actor.id, caller, 'points.create', nameOf(point));
      return point;
    });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw unknownLocation();
    throw error;
  }
}

/**
 * Sets the given fields; null clears one.
 * @throws AppError `notFound`; `badRequest` as for `createPoint`, and if an assignment needs the former direction or lanes
 */
export function updatePoint(
  { app, actor, caller }: ActorContext,
  { id, validFrom, validUntil, ...input }: UpdatePointInput,
): Promise<MeasuringPoint> {
  const { timezone } = app.settings.current();
  const changes = given({ ...input, ...validityOf({ validFrom, validUntil }, timezone) });
  return inTransaction(app.db, async (tx) => {
    await lockAssignments(tx);
    const before = await getPoint(tx, id);
    const after = { ...before, ...changes };
    requirePoint(after);
    const all = { skip: 0, take: Number.MAX_SAFE_INTEGER, pointId: before.id };
    for (const { channel, lane } of (await listAssignments(tx, all, undefined)).items) {
      const direction = directionIn(channel);
      if (direction !== null && !hasDirection(after, direction))
        throw invalidInput(
          'direction',
          `An assignment of the channel ${direction} would not be ${after.direction}: change or end it first`,
        );
      if (after.lanes !== null && lane !== null && Number(lane) > after.lanes)
        throw invalidInput(
          'lanes',
          `A sensor is assigned to lane ${lane}: change or end its assignment first`,
        );
    }
    const point = await updatePointRow(tx, before.id, changes);
    const details = { ...nameOf(point), fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'points.update', details);
    return point;
  });
}

/** Deletes a point with its assignments, as if it had never been entered. @throws AppError `notFound` */
export function deletePoint(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return inTransaction(app.db, async (tx) => {
    await lockAssignments(tx);
    const point = await getPoint(tx, id);
    await deletePointRow(tx, point.id);
    await recordActivity(tx, actor.id, caller, 'points.delete', nameOf(point));
    return { success: true as const, id: point.id };
  });
}

/** The measuring points of a location, or all; a location without any has one of its own. */
export function viewPoints(
  { db, settings }: Pick<Core, 'db' | 'settings'>,
  { at, ...input }: ListPointsInput,
): Promise<Page<ListedPoint>> {
  return listPoints(db, input, at === undefined ? undefined : resolveTime(at, settings.current().timezone));
}

function nameOf({ id: pointId, name, locationId }: MeasuringPoint) {
  return { pointId, name, locationId };
}

function unknownLocation(): AppError {
  return invalidInput('locationId', 'No location has this locationId: use the id of an existing one');
}
