import { byId } from '@gantry/contract/id';
import { pageCount } from '@gantry/contract/page';
import {
  createdWebhook,
  createWebhookInput,
  deleteWebhookOutput,
  deliveriesPage,
  listDeliveriesInput,
  listWebhooksInput,
  redeliverInput,
  redeliverOutput,
  testWebhookOutput,
  updatedWebhook,
  updateWebhookInput,
  watchedWebhook,
  webhooksPage,
} from '@gantry/contract/webhooks';
import { listDeliveries } from '../webhooks/deliveries-store.ts';
import { createWebhook, deleteWebhook, redeliver, testWebhook, updateWebhook } from '../webhooks/service.ts';
import { getWebhook, listWebhooks } from '../webhooks/store.ts';
import { allowed, router } from './procedures.ts';

export const webhooksRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'The webhooks and how their deliveries fare, page by page' })
    .input(listWebhooksInput)
    .output(webhooksPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listWebhooks(ctx.app.db, input);
      return { webhooks: items, total, pageCount: pageCount(total, input.take) };
    }),

  getById: allowed('systemSettings')
    .meta({ summary: 'One webhook' })
    .input(byId)
    .output(watchedWebhook)
    .query(({ ctx, input }) => getWebhook(ctx.app.db, input.id)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Add an address that is told of what happens',
      notes:
        'A filter on a plate is recorded as a look-up of it. The address gets a POST of JSON `{id, kind, createdAt, data}` for everything that its kinds and filter let pass, at least once; `id` is the same at every attempt, and also in `X-Gantry-Delivery`. `X-Gantry-Signature` is `sha256=` and the HMAC-SHA256, in hexadecimal, of `X-Gantry-Timestamp`, a dot and the body. A status of 2xx within 10 s counts as delivered, whatever becomes of the body after it; a redirect does not. Otherwise it is attempted again for about a day, after a longer wait if a 429 or 503 asks for one with `Retry-After` (at most a day), after which the delivery is DEAD and can be sent again by hand.',
    })
    .input(createWebhookInput)
    .output(createdWebhook)
    .mutation(({ ctx, input }) => createWebhook(ctx, input)),

  update: allowed('systemSettings')
    .meta({
      summary: 'Change a webhook',
      notes:
        'Only the given fields change; `description: null` clears it. What is pending goes to the new address, signed with the new secret. Disabled, it is told of nothing that happens meanwhile, and what was pending waits.',
    })
    .input(updateWebhookInput)
    .output(updatedWebhook)
    .mutation(({ ctx, input }) => updateWebhook(ctx, input)),

  delete: allowed('systemSettings')
    .meta({ summary: 'Remove a webhook', notes: 'Its deliveries go with it, also those that are pending.' })
    .input(byId)
    .output(deleteWebhookOutput)
    .mutation(({ ctx, input }) => deleteWebhook(ctx, input.id)),

  test: allowed('systemSettings')
    .meta({ summary: 'Send a delivery of kind `test`', notes: '`getDeliveries` shows what became of it.' })
    .input(byId)
    .output(testWebhookOutput)
    .mutation(({ ctx, input }) => testWebhook(ctx, input.id)),

  getDeliveries: allowed('systemSettings')
    .meta({
      question: true,
      summary: 'What was or is to be delivered, page by page',
      notes: 'Delivered ones are kept for 30 days, dead ones until their webhook goes.',
    })
    .input(listDeliveriesInput)
    .output(deliveriesPage)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listDeliveries(ctx.app.db, input);
      return { deliveries: items, total, pageCount: pageCount(total, input.take) };
    }),

  redeliver: allowed('systemSettings')
    .meta({
      summary: 'Deliver again: one delivery, or all dead ones of a webhook',
      notes:
        'Their ids and bodies stay. What was finished begins with a first attempt again; what is pending is due at once, and goes on after that as if it had not been attempted then.',
    })
    .input(redeliverInput)
    .output(redeliverOutput)
    .mutation(({ ctx, input }) => redeliver(ctx, input)),
});
