import { MINUTE_MS } from '@gantry/contract/durations';
import type { Event, FollowEventsInput, ListEventsInput, LookUpReason } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { UNDO_MINUTES } from '@gantry/contract/values';
import { findNames } from '../accounts/names-store.ts';
import { recordActivity, recordPlateSearch } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { readDatabaseTime } from '../platform/database/moment.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { resolveInterval } from '../platform/time.ts';
import { type FollowContext, follow, type StreamMessage } from '../realtime/follow.ts';
import { lockOutHolds, lockWithTimeout, requireNotHeld } from './holds-store.ts';
import { listEvents } from './list/run.ts';
import { matchesFilter } from './matches.ts';
import { matchesPlace } from './place-and-time.ts';
import { findPlaces } from './places-store.ts';
import { reasonIn, requirePlateSearch } from './plate-access.ts';
import { removeEventForGood } from './remove-store.ts';
import { archivedRefusal, tooLateToRestore } from './reviews.ts';
import { type Flags, findLatestReviews, isSameFlag, lockFlags, setFlags } from './reviews-store.ts';
import { locationIdOf } from './store.ts';

/**
 * Flags an event as processed. Has no effect if it is processed already.
 * @returns whether this call marked it
 * @throws AppError `notFound`
 */
export function markAsProcessed(ctx: ActorContext, id: string): Promise<boolean> {
  return mark(ctx, id, 'events.markAsProcessed', 'processed');
}

/**
 * Archives an event. Has no effect if it is archived already.
 * @returns whether this call archived it
 * @throws AppError `notFound`
 */
export function markAsArchived(ctx: ActorContext, id: string): Promise<boolean> {
  return mark(ctx, id, 'events.markAsArchived', 'archived');
}

/**
 * Undoes the archiving of an event by the same user, within a short time. Has no effect if it is no longer archived.
 * @returns whether it was archived
 * @throws AppError `notFound`; `conflict` when somebody else or a rejection archived it, or when it is too late
 */
export function undoArchive({ app, actor, caller }: ActorContext, id: string): Promise<boolean> {
  return inTransaction(app.db, async (tx) => {
    const before = await lockFlags(tx, id);
    if (!before) throw notFound('Event');
    const { archived } = before;
    if (!archived) return false;
    if (archived.by !== actor.id) {
      const nameOf = await findNames(tx, [archived.by]);
      throw archivedRefusal('by another', nameOf(archived.by)?.name ?? null);
    }
    const [review] = await findLatestReviews(tx, [id]);
    if (
      review &&
      isSameFlag(archived, review.after.archived) &&
      !isSameFlag(archived, review.before.archived)
    )
      throw archivedRefusal('by a review', null);
    const at = archived.at === null ? 0 : Date.parse(archived.at);
    if ((await readDatabaseTime(tx)) - at > UNDO_MINUTES * MINUTE_MS) throw tooLateToRestore(new Date(at));
    await setFlags(tx, id, { before, after: { ...before, archived: null } });
    await recordActivity(tx, actor.id, caller, 'events.undoArchive', { eventId: id });
    return true;
  });
}

/**
 * Deletes an event permanently. If a device sends it again with its idempotency key, it is reported as a duplicate
 * and not stored.
 * @throws AppError `notFound`; `conflict` when it is under a legal hold; `unavailable` when its month is being removed
 */
export function deleteEvent({ app, actor, caller }: ActorContext, id: string): Promise<void> {
  return inTransaction(app.db, async (tx) => {
    await lockWithTimeout(tx, lockOutHolds);
    await requireNotHeld(tx, id, app.settings.current().timezone);
    if (!(await removeEventForGood(tx, id))) throw notFound('Event');
    await recordActivity(tx, actor.id, caller, 'events.delete', { eventId: id });
  });
}

/**
 * Records that the user looked up a plate, with the reason if one was given.
 * @param plate as entered by the user
 * @param total the number of events found, if they were counted
 * @param db the transaction that looks it up, if there is one
 */
export function recordPlateLookUp(
  { app, actor, caller }: ActorContext,
  plate: string,
  why: LookUpReason,
  total?: number,
  db: Executor = app.db,
): Promise<void> {
  return recordActivity(db, actor.id, caller, 'events.lookUpPlate', {
    plate,
    ...reasonIn(why),
    ...(total !== undefined && { total }),
  });
}

/**
 * One page of the events that meet the filters. A search for a plate is recorded, once for all its pages; if that
 * fails, so does the call.
 * @throws AppError as `requirePlateSearch`
 */
export async function lookUpEvents(ctx: ActorContext, input: ListEventsInput): Promise<Page<Event>> {
  const { app, actor, caller } = ctx;
  requirePlateSearch(ctx, input);
  const { timezone } = app.settings.current();
  const interval = resolveInterval(input, timezone);
  const page = await listEvents(app.db, input, interval, timezone, await app.nodes.sendsSkippedRows());
  const { licensePlateNumber: plate } = input;
  if (plate !== undefined) {
    const { skip, take: _, sortBy: __, sortOrder: ___, ...search } = input;
    const details = { plate, ...reasonIn(input), total: page.total };
    await recordPlateSearch(app.db, actor.id, caller, { search, isFirstPage: skip === 0, details });
  }
  return page;
}

function mark(
  { app, actor, caller }: ActorContext,
  id: string,
  action: 'events.markAsProcessed' | 'events.markAsArchived',
  flag: keyof Flags,
): Promise<boolean> {
  return inTransaction(app.db, async (tx) => {
    const before = await lockFlags(tx, id);
    if (!before) throw notFound('Event');
    if (before[flag]) return false;
    const at = new Date(await readDatabaseTime(tx)).toISOString();
    await setFlags(tx, id, { before, after: { ...before, [flag]: { by: actor.id, at } } });
    await recordActivity(tx, actor.id, caller, action, { eventId: id });
    return true;
  });
}

/**
 * Streams events when they are stored. Following a plate is a look-up, so it is recorded before the stream begins: once
 * in ten minutes, however often the stream is resumed.
 * @throws AppError as `follow` and `requirePlateSearch` do
 */
export async function* followEvents(
  ctx: FollowContext,
  { lastEventId, startDate, endDate, reason, purpose, caseNumber, ...filter }: FollowEventsInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage<'events'>> {
  const why = reasonIn({ reason, purpose, caseNumber });
  requirePlateSearch(ctx, { ...filter, ...why });
  const { timezone: zone } = ctx.app.settings.current();
  const { from, until } = resolveInterval({ startDate, endDate }, zone);
  const passes = matchesFilter(filter);
  const isThere = matchesPlace(filter, await findPlaces(ctx.app.db, filter), zone, locationIdOf);
  const matches = (event: Event): boolean => {
    const time = event.timestamp.getTime();
    return time >= from && time < until && passes(event) && isThere(event);
  };
  const { licensePlateNumber: plate } = filter;
  if (plate !== undefined) {
    const search = { follows: true, startDate, endDate, ...why, ...filter };
    const details = { plate, ...why };
    const isFirstPage = lastEventId === undefined;
    await recordPlateSearch(ctx.app.db, ctx.actor.id, ctx.caller, { search, isFirstPage, details });
  }
  yield* follow(ctx, { topics: ['events'], matches, lastEventId }, signal);
}
