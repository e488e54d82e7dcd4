import { z } from 'zod';
import { coordinates, coordinatesInput } from './coordinates.ts';
import { checkEventFilters, eventFilters, filterText, MAX_SPEED, percent } from './event-filters.ts';
import { jsonObject, jsonRecord } from './json.ts';
import { classScheme, direction, lane, movement, vehicleClass } from './movements.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { identifiesEvent, showsPlate } from './plate-fields.ts';
import { plateRegion } from './plate-regions.ts';
import { messagesOf, resumable } from './realtime.ts';
import { apiKeyInput } from './sensors.ts';
import { isStorableText, optionalText, text, trimmedText, UNSTORABLE } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import { directions, eventTypes, legs, relativeDirections, severities, turns } from './values.ts';

export const eventType = z.enum(eventTypes);
export type EventType = z.infer<typeof eventType>;

/** From least to most urgent; the position is the rank by which severities are sorted. */
export const severity = z.enum(severities);
export type Severity = z.infer<typeof severity>;

/** Replaces plates in answers to users who may not see them. */
export const HIDDEN_PLATE = '•••';

/** How a vehicle passed and its plate was read, of which an event has what its sensor reported. */
const passage = {
  direction: z
    .union([z.enum([...directions, ...relativeDirections]), z.number()])
    .optional()
    .describe('As reported: of travel, as seen from the sensor, or degrees clockwise from north.'),
  lane: z.union([z.int(), z.string()]).optional().describe('The number of the lane, or its name.'),
  vehicleClass: z.object({ scheme: classScheme, code: z.string() }).optional(),
  vehicleLength: z.number().optional().describe('m.'),
  headway: z.number().optional().describe('From front to front, in seconds.'),
  gap: z.number().optional().describe('From rear to front, in seconds.'),
  occupancyMs: z.int().optional().describe('How long the vehicle was on the detector, in milliseconds.'),
  movement: z
    .object({ from: z.enum(legs), turn: z.enum(turns).optional() })
    .optional()
    .describe('How the vehicle passed an intersection.'),
  passageId: showsPlate(
    'deviceText',
    z.string().optional().describe('Events of a sensor with the same text are about one vehicle.'),
  ),
  plateRegion: z
    .string()
    .optional()
    .describe('Where the plate is from: a country, or a part of it, such as AT or US-CA.'),
  plateConfidence: z.int().optional().describe('How sure the sensor is of the plate, in percent.'),
};
const passageShape = z.object(passage);
/** A lane and a direction in answers, as they are stored. */
export const { lane: storedLane, direction: storedDirection } = passage;
export type Passage = z.infer<typeof passageShape>;

/** An event as in lists. */
export const event = z.object({
  id: identifiesEvent(z.string()),
  eventType,
  description: showsPlate('deviceText', z.string().nullable()),
  timestamp: z.date(),
  sensorId: z.string().nullable(),
  sensorName: z.string().nullable(),
  processed: z.boolean(),
  archived: z.boolean(),
  violationType: z.string().nullable(),
  licensePlateNumber: showsPlate('plate', z.string().nullable()),
  vehicleType: z.string().nullable(),
  vehicleSpeed: z.number().nullable().describe('km/h.'),
  locationName: z.string().nullable(),
  severity: severity.nullable(),
  createdAt: z.date(),
  ...passage,
});
export type Event = z.infer<typeof event>;

/** An event with all its fields, as returned by `events.getById`. */
export const eventDetail = event.extend({
  location: coordinates.nullable(),
  metadata: showsPlate('empty', jsonObject.nullable()),
  images: showsPlate(
    'empty',
    z
      .array(z.string())
      .describe(
        'Addresses. Images that the device sent are at `/images/…` of this service: get them with the token.',
      ),
  ),
  tags: showsPlate('deviceText', z.array(z.string())),
  processedAt: z.date().nullable(),
  processedBy: person.nullable(),
  archivedAt: z.date().nullable(),
  archivedBy: person.nullable(),
});
export type EventDetail = z.infer<typeof eventDetail>;

/** Maximum length of a text in `images` that is not image data. */
export const IMAGE_REFERENCE_MAX = 2048;

/** The beginning of a JPEG, PNG or WebP file in base64, alone or in a data: URL. */
const IMAGE_DATA = /^(?:data:[^,]{0,200},\s{0,10})?(?:\/9j\/|iVBORw0KGgo|UklGR)/;

