import { z } from 'zod';
import { batchOf, batchResults } from './batch.ts';
import { severity } from './events.ts';
import { id } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { PLATE_RULES, plateKey } from './plate.ts';
import { identifiesEvent, showsPlate } from './plate-fields.ts';
import { messagesOf, resumable } from './realtime.ts';
import { optionalText, searchText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';

/** A plate on the watchlist. */
export const watchlistEntry = z.object({
  id: z.string(),
  pattern: showsPlate(
    'plate',
    z.string().describe('The plate as it was entered; `*` matches any sequence of characters.'),
  ),
  reason: z.string(),
  priority: severity,
  validFrom: z.date().nullable(),
  validUntil: z.date().nullable().describe('Inclusive.'),
  fuzzy: z
    .boolean()
    .describe(
      'Whether characters match that look alike: those that cameras confuse, and those of other scripts.',
    ),
  createdBy: person,
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type WatchlistEntry = z.infer<typeof watchlistEntry>;

/** An entry with who changed it last, as returned by `watchlist.getById`. */
export const watchlistEntryDetail = watchlistEntry.extend({
  updatedBy: person.nullable().describe('null: nobody has changed it.'),
});
export type WatchlistEntryDetail = z.infer<typeof watchlistEntryDetail>;

/** Reads of one vehicle by one sensor that are at most this many minutes apart are one alert. */
export const SAME_ALERT_MINUTES = 10;

/**
 * A read of a watched plate, and its repetitions. It copies the fields of the entry at that time, and stays when the
 * entry is deleted.
 */
export const watchlistAlert = z.object({
  id: z.string(),
  entryId: z.string(),
  pattern: showsPlate('plate', z.string()),
  reason: z.string(),
  priority: severity,
  eventId: identifiesEvent(z.string()),
  licensePlateNumber: showsPlate('plate', z.string().describe('The plate as it was read.')),
  sensorId: z.string().nullable(),
  sensorName: z.string().nullable(),
  locationName: z.string().nullable(),
  timestamp: z.date().describe('When the plate was read: the time of the event.'),
  createdAt: z.date(),
  acknowledgedAt: z.date().nullable(),
  acknowledgedBy: person.nullable(),
  note: z.string().nullable(),
  backlog: z
    .boolean()
    .describe(
      'Whether the read was already more than 15 minutes old when it arrived, for example because a sensor was offline.',
    ),
  sightings: z
    .number()
    .describe(
      `Number of reads: further ones of the vehicle by the same sensor, at most ${SAME_ALERT_MINUTES} minutes apart, raise no alert of their own. Subscribers receive the alert again with each; webhooks do not.`,
    ),
  lastSeenAt: z.date().describe('When the plate was read last.'),
});
export type WatchlistAlert = z.infer<typeof watchlistAlert>;

/** Shorter patterns would match half of the traffic. */
const MIN_CHARACTERS = 2;

function saysEnough(pattern: string): boolean {
  return [...plateKey(pattern).replaceAll('*', '')].length >= MIN_CHARACTERS;
}

const pattern = trimmedText(50, 1)
  .refine(saysEnough, 'Give at least two letters or digits of the plate besides *')
  .describe(`${PLATE_RULES} At least two other characters are required.`);
const reason = trimmedText(500, 1);
const fuzzy = z
  .boolean()
  .describe(
    'Whether characters that cameras often confuse also match (0/O/Q/D, 1/I/L, 8/B, 5/S, 2/Z), and letters of other scripts that look alike (Latin, Cyrillic, Greek and others).',
  );
const validFrom = timeInput
  .nullish()
  .describe(
    "Reads from this time on match. A plain date is the start of that day in the service's time zone.",
  );
const validUntil = timeInput
  .nullish()
  .describe("Reads up to this time match. A plain date is the end of that day in the service's time zone.");

export const createWatchlistEntryInput = z.object({
  pattern,
  reason,
  priority: severity.default('MEDIUM'),
  validFrom: validFrom.transform((value) => value ?? null),
  validUntil: validUntil.transform((value) => value ?? null),
  fuzzy: fuzzy.default(false),
});
export type CreateWatchlistEntryInput = z.infer<typeof createWatchlistEntryInput>;

export const updateWatchlistEntryInput = z.object({
  id,
  pattern: pattern.optional(),
  reason: reason.optional(),
  priority: severity.optional(),
  validFrom,
  validUntil,
  fuzzy: fuzzy.optional(),
  expectedUpdatedAt: timeInput
    .optional()
    .describe(
      'The `updatedAt` of the entry as you saw it. If somebody has changed the entry since, nothing changes (CONFLICT).',
    ),
});
export type UpdateWatchlistEntryInput = z.infer<typeof updateWatchlistEntryInput>;

export const listWatchlistInput = z
  .object({
    ...paging(50),
    search: searchText(200).describe('Part of a pattern or reason, ignoring case.'),
    priority: severity.optional(),
    active: z.boolean().optional().describe('Whether the entry is valid now.'),
    sortBy: z.enum(['createdAt', 'pattern', 'priority', 'validUntil']).default('createdAt'),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListWatchlistInput = z.infer<typeof listWatchlistInput>;

export const watchlistPage = z.object({ entries: z.array(watchlistEntry), ...pageTotals });
export const deleteWatchlistEntryOutput = z.object({ success: z.literal(true), id: z.string() });

export const listAlertsInput = z
  .object({
    ...timeRange,
    ...paging(50),
    acknowledged: z.boolean().optional(),
    entryId: id.optional(),
    priority: severity.optional(),
    backlog: z
      .boolean()
      .optional()
      .describe('Whether the read was more than 15 minutes old when it arrived.'),
    sortBy: z
      .enum(['createdAt', 'priority'])
      .default('createdAt')
      .describe(
        '`createdAt`: the time at which the alert was raised. `priority` descending: the most urgent first, among those of one priority the unacknowledged ones, then the oldest; ascending: the reverse.',
      ),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListAlertsInput = z.infer<typeof listAlertsInput>;

export const alertsPage = z.object({ alerts: z.array(watchlistAlert), ...pageTotals });

export const followAlertsInput = z
  .object({
    entryId: id.optional(),
    priority: severity.optional().describe('Only alerts of this priority.'),
    ...resumable,
  })
  .prefault({});
export type FollowAlertsInput = z.infer<typeof followAlertsInput>;
export const alertMessage = messagesOf('alert', watchlistAlert);

export const acknowledgeAlertInput = z.object({ id, note: optionalText(1000) });
export type AcknowledgeAlertInput = z.infer<typeof acknowledgeAlertInput>;

export const acknowledgeAlertBatchInput = z.object({
  ids: batchOf(id, 'alert').describe('The ids of alerts.'),
  note: optionalText(1000),
});
export const acknowledgeAlertBatchOutput = batchResults(z.object({ id: z.string(), alert: watchlistAlert }));

export const undoAcknowledgeAlertBatchInput = acknowledgeAlertBatchInput.pick({ ids: true });
export const undoAcknowledgeAlertBatchOutput = acknowledgeAlertBatchOutput;
