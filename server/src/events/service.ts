import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../context.ts';
import { inTransaction, type Transaction } from '../database/transaction.ts';
import { notFound } from '../error.ts';
import { type ReviewOutcome, removeEvent, setArchived, setProcessed } from './review-store.ts';

const review = (
  { app, actor, caller }: ActorContext,
  id: string,
  action: 'events.markAsProcessed' | 'events.markAsArchived',
  change: (tx: Transaction, id: string, userId: string) => Promise<ReviewOutcome>,
): Promise<void> =>
  inTransaction(app.db, async (tx) => {
    const outcome = await change(tx, id, actor.id);
    if (outcome === 'absent') throw notFound('Event');
    if (outcome === 'changed') await recordActivity(tx, actor.id, caller, action, { eventId: id });
  });

/**
 * Marks an event as processed; one that is so already stays as it is.
 * @throws AppError `notFound`
 */
export const markAsProcessed = (ctx: ActorContext, id: string): Promise<void> =>
  review(ctx, id, 'events.markAsProcessed', setProcessed);

/**
 * Archives an event; one that is archived already stays as it is.
 * @throws AppError `notFound`
 */
export const markAsArchived = (ctx: ActorContext, id: string): Promise<void> =>
  review(ctx, id, 'events.markAsArchived', setArchived);

/**
 * Removes an event for good.
 * @throws AppError `notFound`
 */
export const deleteEvent = ({ app, actor, caller }: ActorContext, id: string): Promise<void> =>
  inTransaction(app.db, async (tx) => {
    if (!(await removeEvent(tx, id))) throw notFound('Event');
    await recordActivity(tx, actor.id, caller, 'events.delete', { eventId: id });
  });
