import { z } from 'zod';
import { id } from './id.ts';
import { settableTimes, stepKinds } from './incident-states.ts';
import { trimmedText } from './text.ts';

// The steps of response plans.

const KEY = 'Use 1 to 40 letters, digits, - or _';
export const planStepFields = z.object({
  key: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, KEY)
    .describe('Its name within the plan, which stays in later versions.'),
  text: trimmedText(500, 1),
  kind: z
    .enum(stepKinds)
    .describe(
      'NOTIFY: an e-mail to the agency, after a preview. RECORD_TIME: done once it sets the time `sets` to now.',
    ),
  agencyId: id
    .nullish()
    .transform((value) => value ?? null)
    .describe('For CALL and NOTIFY.'),
  sets: z
    .enum(settableTimes)
    .nullish()
    .transform((value) => value ?? null)
    .describe('For RECORD_TIME.'),
  required: z
    .boolean()
    .default(false)
    .describe('Whether the incident is resolved without it only with a reason.'),
  dueMinutes: z
    .int('Use whole minutes')
    .min(0)
    .max(10_080)
    .nullish()
    .transform((value) => value ?? null)
    .describe('Minutes from the opening of the incident until it should be done.'),
});
export const planStep = z.object({
  key: z.string(),
  text: z.string(),
  kind: z.enum(stepKinds),
  agencyId: z.string().nullable(),
  sets: z.enum(settableTimes).nullable(),
  required: z.boolean(),
  dueMinutes: z.number().nullable().describe('Minutes.'),
});
export type PlanStep = z.infer<typeof planStep>;
