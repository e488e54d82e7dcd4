import type { Event, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { resolveInterval } from '../platform/time.ts';
import { lockOutHolds, requireNotHeld } from './holds-store.ts';
import { listEvents } from './list/list.ts';
import { rememberDeletion, removeEvent } from './remove-store.ts';
import { type ReviewMark, setMark } from './store.ts';

/**
 * Marks an event as processed; one that is so already stays as it is.
 * @throws AppError `notFound`
 */
export function markAsProcessed(ctx: ActorContext, id: string): Promise<void> {
  return review(ctx, id, 'processed', 'events.markAsProcessed');
}

/**
 * Archives an event; one that is archived already stays as it is.
 * @throws AppError `notFound`
 */
export function markAsArchived(ctx: ActorContext, id: string): Promise<void> {
  return review(ctx, id, 'archived', 'events.markAsArchived');
}

/**
 * Removes an event for good: a device that sends it again, by its idempotency key, is told that it is stored, and it is not.
 * @throws AppError `notFound`; `conflict` when it is under a legal hold
 */
export function deleteEvent({ app, actor, caller }: ActorContext, id: string): Promise<void> {
  return inTransaction(app.db, async (tx) => {
    await lockOutHolds(tx);
    await requireNotHeld(tx, id);
    if (isUuid(id)) await rememberDeletion(tx, id);
    if (!(await removeEvent(tx, id))) throw notFound('Event');
    await recordActivity(tx, actor.id, caller, 'events.delete', { eventId: id });
  });
}

/**
 * Writes down that the user looks a plate up, and why if they said so.
 * @param plate as it was asked for
 * @param total how many events were found, if they were counted
 */
export function recordPlateLookUp(
  { app, actor, caller }: ActorContext,
  plate: string,
  reason: string | undefined,
  total?: number,
): Promise<void> {
  return recordActivity(app.db, actor.id, caller, 'events.lookUpPlate', {
    plate,
    ...(reason !== undefined && { reason }),
    ...(total !== undefined && { total }),
  });
}

/** One page of the events that meet the filters. A plate is not looked up without a record of it: if that fails, so does this. */
export async function lookUpEvents(ctx: ActorContext, input: ListEventsInput): Promise<Page<Event>> {
  const { app } = ctx;
  const page = await listEvents(app.db, input, resolveInterval(input, app.settings.current().timezone));
  if (input.licensePlateNumber !== undefined) {
    await recordPlateLookUp(ctx, input.licensePlateNumber, input.reason, page.total);
  }
  return page;
}

function review(
  { app, actor, caller }: ActorContext,
  id: string,
  mark: ReviewMark,
  action: 'events.markAsProcessed' | 'events.markAsArchived',
): Promise<void> {
  return inTransaction(app.db, async (tx) => {
    const outcome = await setMark(tx, id, mark, actor.id);
    if (outcome === 'absent') throw notFound('Event');
    if (outcome === 'changed') await recordActivity(tx, actor.id, caller, action, { eventId: id });
  });
}
