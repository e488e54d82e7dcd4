import { z } from 'zod';
import { eventType } from './events.ts';
import { id } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { text, trimmedText } from './text.ts';

const bytes = z.number().describe('Bytes.');
const month = z.string().describe('Month in UTC, as `2026-01`.');

// ── What there is ───────────────────────────────────────────────────────────────────────────────────

/** What can be kept for a time of its own. */
export const retentionClass = z.enum(['events', 'images', 'reports', 'activity', 'traffic']);
export type RetentionClass = z.infer<typeof retentionClass>;

const removable = z.object({
  events: z.number(),
  images: z.number(),
  reports: z.number(),
  activity: z.number(),
  traffic: z.number().describe('Days of counts, of one sensor or location each.'),
});

/** What is stored and how much room it takes. */
export const storageStats = z.object({
  databaseBytes: z.number().describe('Size of the whole database on disk, in bytes.'),
  eventCount: z.number(),
  oldestEvent: z.date().nullable(),
  newestEvent: z.date().nullable(),
  months: z
    .array(z.object({ month, events: z.number(), bytes: bytes.nullable() }))
    .describe('The months of events, oldest first; `bytes` with indexes, null where it cannot be told.'),
  images: z.object({ count: z.number(), bytes }),
  reports: z.object({ count: z.number(), bytes }).describe('The files of reports on this machine.'),
  disk: z
    .object({ totalBytes: bytes, freeBytes: bytes })
    .nullable()
    .describe('The disk that the data folder is on; null where it cannot be told.'),
  nextRemoval: removable
    .extend({ at: z.date() })
    .nullable()
    .describe('What retention removes next and when, as things are now; null when nothing is limited.'),
});
export type StorageStats = z.infer<typeof storageStats>;

// ── Retention ───────────────────────────────────────────────────────────────────────────────────────

const DAYS_MAX = 36_500;
const days = z
  .int()
  .min(1)
  .max(DAYS_MAX)
  .nullable()
  .describe('Whole days (UTC) that are kept beside today; null: for ever.');

const eventRules = z.object({
  default: days,
  byType: z
    .partialRecord(eventType, days)
    .default({})
    .describe('Event types with a rule of their own; null there: for ever, whatever the default is.'),
});

/** How long each class is kept. */
export const retentionRules = z.object({
  events: eventRules,
  images: days,
  reports: days,
  activity: days,
  traffic: days.describe(
    'Counts of traffic: volumes, speeds and completeness. Whole days (UTC) that are kept beside today; null: for ever. They do not go with the events that they count, and what was removed is a gap.',
  ),
});
export type RetentionRules = z.infer<typeof retentionRules>;

/** Fewest days for which the activity log is kept. */
export const ACTIVITY_DAYS_MIN = 90;

/** The classes that are given; the others stay as they are. */
export const retentionInput = retentionRules
  .extend({
    activity: z
      .int()
      .min(
        ACTIVITY_DAYS_MIN,
        `Keep the activity log for at least ${ACTIVITY_DAYS_MIN} days: it shows who did what`,
      )
      .max(DAYS_MAX)
      .nullable()
      .describe('Whole days (UTC) that are kept beside today; null: for ever.'),
  })
  .partial();
export const previewRetentionInput = retentionInput.prefault({});
export type RetentionInput = z.infer<typeof retentionInput>;

export const retentionSettings = retentionRules.extend({
  updatedAt: z.date().nullable(),
  updatedBy: person.nullable(),
});
export type RetentionSettings = z.infer<typeof retentionSettings>;

export const previewedRemoval = z.object({
  class: retentionClass,
  eventType: eventType.nullable(),
  month,
  rows: z.number().describe('How many go.'),
  bytes: z.number().nullable().describe('About how much room that frees; null where it cannot be told.'),
  held: z.number().describe('How many are due but stay under a legal hold.'),
  wholeMonth: z
    .boolean()
    .describe('Whether the month of events goes as a whole, which frees its room at once.'),
});
export type PreviewedRemoval = z.infer<typeof previewedRemoval>;

export const retentionPreview = z.object({
  rules: retentionRules,
  removals: z.array(previewedRemoval).describe('By class, month and event type.'),
  totals: removable,
  held: z.number().describe('Events that are due but stay under a legal hold.'),
});
export type RetentionPreview = z.infer<typeof retentionPreview>;

export const retentionRunStatus = z.enum(['RUNNING', 'COMPLETED', 'STOPPED', 'FAILED']);

export const retentionRun = z.object({
  id: z.string(),
  status: retentionRunStatus.describe(
    'STOPPED: the service ended meanwhile; FAILED: see `error`. What was not done is done by the next run.',
  ),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  startedBy: person.nullable().describe('null: the daily run.'),
  error: z.string().nullable(),
  removals: z
    .array(
      z.object({
        class: retentionClass,
        eventType: eventType.nullable(),
        month,
        rows: z.number(),
        bytes: z
          .number()
          .nullable()
          .describe('Room of files and of whole months; null where rows were removed.'),
        wholeMonth: z.boolean(),
      }),
    )
    .describe('What it has removed so far.'),
});
export type RetentionRun = z.infer<typeof retentionRun>;

export const retentionRunsInput = z.object(paging(20)).prefault({});
export const retentionRunsPage = z.object({ runs: z.array(retentionRun), ...pageTotals });

// ── Legal holds ─────────────────────────────────────────────────────────────────────────────────────

/** Most events that one hold names. */
export const MAX_HELD_EVENTS = 1000;

export const setHoldInput = z.object({
  eventIds: z.array(id).min(1, 'Name at least one event').max(MAX_HELD_EVENTS, 'Name at most 1000 events'),
  reason: trimmedText(1000, 1).describe('Why, such as the number of the case.'),
});
export type SetHoldInput = z.infer<typeof setHoldInput>;

export const legalHold = z.object({
  id: z.string(),
  reason: z.string(),
  eventCount: z.number(),
  createdAt: z.date(),
  createdBy: person.nullable(),
  releasedAt: z.date().nullable(),
  releasedBy: person.nullable(),
});
export type LegalHold = z.infer<typeof legalHold>;

export const listHoldsInput = z
  .object({
    released: z.boolean().optional().describe('false: only those in force; true: only those that ended.'),
    eventId: text(1000, 1).optional().describe('Only those that hold this event.'),
    ...paging(50),
  })
  .prefault({});
export type ListHoldsInput = z.infer<typeof listHoldsInput>;
export const holdsPage = z.object({ holds: z.array(legalHold), ...pageTotals });

export const holdDetail = legalHold.extend({ eventIds: z.array(z.string()) });
export type HoldDetail = z.infer<typeof holdDetail>;
