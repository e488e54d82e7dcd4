import { z } from 'zod';
import { id } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { optionalText, text } from './text.ts';
import { timeInput } from './time.ts';
import { activityLogEntry } from './users.ts';
import { auditVerdicts } from './values.ts';

// The audit of who looked at plates: samples of the activity log, judgements of their entries, and the log as a stream.

/** Maximum number of entries of a sample. */
export const MAX_SAMPLE = 500;

export const drawSampleInput = z.object({
  from: timeInput.describe(
    "Start, inclusive. A plain date is the start of that day in the service's time zone.",
  ),
  until: timeInput.describe('End, inclusive, not before the start.'),
  n: z
    .int()
    .min(1, 'Draw at least one entry')
    .max(MAX_SAMPLE, `Draw at most ${MAX_SAMPLE} entries`)
    .describe('Number of entries. If there are fewer, all are drawn.'),
  seed: text(100, 1)
    .optional()
    .describe('The same seed draws the same entries from the same log. By default, it is random.'),
});
export type DrawSampleInput = z.infer<typeof drawSampleInput>;

export const auditVerdict = z.enum(auditVerdicts);

export const judgement = z.object({
  verdict: auditVerdict,
  note: z.string().nullable(),
  by: person.nullable(),
  at: z.date(),
});
export type Judgement = z.infer<typeof judgement>;

export const judgeInput = z.object({
  entryId: id.describe('An entry of the activity log that is in a sample.'),
  verdict: auditVerdict,
  note: optionalText(2_000),
});
export type JudgeInput = z.infer<typeof judgeInput>;
export const judgedEntry = z.object({
  entryId: z.string(),
  judgements: z.array(judgement).describe('Oldest first. The last one is in force.'),
});

export const auditSample = z.object({
  id: z.string(),
  drawnAt: z.date(),
  drawnBy: person.nullable(),
  from: z.date(),
  until: z.date().describe('The end, excluded.'),
  seed: z.string(),
  population: z.int().describe('Number of entries from which it was drawn.'),
  drawn: z.int().describe('Number of its entries.'),
  judged: z.int().describe('Number of its entries that were judged.'),
  unjustified: z.int().describe('Number of its entries whose last verdict is UNJUSTIFIED.'),
});
export type AuditSample = z.infer<typeof auditSample>;

export const auditSampleDetail = auditSample.extend({
  entries: z
    .array(
      judgedEntry.extend({
        entry: activityLogEntry.nullable().describe('null: retention has removed it, after it was judged.'),
        isOwn: z.boolean().describe('Whether it is an entry of the caller, which somebody else must judge.'),
      }),
    )
    .describe('In the order in which they were drawn.'),
});
export type AuditSampleDetail = z.infer<typeof auditSampleDetail>;

export const listSamplesInput = z.object(paging(50)).prefault({});
export const samplesPage = z.object({
  samples: z.array(auditSample).describe('Newest first.'),
  ...pageTotals,
});

export const readActivityInput = z
  .object({
    after: z
      .string()
      .regex(/^\d{1,20}-\d{1,19}$/, 'Use `next` of the answer before')
      .optional()
      .describe('`next` of the answer before. By default, it begins with the oldest entry.'),
    take: z.int().min(1).max(1_000).default(100).describe('Maximum number of entries.'),
  })
  .prefault({});
export type ReadActivityInput = z.infer<typeof readActivityInput>;
export const activityPage = z.object({
  entries: z
    .array(activityLogEntry)
    .describe(
      'In the order of their commits. An entry is as it was first written: without the `count` of repetitions, which changes.',
    ),
  next: z.string().describe('Send it as `after` for the entries that follow, now or later.'),
});
export type ActivityPage = z.infer<typeof activityPage>;
