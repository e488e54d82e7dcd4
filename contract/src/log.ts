import { z } from 'zod';
import { id, storedId } from './id.ts';
import { MAX_TAKE } from './page.ts';
import { person } from './person.ts';
import { messagesOf, resumable } from './realtime.ts';
import { optionalText, searchText, trimmedText } from './text.ts';
import { timeInput, timeRange } from './time.ts';
import { logKinds, logRefKinds, MAX_LOG_TEXT } from './values.ts';

// The log of the control room: what operators write down. Entries are never changed.

export const logKind = z.enum(logKinds);
export type LogKind = z.infer<typeof logKind>;

/** How long after it happened something may be written down, in days. */
export const MAX_LATE_DAYS = 7;
/** Maximum number of things that one entry refers to. */
export const MAX_LOG_REFS = 20;

/** The name of a desk of the control room. Names that differ only in case are the same. */
export const desk = trimmedText(50, 1);
/** The desk of a control room that names none. */
export const DEFAULT_DESK = 'Control room';

const source = z
  .object({ who: optionalText(100), agency: optionalText(100), phone: optionalText(50) })
  .transform((given) => ((given.who ?? given.agency ?? given.phone) ? given : null))
  .nullish()
  .transform((given) => given ?? null)
  .describe('Who said it.');

const refs = z
  .array(z.object({ kind: z.enum(logRefKinds), id: storedId }))
  .max(MAX_LOG_REFS, `Refer to at most ${MAX_LOG_REFS} things`)
  .describe('What it is about.');

const words = trimmedText(MAX_LOG_TEXT, 1);
const validUntil = timeInput
  .nullish()
  .transform((given) => given ?? null)
  .describe('Of an INSTRUCTION: until when it is valid. null: until it is corrected.');

export const addLogEntryInput = z
  .object({
    kind: logKind.default('NOTE'),
    text: words,
    desk: desk
      .optional()
      .describe(`By default, the desk of your open shift, of the only open one, or else ${DEFAULT_DESK}.`),
    at: timeInput.optional().describe(`When it happened, at most ${MAX_LATE_DAYS} days ago. By default now.`),
    source,
    refs: refs.default([]),
    validUntil,
    idempotencyKey: trimmedText(100, 1)
      .optional()
      .describe('The same call with the same key adds one entry, however often it is sent.'),
  })
  .refine(({ kind, validUntil: until }) => until === null || kind === 'INSTRUCTION', {
    path: ['validUntil'],
    message: 'Only an INSTRUCTION has a validUntil: leave it out, or give the kind INSTRUCTION',
  });
export type AddLogEntryInput = z.infer<typeof addLogEntryInput>;

export const correctLogEntryInput = z.object({
  id,
  text: words,
  kind: logKind.optional(),
  source: source.optional(),
  refs: refs.optional(),
  validUntil: timeInput.nullable().optional().describe('As in log.add. To end an instruction: now.'),
});
export type CorrectLogEntryInput = z.infer<typeof correctLogEntryInput>;

export const logEntry = z.object({
  id: z.string(),
  at: z.date().describe('When it happened.'),
  createdAt: z.date().describe('When it was written.'),
  isLate: z.boolean().describe('It was written more than a minute after it happened.'),
  by: person,
  desk: z.string(),
  shiftId: z.string().nullable().describe('The shift of the desk that was open when it was written.'),
  kind: logKind,
  text: z.string(),
  source: z
    .object({ who: z.string().nullable(), agency: z.string().nullable(), phone: z.string().nullable() })
    .nullable(),
  refs: z.array(
    z.object({ kind: z.enum(logRefKinds), id: z.string(), name: z.string().describe('As it was then.') }),
  ),
  corrects: z.string().nullable().describe('The id of the entry in whose place it stands.'),
  correctedBy: z.string().nullable().describe('The id of the entry that stands in its place.'),
  validUntil: z.date().nullable(),
});
export type LogEntry = z.infer<typeof logEntry>;

export const listLogInput = z
  .object({
    ...timeRange,
    take: z.int().min(1).max(MAX_TAKE).default(50).describe('Maximum number of entries to return.'),
    before: id
      .optional()
      .describe('The id of the last entry of the page before: those that follow it are listed.'),
    desk: desk.optional(),
    kind: logKind.optional(),
    userId: id.optional().describe('Who wrote it.'),
    shiftId: id.optional(),
    refId: id
      .optional()
      .describe(
        'The id of an incident, sensor or location that it is about. Those about an incident that was merged into this one are listed too.',
      ),
    search: searchText(200),
    current: z.boolean().optional().describe('true: without entries that were corrected.'),
    valid: z.boolean().optional().describe('true: the instructions that are valid now.'),
  })
  .prefault({});
export type ListLogInput = z.infer<typeof listLogInput>;
export const logPage = z.object({
  entries: z.array(logEntry),
  hasMore: z.boolean().describe('Whether older entries follow: give the id of the last one as `before`.'),
});

export const followLogInput = z.object({ desk: desk.optional(), ...resumable }).prefault({});
export type FollowLogInput = z.infer<typeof followLogInput>;
export const logMessage = messagesOf('entry', logEntry);
