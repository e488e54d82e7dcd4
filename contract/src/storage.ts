import { z } from 'zod';
import { eventType } from './events.ts';
import { id } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { text, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { MAX_HELD_EVENTS, typesWithoutHit } from './values.ts';

const bytes = z.number().describe('Bytes.');
const month = z.string().describe('Month in UTC, as `2026-01`.');

// ── Statistics ──────────────────────────────────────────────────────────────────────────────────────

/** The classes of data that retention removes: by a rule each, and hits as their hotlists say. */
export const retentionClass = z
  .enum(['events', 'images', 'reports', 'activity', 'traffic', 'hits', 'log', 'cases'])
  .describe('hits: those of hotlists with `hitDays`.');
export type RetentionClass = z.infer<typeof retentionClass>;

const removable = z.object({
  events: z.number().describe('Number of events.'),
  images: z.number().nullable().describe('null if there are too many to count in time.'),
  reports: z.number().describe('Number of reports.'),
  activity: z.number().describe('Number of entries of the activity log.'),
  traffic: z.number().describe('Number of daily counts, each of one sensor or location.'),
  hits: z.number().describe('Number of decided hits of hotlists with `hitDays`.'),
  log: z.number().describe('Number of entries of the log of the control room, and of shifts.'),
  cases: z.number().describe('Number of closed cases.'),
});

/** What is stored and how much space it uses. */
export const storageStats = z.object({
  databaseBytes: z.number().describe('Size of the whole database on disk, in bytes.'),
  eventCount: z.number().describe('Number of events.'),
  oldestEvent: z.date().nullable(),
  newestEvent: z.date().nullable(),
  months: z
    .array(
      z.object({
        month,
        events: z.number().describe('Number of events.'),
        bytes: bytes.nullable().describe('Size in bytes.'),
      }),
    )
    .describe('The months of events, oldest first. `bytes` includes indexes, and is null if unknown.'),
  images: z.object({ count: z.number().describe('Number of items.'), bytes }),
  reports: z
    .object({ count: z.number().describe('Number of items.'), bytes })
    .describe('Report files on this machine.'),
  disk: z
    .object({ totalBytes: bytes, freeBytes: bytes })
    .nullable()
    .describe('The disk of the data folder; null if unknown.'),
  nextRemoval: removable
    .extend({ at: z.date() })
    .nullable()
    .describe(
      'What the next run of retention will remove, and when, according to the current state; null if everything is kept indefinitely.',
    ),
});
export type StorageStats = z.infer<typeof storageStats>;

// ── Retention ───────────────────────────────────────────────────────────────────────────────────────

const DAYS_MAX = 36_500;
const days = z
  .int()
  .min(1)
  .max(DAYS_MAX)
  .nullable()
  .describe('Number of whole days (UTC) to keep in addition to today; null: indefinitely.');

const eventRules = z.object({
  default: days,
  byType: z
    .partialRecord(eventType, days)
    .default({})
    .describe(
      'Event types with a rule of their own; null keeps the type indefinitely, whatever the default is.',
    ),
  withoutHit: z
    .partialRecord(z.enum(typesWithoutHit), days.unwrap())
    .default({})
    .describe(
      'Event types that are kept for a shorter time if nothing came of an event: it is no violation, read no listed plate (a hit or an alert that is still stored), belongs to no incident or case, was not reviewed, and is under no legal hold. Number of whole days (UTC) to keep in addition to today. No effect where the rule of the type is as short.',
    ),
});

/** The retention rules of all classes. */
export const retentionRules = z.object({
  events: eventRules,
  images: days,
  reports: days,
  activity: days,
  traffic: days.describe(
    'Traffic counts: volumes, speeds and completeness. Number of whole days (UTC) to keep in addition to today; null: indefinitely. They are not removed with the events that they count. Where they were removed, there is a gap.',
  ),
  log: days.describe(
    'The log of the control room and its shifts. Number of whole days (UTC) to keep in addition to today; null: indefinitely.',
  ),
  cases: days.describe(
    'Cases, from the day on which they were closed. Number of whole days (UTC) to keep in addition to today; null: indefinitely.',
  ),
});
export type RetentionRules = z.infer<typeof retentionRules>;

/** Minimum number of days for which the activity log is kept. */
export const ACTIVITY_DAYS_MIN = 90;
/** Minimum number of days for which the log of the control room is kept: a year. */
export const LOG_DAYS_MIN = 365;

/** The classes to change; the others stay unchanged. */
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
      .describe('Number of whole days (UTC) to keep in addition to today; null: indefinitely.'),
    log: z
      .int()
      .min(LOG_DAYS_MIN, `Keep the log of the control room for at least ${LOG_DAYS_MIN} days`)
      .max(DAYS_MAX)
      .nullable()
      .describe('Number of whole days (UTC) to keep in addition to today; null: indefinitely.'),
  })
  .partial();
