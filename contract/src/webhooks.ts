import { z } from 'zod';
import { checkEventFilters, passageFilters } from './event-filters.ts';
import { eventType, lookUpReason, severity, storedDirection, storedLane } from './events.ts';
import { id, storedId } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { PLATE_RULES } from './plate.ts';
import { showsPlate } from './plate-fields.ts';
import { editableText, optionalText, text, trimmedText } from './text.ts';
import { timeRange } from './time.ts';

/**
 * The kinds of messages that a webhook can subscribe to. `event.violation` is sent for every violation, in addition
 * to `event.ingested`.
 */
export const webhookKind = z.enum([
  'event.ingested',
  'event.violation',
  'incident.changed',
  'sensor.statusChanged',
  'watchlist.alert',
  'activity',
  'case.changed',
]);
export type WebhookKind = z.infer<typeof webhookKind>;

/** The kind of a delivery: a kind of message, or `test`, which a user requested. */
export const deliveryKind = z.enum([...webhookKind.options, 'test']);
export type DeliveryKind = z.infer<typeof deliveryKind>;

/**
 * PENDING: waiting or being attempted; DELIVERED: accepted by the receiver; DEAD: all attempts within a day have
 * failed.
 */
export const deliveryStatus = z.enum(['PENDING', 'DELIVERED', 'DEAD']);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

/** Maximum number of webhooks. */
export const MAX_WEBHOOKS = 100;

/** Maximum length of a receiver's address, in characters. */
export const WEBHOOK_URL_MAX = 2048;

/** The prefix of generated secrets. */
export const SECRET_PREFIX = 'whsec_';

/** Maximum part of a receiver's answer that is stored, in bytes. */
export const ANSWER_MAX_BYTES = 1024;

/** A filter text, trimmed. A blank text means no filter. */
function wanted(max: number) {
  return trimmedText(max)
    .transform((value) => value || undefined)
    .optional();
}

const filterFields = {
  eventType: eventType.optional().describe('Applies to events.'),
  violationType: wanted(200).describe('Applies to events, ignoring case.'),
  vehicleType: wanted(200).describe('Applies to events, ignoring case.'),
  licensePlateNumber: showsPlate(
    'plate',
    wanted(200).describe(`Applies to events and alerts. ${PLATE_RULES}`),
  ),
  locationName: wanted(300).describe('Applies to events and alerts, ignoring case.'),
  plateRegion: passageFilters.plateRegion.describe(
    'Applies to events: where the plate is from, such as AT or US-CA; US stands for all its parts.',
  ),
  minConfidence: passageFilters.minConfidence.describe(
    'Applies to events: how sure the sensor is of the plate, in percent, at least.',
  ),
  lane: passageFilters.lane.describe('Applies to events.'),
  direction: passageFilters.direction.describe('Applies to events, as reported.'),
  minSpeed: passageFilters.minSpeed.describe('Applies to events: the speed in km/h, at least.'),
  maxSpeed: passageFilters.maxSpeed.describe('Applies to events: the speed in km/h, at most.'),
  sensorId: storedId.optional().describe('Applies to all kinds.'),
  minSeverity: severity
    .optional()
    .describe(
      'Applies to the severity of events and incidents and the priority of alerts: this severity or a more urgent one.',
    ),
};

/** Each condition applies only to kinds with such a field. */
export const webhookFilter = z.object({ ...filterFields, lane: storedLane, direction: storedDirection });
export type WebhookFilter = z.infer<typeof webhookFilter>;

/** A filter as input. Unknown conditions are refused, because ignoring them would let everything pass. */
const webhookFilterInput = z
  .strictObject(filterFields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `A filter has no ${issue.keys.join(', ')}: use ${Object.keys(filterFields).join(', ')}`
        : undefined,
  })
  .superRefine(checkEventFilters);

/** The last attempt of a delivery: its time, and the HTTP status and beginning of the answer, or the reason why it failed. */
const lastAttempt = {
  lastAttemptAt: z.date().nullable(),
  lastStatus: z.number().nullable().describe('The HTTP status of the last answer.'),
  lastAnswer: z.string().nullable().describe('The first 1 KB of the last answer.'),
  lastError: z.string().nullable().describe('Why the last attempt failed.'),
};

