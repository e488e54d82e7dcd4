import { isUuid } from '@gantry/contract/id';
import type { HoldDetail, SetHoldInput } from '@gantry/contract/storage';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import {
  endHold,
  findEventTypes,
  getHold,
  insertHold,
  lockOutRemovals,
  lockWithTimeout,
} from './holds-store.ts';

/**
 * Puts events under a legal hold: neither users nor retention can remove them until it is released.
 * @throws AppError `badRequest` at `eventIds.<n>` when there is no such event; `unavailable` while a month is being
 * removed
 */
export function setHold(
  { app, actor, caller }: ActorContext,
  { eventIds, reason }: SetHoldInput,
): Promise<HoldDetail> {
  return inTransaction(app.db, async (tx) => {
    await lockWithTimeout(tx, lockOutRemovals);
    const wanted = eventIds.map((eventId) => eventId.toLowerCase());
    const types = await findEventTypes(tx, wanted.filter(isUuid));
    const missing = wanted.findIndex((eventId) => !types.has(eventId));
    if (missing !== -1) throw invalidInput(`eventIds.${missing}`, 'There is no such event');
    const holdId = await insertHold(tx, { reason, userId: actor.id, types });
    await recordActivity(tx, actor.id, caller, 'storage.setHold', { holdId, reason, events: types.size });
    return getHold(tx, holdId);
  });
}

/**
 * Ends a hold. Its events can be removed unless another hold contains them.
 * @throws AppError `notFound`; `conflict` when it was released before
 */
export function releaseHold({ app, actor, caller }: ActorContext, id: string): Promise<HoldDetail> {
  return inTransaction(app.db, async (tx) => {
    const ended = await endHold(tx, id, actor.id);
    const hold = await getHold(tx, id);
    if (!ended) {
      throw new AppError(
        'conflict',
        `The hold was released by ${hold.releasedBy?.name} on ${hold.releasedAt?.toISOString().slice(0, 10)}`,
      );
    }
    await recordActivity(tx, actor.id, caller, 'storage.releaseHold', {
      holdId: hold.id,
      reason: hold.reason,
    });
    return hold;
  });
}
