import { randomBytes, randomUUID } from 'node:crypto';
import type { LookUpReason } from '@gantry/contract/events';
import {
  type CreatedWebhook,
  type CreateWebhookInput,
  type RedeliverInput,
  SECRET_PREFIX,
  type UpdatedWebhook,
  type UpdateWebhookInput,
} from '@gantry/contract/webhooks';
import { recordActivity } from '../activity/store.ts';
import { reasonIn, requirePlateSearch } from '../events/plate-access.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { channels, notify } from '../platform/database/notify.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { AppError } from '../platform/error.ts';
import { givenFields } from '../platform/given.ts';
import { requireUsable } from '../platform/outbound.ts';
import {
  insertDeliveries,
  REDELIVERED_AT_ONCE,
  REMOVED_AT_ONCE,
  redeliverDead,
  redeliverOne,
  removeDeliveriesOf,
} from './deliveries-store.ts';
import { bodyOf } from './dispatch.ts';

import type { WebhookServices } from './start.ts';
import { deleteWebhookRow, getWebhook, insertWebhook, updateWebhookRow, wakeWebhook } from './store.ts';

type WebhookContext = ActorContext<Core & WebhookServices>;

/**
 * Creates a webhook.
 * @throws AppError `badRequest` when the address cannot be used, there are too many webhooks, or the reason for a plate in
 * the filter is missing; `forbidden` for a plate in the filter of users who see no plates
 */
export async function createWebhook(
  ctx: WebhookContext,
  { reason, purpose, caseNumber, ...input }: CreateWebhookInput,
): Promise<CreatedWebhook> {
  const { app, actor, caller } = ctx;
  const why = { reason, purpose, caseNumber };
  requirePlateSearch(ctx, { ...input.filter, ...why });
  const url = await requireUsable(app.webhookUrls, input.url);
  const secret = input.secret ?? newSecret();
  const created = await inTransaction(app.db, async (tx) => {
    const id = await insertWebhook(tx, { ...input, url, secret, createdBy: actor.id });
    const { kinds } = input;
    await recordActivity(tx, actor.id, caller, 'webhooks.create', { webhookId: id, url, kinds });
    await recordPlate(ctx, tx, id, { ...input.filter, ...why });
    await notify(tx, channels.webhooks, id);
    return { ...(await getWebhook(tx, id)), secret };
  });
  await app.webhooks.refresh();
  return created;
}

/**
 * Sets the given fields. When a webhook is enabled, those of its pending deliveries that are due are attempted at
 * once.
 * @throws AppError `notFound`; `badRequest` when the address cannot be used, or the reason for a plate in the filter is
 * missing; `forbidden` for a plate in the filter of users who see no plates
 */
export async function updateWebhook(
  ctx: WebhookContext,
  { id, reason, purpose, caseNumber, ...changes }: UpdateWebhookInput,
): Promise<UpdatedWebhook> {
  const { app, actor, caller } = ctx;
  const why = { reason, purpose, caseNumber };
  requirePlateSearch(ctx, { ...changes.filter, ...why });
  const { rotateSecret, ...fields } = changes;
  const url = fields.url === undefined ? undefined : await requireUsable(app.webhookUrls, fields.url);
  const secret = rotateSecret && newSecret();
  const updated = await inTransaction(app.db, async (tx) => {
    await updateWebhookRow(tx, id, { ...fields, ...(url && { url }), ...(secret && { secret }) });
    const webhook = await getWebhook(tx, id);
    const details = { webhookId: webhook.id, url: webhook.url, fields: givenFields(changes) };
    await recordActivity(tx, actor.id, caller, 'webhooks.update', details);
    await recordPlate(ctx, tx, webhook.id, { ...fields.filter, ...why });
    if (fields.enabled) await wakeWebhook(tx, webhook.id);
    await notify(tx, channels.webhooks, webhook.id);
    return { ...webhook, ...(secret && { secret }) };
  });
  await app.webhooks.refresh();
  return updated;
}

/** Deletes a webhook; its pending deliveries are not sent. @throws AppError `notFound` */
export async function deleteWebhook(
  { app, actor, caller }: WebhookContext,
  id: string,
): Promise<{ success: true; id: string }> {
  // The row is locked while it is deleted, and events that the webhook wants wait for that. There may be millions of
  // deliveries, so they are removed first. The webhook is disabled before, so that none are added meanwhile.
  await updateWebhookRow(app.db, id, { enabled: false });
  await removeDeliveriesOf(app.db, id, REMOVED_AT_ONCE);
  const deletedId = await inTransaction(app.db, async (tx) => {
    const { id: webhookId, url } = await deleteWebhookRow(tx, id);
    await recordActivity(tx, actor.id, caller, 'webhooks.delete', { webhookId, url });
    await notify(tx, channels.webhooks, webhookId);
    return webhookId;
  });
  await app.webhooks.refresh();
  return { success: true, id: deletedId };
}

/**
 * Sends one delivery of kind `test`, by the same path as all others.
 * @throws AppError `notFound`; `badRequest` while the webhook is disabled
 */
export function testWebhook(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ deliveryId: string }> {
  return inTransaction(app.db, async (tx) => {
    const webhook = await getWebhook(tx, id);
    if (!webhook.enabled)
      throw new AppError('badRequest', 'The webhook is disabled, so nothing is sent: enable it first');
    const deliveryId = randomUUID();
    const data = JSON.stringify({ webhookId: webhook.id, message: 'This is a test.' });
    const body = bodyOf(deliveryId, 'test', new Date(app.clock.now()), data);
    await insertDeliveries(tx, [{ id: deliveryId, webhookId: webhook.id, kind: 'test', body }]);
    await recordActivity(tx, actor.id, caller, 'webhooks.test', { webhookId: webhook.id, deliveryId });
    return { deliveryId };
  });
}

/**
 * Makes one delivery, or all dead ones of a webhook, due again under the same ids. If there are very many dead ones, this
 * may take longer than a call may; it is completed nevertheless.
 * @returns their number
 * @throws AppError `notFound`
 */
export async function redeliver(
  { app, actor, caller }: ActorContext,
  input: RedeliverInput,
): Promise<{ count: number }> {
  if ('id' in input) {
    const { id: deliveryId } = input;
    return inTransaction(app.db, async (tx) => {
      await redeliverOne(tx, deliveryId);
      await recordActivity(tx, actor.id, caller, 'webhooks.redeliver', { deliveryId });
      return { count: 1 };
    });
  }
  const { id: webhookId } = await getWebhook(app.db, input.webhookId);
  const count = await redeliverDead(app.db, webhookId, REDELIVERED_AT_ONCE, (tx, made) =>
    recordActivity(tx, actor.id, caller, 'webhooks.redeliver', { webhookId, count: made }),
  );
  if (count === 0) await recordActivity(app.db, actor.id, caller, 'webhooks.redeliver', { webhookId, count });
  return { count };
}

function newSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('hex')}`;
}

/** A webhook with a plate in its filter looks that plate up continuously, so it is recorded as a look-up. */
async function recordPlate(
  { actor, caller }: ActorContext,
  tx: Executor,
  webhookId: string,
  { licensePlateNumber: plate, ...why }: LookUpReason & { licensePlateNumber?: string | undefined },
): Promise<void> {
  if (plate === undefined) return;
  await recordActivity(tx, actor.id, caller, 'events.lookUpPlate', { plate, ...reasonIn(why), webhookId });
}