const image = z
  .string()
  .refine(isStorableText, UNSTORABLE)
  .refine(
    (value) => value.length <= IMAGE_REFERENCE_MAX || IMAGE_DATA.test(value),
    `Send an address of at most ${IMAGE_REFERENCE_MAX} characters, or a JPEG, PNG or WebP image in base64`,
  );

/** The longest time between two vehicles that is a headway or gap, in seconds. */
const MAX_HEADWAY = 86_400;

function rounded(decimals: number, least: number, most: number) {
  const scale = 10 ** decimals;
  return z
    .number()
    .min(least)
    .max(most)
    .nullish()
    .transform((value) => (typeof value === 'number' ? Math.round(value * scale) / scale : undefined));
}

/** What a device may report of how one vehicle passed and its plate was read; null means that it does not. */
const passageFields = {
  direction: direction
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'The direction of travel (NB is travelling north), APPROACHING or RECEDING as seen from the sensor, or degrees clockwise from north.',
    ),
  lane: lane
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('The number of the lane, or the name that the sensor gives it.'),
  vehicleClass: vehicleClass
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('The class of the vehicle in a scheme. `vehicleType` is a free text.'),
  vehicleLength: rounded(1, 0.1, 100).describe('m, stored to 0.1.'),
  headway: rounded(2, 0, MAX_HEADWAY).describe(
    'From the front of the vehicle ahead to its own, in seconds, stored to 0.01.',
  ),
  gap: rounded(2, 0, MAX_HEADWAY).describe(
    'From the rear of the vehicle ahead to its own front, in seconds, stored to 0.01.',
  ),
  occupancyMs: z
    .int()
    .min(0)
    .max(MAX_HEADWAY * 1000)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('How long the vehicle was on the detector, in milliseconds.'),
  movement: movement
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('How the vehicle passed an intersection.'),
  passageId: text(128, 1)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'Events of a sensor with the same text, each at most 15 minutes after the one before, are about one vehicle, which counts once.',
    ),
  plateRegion: plateRegion
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'Where the plate is from, as far as the sensor knows: a country (ISO 3166-1 alpha-2), and a part of it (ISO 3166-2) after a hyphen, such as AT or US-CA.',
    ),
  plateConfidence: percent
    .nullish()
    .transform((value) => value ?? undefined)
    .describe('How sure the sensor is of the plate, in percent: from 0 to 100.'),
};

/** The names of the fields that say how a vehicle passed and its plate was read. */
export const passageFieldNames = Object.keys(passageFields) as (keyof typeof passageFields)[];

/** The fields of an event that devices report. */
const eventFields = {
  eventType,
  description: optionalText(10_000),
  location: coordinatesInput.nullish().transform((value) => value ?? null),
  metadata: jsonRecord
    .nullish()
    .transform((value) => value ?? null)
    .describe('Numbers are stored in double precision: send integers of more than 15 digits as strings.'),
  images: z
    .array(image)
    .max(100, 'Send at most 100 images')
    .nullish()
    .transform((value) => value ?? [])
    .describe(
      'JPEG, PNG or WebP images in base64, alone or as `data:` URLs, or addresses of at most 2048 characters. The bytes determine the format, whatever type the URL names. A truncated image is stored, and named in `warnings`.',
    ),
  tags: z
    .array(trimmedText(100, 1))
    .max(100, 'Send at most 100 tags')
    .nullish()
    .transform((value) => value ?? []),
  violationType: optionalText(100),
  licensePlateNumber: optionalText(50),
  vehicleType: optionalText(100),
  vehicleSpeed: z
    .number()
    .min(0)
    .max(MAX_SPEED)
    .nullish()
    .transform((value) => value ?? null)
    .describe('km/h.'),
  ...passageFields,
  severity: severity.nullish().transform((value) => value ?? null),
  timestamp: timeInput
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'When the event happened. Default: now. At most 5 minutes in the future, and not before the year 2000.',
    ),
  idempotencyKey: text(128, 1)
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'Together with `timestamp`: a retry with the same key and time is the same event, and is stored once.',
    ),
};

function keyNeedsTime(value: { idempotencyKey?: string | undefined; timestamp?: string | undefined }) {
  return value.idempotencyKey === undefined || value.timestamp !== undefined;
}
const KEY_NEEDS_TIME = {
  path: ['idempotencyKey'],
  message: 'An idempotencyKey requires a timestamp: send both',
};

export const reportedEvent = z.object(eventFields).refine(keyNeedsTime, KEY_NEEDS_TIME);
export type ReportedEvent = z.infer<typeof reportedEvent>;

const strict = z
  .boolean()
  .optional()
  .describe(
    'true: an event with unknown fields is refused. Otherwise they are ignored, and named in `warnings`.',
  );

