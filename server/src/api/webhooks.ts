import { byId } from '@gantry/contract/id';
import {
  createdWebhook,
  createWebhookInput,
  deleteWebhookOutput,
  deliveriesPage,
  delivery,
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
import { resolveInterval } from '../platform/time.ts';
import { getDelivery, listDeliveries } from '../webhooks/deliveries-store.ts';
import { createWebhook, deleteWebhook, redeliver, testWebhook, updateWebhook } from '../webhooks/service.ts';
import { getWebhook, listWebhooks } from '../webhooks/store.ts';
import { allowed, pageOf, router } from './procedures.ts';

export const webhooksRouter = router({
  getAll: allowed('systemSettings')
    .meta({ summary: 'List webhooks and the state of their deliveries' })
    .input(listWebhooksInput)
    .output(webhooksPage)
    .query(async ({ ctx, input }) => pageOf('webhooks', await listWebhooks(ctx.app.db, input), input.take)),

  getById: allowed('systemSettings')
    .meta({ summary: 'Get one webhook' })
    .input(byId)
    .output(watchedWebhook)
    .query(({ ctx, input }) => getWebhook(ctx.app.db, input.id)),

  create: allowed('systemSettings')
    .meta({
      summary: 'Create a webhook',
      notes:
        'The address receives a POST request with the JSON `{id, kind, createdAt, data}` for everything that matches its kinds and filter, at least once and in no particular order. `data` is the event, as in `events.getAll`, for `event.ingested` and `event.violation` (a violation is sent as both); the `change` of `incidents.onChanged` for `incident.changed`; the `change` of `sensors.onStatusChanged` for `sensor.statusChanged`; the alert, as in `watchlist.getAlerts`, for `watchlist.alert`; the `change` of `cases.onChanged` for `case.changed`; the entry of the activity log, as in `audit.getActivity`, for `activity`; and `{webhookId, message}` for `test`. Dates are ISO 8601 strings. A condition of the filter applies to the kinds that have such a field; the other kinds are sent regardless of it. `id` is the same at every attempt, and is also sent as `X-Gantry-Delivery`. `X-Gantry-Signature` is `sha256=` followed by the hexadecimal HMAC-SHA256 of `X-Gantry-Timestamp` (the time of the attempt in Unix seconds), a dot and the body. A 2xx status within 10 s counts as delivered, regardless of the response body; a redirect does not. Otherwise, the delivery is attempted again for about a day, after a longer delay if a 429 or 503 asks for one with `Retry-After` (at most a day). After that, the delivery is DEAD and can be sent again by hand. A filter on a plate is recorded as a look-up of it.',
    })
    .input(createWebhookInput)
    .output(createdWebhook)
    .mutation(({ ctx, input }) => createWebhook(ctx, input)),

  update: allowed('systemSettings')
    .meta({
      summary: 'Change a webhook',
      notes:
        'Only the given fields change; `description: null` clears it. Pending deliveries are sent to the new address and signed with the new secret. While a webhook is disabled, no deliveries are added for it, and pending ones wait.',
    })
    .input(updateWebhookInput)
    .output(updatedWebhook)
    .mutation(({ ctx, input }) => updateWebhook(ctx, input)),

  delete: allowed('systemSettings')
    .meta({
      summary: 'Delete a webhook',
      notes:
        'Its deliveries are deleted with it, including pending ones. If there are so many that the answer is TIMEOUT, the deletion continues, and the webhook is disabled meanwhile.',
    })
    .input(byId)
    .output(deleteWebhookOutput)
    .mutation(({ ctx, input }) => deleteWebhook(ctx, input.id)),

  test: allowed('systemSettings')
    .meta({ summary: 'Send a delivery of kind `test`', notes: '`getDeliveries` shows the result.' })
    .input(byId)
    .output(testWebhookOutput)
    .mutation(({ ctx, input }) => testWebhook(ctx, input.id)),

  getDeliveries: allowed('systemSettings')
    .meta({
      question: true,
      summary: 'List deliveries',
      notes:
        'DELIVERED ones are kept for 30 days, DEAD ones until their webhook is deleted. `startDate` and `endDate` apply to `createdAt`.',
    })
    .input(listDeliveriesInput)
    .output(deliveriesPage)
    .query(async ({ ctx: { app }, input }) => {
      const interval = resolveInterval(input, app.settings.current().timezone);
      return pageOf('deliveries', await listDeliveries(app.db, input, interval), input.take);
    }),

  getDelivery: allowed('systemSettings')
    .meta({ summary: 'Get one delivery' })
    .input(byId)
    .output(delivery)
    .query(({ ctx, input }) => getDelivery(ctx.app.db, input.id)),

  redeliver: allowed('systemSettings')
    .meta({
      summary: 'Send again: one delivery, or all dead ones of a webhook',
      notes:
        'Ids and bodies do not change. A finished delivery starts again with a first attempt. A pending one is due at once, and this attempt does not count towards its schedule. Very many dead ones may take longer than a call: after TIMEOUT, the service continues.',
    })
    .input(redeliverInput)
    .output(redeliverOutput)
    .mutation(({ ctx, input }) => redeliver(ctx, input)),
});