export const webhook = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  kinds: z.array(webhookKind),
  filter: webhookFilter,
  enabled: z.boolean(),
  createdBy: person.nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Webhook = z.infer<typeof webhook>;

/** A webhook with the state of its deliveries. */
export const watchedWebhook = webhook.extend({
  pending: z.number().describe('Deliveries that are or will be attempted.'),
  dead: z.number().describe('Deliveries whose attempts have all failed.'),
  lastDelivery: z
    .object({ at: z.date(), status: deliveryStatus, error: z.string().nullable() })
    .nullable()
    .describe(
      'The newest delivery that was attempted: the time of its last attempt, its status, and why the last attempt failed.',
    ),
});
export type WatchedWebhook = z.infer<typeof watchedWebhook>;

const url = z
  .string()
  .min(1, 'Must not be empty')
  .max(WEBHOOK_URL_MAX, `Use at most ${WEBHOOK_URL_MAX} characters`)
  .describe('http or https. Addresses inside the operator’s own network are refused.');
const kinds = z
  .array(webhookKind)
  .min(1, 'Name at least one kind')
  .max(webhookKind.options.length)
  .transform((value) => [...new Set(value)]);

export const createWebhookInput = z.object({
  url,
  description: optionalText(500),
  kinds,
  filter: webhookFilterInput.default({}),
  enabled: z.boolean().default(true),
  secret: text(200, 16)
    .optional()
    .describe('Signs the deliveries. If omitted, a secret is generated. It is shown only in this answer.'),
  ...lookUpReason,
});
export type CreateWebhookInput = z.infer<typeof createWebhookInput>;

export const createdWebhook = webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof createdWebhook>;

export const updateWebhookInput = z.object({
  id,
  url: url.optional(),
  description: editableText(500),
  kinds: kinds.optional(),
  filter: webhookFilterInput.optional().describe('Replaces the filter as a whole.'),
  enabled: z
    .boolean()
    .optional()
    .describe('While false, no deliveries are added, and pending ones wait until it is true again.'),
  rotateSecret: z
    .literal(true)
    .optional()
    .describe('Generates a new secret, which is shown only in this answer.'),
  ...lookUpReason,
});
export type UpdateWebhookInput = z.infer<typeof updateWebhookInput>;

export const updatedWebhook = webhook.extend({ secret: z.string().optional() });
export type UpdatedWebhook = z.infer<typeof updatedWebhook>;

export const listWebhooksInput = z
  .object({ ...paging(50), sortOrder: sortOrder.default('asc') })
  .prefault({});
export type ListWebhooksInput = z.infer<typeof listWebhooksInput>;
export const webhooksPage = z.object({ webhooks: z.array(watchedWebhook), ...pageTotals });

export const deleteWebhookOutput = z.object({ success: z.literal(true), id: z.string() });
export const testWebhookOutput = z.object({ deliveryId: z.string() });

export const delivery = z.object({
  id: z.string().describe('The same at every attempt.'),
  webhookId: z.string(),
  kind: deliveryKind,
  status: deliveryStatus,
  attempts: z.number().describe('Number of attempts made, including those requested by `redeliver`.'),
  dueAt: z.date().nullable().describe('When the next attempt is due; null if there will be none.'),
  createdAt: z.date(),
  ...lastAttempt,
  finishedAt: z.date().nullable(),
  body: showsPlate('delivery', z.string().describe('The body that is signed and sent.')),
});
export type Delivery = z.infer<typeof delivery>;

export const listDeliveriesInput = z
  .object({
    ...paging(50),
    webhookId: id.optional(),
    status: deliveryStatus.optional(),
    kind: deliveryKind.optional(),
    ...timeRange,
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListDeliveriesInput = z.infer<typeof listDeliveriesInput>;
export const deliveriesPage = z.object({ deliveries: z.array(delivery), ...pageTotals });

export const redeliverInput = z.union([
  z.object({ id: id.describe('One delivery, whatever its status.') }),
  z.object({ webhookId: id, status: z.literal('DEAD').describe('All dead ones of the webhook.') }),
]);
export type RedeliverInput = z.infer<typeof redeliverInput>;
export const redeliverOutput = z.object({
  count: z.number().describe('Number of deliveries that are sent again.'),
});