export const previewRetentionInput = retentionInput.prefault({});

export const setRetentionInput = retentionInput.extend({
  expectedUpdatedAt: timeInput
    .nullish()
    .describe(
      'The `updatedAt` of the rules as you saw them. If somebody has changed them since, nothing changes (CONFLICT).',
    ),
});
export type SetRetentionInput = z.infer<typeof setRetentionInput>;
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
  rows: z.number().describe('Number of items to remove.'),
  bytes: z.number().nullable().describe('Approximate space that this frees, in bytes; null if unknown.'),
  held: z.number().describe('Number of items that are due but kept by a legal hold.'),
  wholeMonth: z
    .boolean()
    .describe('Whether the whole month of events is removed at once, which frees its space immediately.'),
});
export type PreviewedRemoval = z.infer<typeof previewedRemoval>;

export const retentionPreview = z.object({
  rules: retentionRules,
  removals: z.array(previewedRemoval).describe('By class, month and event type.'),
  totals: removable,
  held: z.number().describe('Number of events that are due but kept by a legal hold.'),
});
export type RetentionPreview = z.infer<typeof retentionPreview>;

export const retentionRunStatus = z.enum(['RUNNING', 'COMPLETED', 'STOPPED', 'FAILED']);

export const retentionRun = z.object({
  id: z.string(),
  status: retentionRunStatus.describe(
    'STOPPED: the service stopped during the run. FAILED: see `error`. The next run continues.',
  ),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  startedBy: person.nullable().describe('null for the daily run.'),
  error: z.string().nullable(),
  removals: z
    .array(
      z.object({
        class: retentionClass,
        eventType: eventType.nullable(),
        month,
        rows: z.number().describe('Number of items.'),
        bytes: z
          .number()
          .nullable()
          .describe('Space of removed files and whole months; null if rows were removed.'),
        wholeMonth: z.boolean(),
      }),
    )
    .describe('What the run has removed so far.'),
});
export type RetentionRun = z.infer<typeof retentionRun>;

export const retentionRunsInput = z.object(paging(20)).prefault({});
export const retentionRunsPage = z.object({ runs: z.array(retentionRun), ...pageTotals });

// ── Legal holds ─────────────────────────────────────────────────────────────────────────────────────

export const setHoldInput = z.object({
  eventIds: z
    .array(id)
    .min(1, 'Name at least one event')
    .max(MAX_HELD_EVENTS, `Name at most ${MAX_HELD_EVENTS} events`),
  reason: trimmedText(1000, 1).describe('The reason, such as a case number.'),
});
export type SetHoldInput = z.infer<typeof setHoldInput>;

export const legalHold = z.object({
  id: z.string(),
  reason: z.string(),
  eventCount: z.number().describe('Number of events.'),
  createdAt: z.date(),
  createdBy: person.nullable(),
  releasedAt: z.date().nullable(),
  releasedBy: person.nullable(),
});
export type LegalHold = z.infer<typeof legalHold>;

export const listHoldsInput = z
  .object({
    released: z.boolean().optional().describe('false: only active holds; true: only released ones.'),
    eventId: text(1000, 1).optional().describe('Only holds that include this event.'),
    ...paging(50),
  })
  .prefault({});
export type ListHoldsInput = z.infer<typeof listHoldsInput>;
export const holdsPage = z.object({ holds: z.array(legalHold), ...pageTotals });

export const holdDetail = legalHold.extend({ eventIds: z.array(z.string()) });
export type HoldDetail = z.infer<typeof holdDetail>;