export const ingestInput = z
  .object({ apiKey: apiKeyInput, ...eventFields, strict })
  .refine(keyNeedsTime, KEY_NEEDS_TIME);

/** An event of a batch. */
export const batchEvent = z.object({ ...eventFields, strict }).refine(keyNeedsTime, KEY_NEEDS_TIME);

/** Fields of an event that were ignored, and values that were not stored as they were sent. */
const warnings = z
  .array(z.object({ path: z.string(), message: z.string() }))
  .optional()
  .describe(
    'The unknown fields of the event, which were ignored, truncated images, integers that lost digits, and a timestamp that is null; at most 20. Absent if there are none.',
  );
export const ingestOutput = z.object({ success: z.literal(true), eventId: z.string(), warnings });

/** Maximum number of events in one `events.ingestBatch`. */
export const MAX_INGEST_BATCH = 1000;

/** The time of which a batch contains every passage, so that its quiet parts are zeros and not gaps. */
export const observedSpan = z.object({
  from: timeInput.describe('Inclusive.'),
  until: timeInput.describe('Exclusive, after `from`.'),
});
export type ObservedSpan = z.infer<typeof observedSpan>;

/** Events of a batch are validated one by one, so that an invalid one does not affect the others. */
export const ingestBatchInput = z.object({
  apiKey: apiKeyInput,
  strict,
  observed: observedSpan
    .nullish()
    .transform((value) => value ?? undefined)
    .describe(
      'The time of which the batch contains every vehicle: quiet parts of it count as zero, not as a gap.',
    ),
  events: z
    .array(z.unknown())
    .min(1, 'Send at least one event')
    .max(MAX_INGEST_BATCH, 'Send at most 1000 events'),
});

export const ingestedItem = z.union([
  z.object({ eventId: z.string(), duplicate: z.boolean(), warnings }),
  z.object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  }),
]);
export type IngestedItem = z.infer<typeof ingestedItem>;
export const ingestBatchOutput = z.object({
  success: z.boolean().describe('Whether every event was stored.'),
  results: z.array(ingestedItem).describe('One entry per event, in the order in which they were sent.'),
});

/** The reason for a search by plate. The activity log records it with the search. */
export const lookUpReason = {
  reason: filterText(500).describe(
    'Why the plate is looked up. Recorded in the activity log with the user and the time.',
  ),
  purpose: filterText(40).describe(
    'For what the plate is looked up: a code of the setting `PURPOSES`, which requires one if it is set. Recorded.',
  ),
  caseNumber: filterText(100).describe('The case for which the plate is looked up. Recorded.'),
};
const lookUpShape = z.object(lookUpReason);
export type LookUpReason = z.infer<typeof lookUpShape>;

export const listEventsInput = z
  .object({
    ...eventFilters,
    ...timeRange,
    ...lookUpReason,
    ...paging(50),
    sortBy: z.enum(['timestamp', 'createdAt', 'eventType', 'severity']).default('timestamp'),
    sortOrder: sortOrder.default('desc'),
  })
  .superRefine(checkEventFilters)
  .prefault({});
export type ListEventsInput = z.infer<typeof listEventsInput>;

export const followEventsInput = z
  .object({ ...eventFilters, ...timeRange, ...lookUpReason, ...resumable })
  .superRefine(checkEventFilters)
  .prefault({});
export type FollowEventsInput = z.infer<typeof followEventsInput>;
export type EventFilter = Pick<ListEventsInput, keyof typeof eventFilters>;

export const ingestedMessage = messagesOf('event', event);

export const eventsPage = z.object({ events: z.array(event), ...pageTotals });

export const recentEventsInput = z
  .object({
    limit: z.int().min(1).max(100).default(10).describe('Maximum number of items to return.'),
    eventType: eventType.optional(),
  })
  .prefault({});

export const succeeded = z.object({ success: z.literal(true) });

export const statsInput = z.object(timeRange).prefault({});
export const eventStats = z.object({
  total: z.number().describe('Number of events.'),
  byType: z.array(z.object({ eventType: z.string(), count: z.number().describe('Number of items.') })),
  processed: z.number().describe('Number of events marked as processed.'),
  unprocessed: z.number().describe('Number of events not marked as processed.'),
  archived: z.number().describe('Number of archived events.'),
  byViolationType: z
    .array(z.object({ violationType: z.string(), count: z.number().describe('Number of items.') }))
    .describe(
      'Spellings that differ only in case are one violation type, named by the most frequent spelling.',
    ),
});
export type EventStats = z.infer<typeof eventStats>;
