import type { CalendarDay, CalendarDayInput } from '@gantry/contract/calendars';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { invalidInput, notFound } from '../platform/error.ts';
import { dayOf, type Interval } from '../platform/time.ts';
import { deleteDays, findUnknownLocations, putDays, readDays } from './calendar-store.ts';
import type { Place } from './slots-store.ts';

/** Adds one day. @throws AppError as `addCalendarDays` does */
export async function addCalendarDay(ctx: ActorContext, day: CalendarDayInput): Promise<CalendarDay> {
  const [added] = await addCalendarDays(ctx, [day], () => 'locationId');
  if (!added) throw new Error('PostgreSQL did not return the stored day');
  return added;
}

/**
 * Adds days to the calendar; a day that is there already has its name replaced.
 * @param fieldOf the field with the location of the day at a position, for errors
 * @throws AppError `badRequest` for a location that does not exist
 */
export function addCalendarDays(
  { app, actor, caller }: ActorContext,
  days: readonly CalendarDayInput[],
  fieldOf = (n: number): string => `days.${n}.locationId`,
): Promise<CalendarDay[]> {
  return inTransaction(app.db, async (tx) => {
    const wanted = days.map((day) => ({ ...day, locationId: day.locationId?.toLowerCase() ?? null }));
    const ids = wanted.flatMap(({ locationId }) => locationId ?? []);
    const [unknown] = await findUnknownLocations(tx, ids);
    if (unknown !== undefined)
      throw invalidInput(
        fieldOf(wanted.findIndex(({ locationId }) => locationId === unknown)),
        'There is no such location: give the id of one, or none for all locations',
      );
    const added = await putDays(tx, wanted);
    const [first] = added;
    const details = { days: added.length, date: first?.date, kind: first?.kind, name: first?.name };
    await recordActivity(tx, actor.id, caller, 'calendars.create', details);
    return added;
  });
}

/**
 * Deletes days of the calendar.
 * @returns the ids of those that were there
 */
export function deleteCalendarDays(
  { app, actor, caller }: ActorContext,
  ids: readonly string[],
): Promise<string[]> {
  return inTransaction(app.db, async (tx) => {
    const gone = await deleteDays(tx, ids);
    const [first] = gone;
    if (!first) return [];
    const details = { days: gone.length, date: first.date, kind: first.kind, name: first.name };
    await recordActivity(tx, actor.id, caller, 'calendars.delete', details);
    return gone.map(({ id }) => id);
  });
}

/** Deletes one day. @throws AppError `notFound` */
export async function deleteCalendarDay(ctx: ActorContext, id: string): Promise<string> {
  const [gone] = await deleteCalendarDays(ctx, [id]);
  if (gone === undefined) throw notFound('Calendar day');
  return gone;
}

/** The days of the calendar that concern a place: those of all locations and, except for a sensor, of its own. */
export function daysOfPlace(db: Executor, place: Place, first: string, last: string): Promise<CalendarDay[]> {
  return readDays(db, place.locationId ?? null, first, last);
}

/** The holidays of a place on the local days that overlap a range, as YYYY-MM-DD. */
export async function holidaysOf(
  db: Executor,
  place: Place,
  { from, until }: Interval,
  zone: string,
): Promise<ReadonlySet<string>> {
  const days = await daysOfPlace(db, place, dayOf(from, zone), dayOf(Math.max(from, until - 1), zone));
  return new Set(days.filter(({ kind }) => kind === 'HOLIDAY').map(({ date }) => date));
}
