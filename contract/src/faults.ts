import { z } from 'zod';
import { faultStates } from './fault-states.ts';
import { id, storedId } from './id.ts';
import { pageTotals, paging, sortOrder } from './page.ts';
import { person } from './person.ts';
import { messagesOf, resumable } from './realtime.ts';
import { editableText, optionalText, searchText, trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { MAX_NOTE_IMAGES } from './values.ts';

// Faults of sensors: what is broken, who works on it, and since when.

export const faultState = z
  .enum(faultStates)
  .describe('FOUND: nobody works on it yet. WAITING: for a part, for access, for somebody else.');

/** How long ago a fault may have been found when it is reported, in days. */
export const MAX_FOUND_DAYS = 366;
/** Maximum number of faults of one sensor that are not repaired. */
export const MAX_OPEN_FAULTS = 20;

/** Maximum number of images of one fault. */
export const MAX_FAULT_IMAGES = 20;

const CODE = 50;
const TICKET = 100;
const words = trimmedText(1_000, 1);
const CODE_NOTE =
  'What is broken, in the words of your organisation, such as LENS or 4.2. A sensor has at most one fault with a code that is not repaired, ignoring case.';
const TICKET_NOTE = 'Its number with whoever repairs it.';

const images = z
  .array(z.string())
  .max(MAX_NOTE_IMAGES, `Attach at most ${MAX_NOTE_IMAGES} images`)
  .nullish()
  .transform((value) => value ?? []);
const IMAGES_NOTE = `JPEG, PNG or WebP images in base64, alone or as \`data:\` URLs. A fault has at most ${MAX_FAULT_IMAGES}.`;

export const reportFaultInput = z.object({
  sensorId: storedId,
  text: words.describe('What is wrong.'),
  code: optionalText(CODE).describe(CODE_NOTE),
  ticket: optionalText(TICKET).describe(TICKET_NOTE),
  images: images.describe(IMAGES_NOTE),
  foundAt: timeInput
    .optional()
    .describe(`When it was found, at most ${MAX_FOUND_DAYS} days ago. By default now.`),
  idempotencyKey: trimmedText(100, 1)
    .optional()
    .describe('The same call with the same key reports one fault, however often it is sent.'),
});
export type ReportFaultInput = z.infer<typeof reportFaultInput>;

export const updateFaultInput = z
  .object({
    id,
    state: faultState.optional(),
    reason: optionalText(500).describe(
      'Why the state changes. Required for WAITING, which says for what, and to open a repaired fault again.',
    ),
    text: words.optional(),
    code: editableText(CODE).describe(CODE_NOTE),
    ticket: editableText(TICKET).describe(TICKET_NOTE),
    images: images.describe(`More images, after those that it has. ${IMAGES_NOTE}`),
    version: z
      .int()
      .min(1)
      .optional()
      .describe('`version` of the fault as you saw it: CONFLICT if somebody changed it since.'),
  })
  .refine(
    ({ state, text, code, ticket, images }) =>
      images.length > 0 || [state, text, code, ticket].some((given) => given !== undefined),
    {
      message: 'Name what to change: state, text, code, ticket or images',
    },
  )
  .refine(({ state, reason }) => reason === null || state !== undefined, {
    path: ['reason'],
    message: 'A reason is for a change of the state: give the state, too',
  });
export type UpdateFaultInput = z.infer<typeof updateFaultInput>;

/** A fault as in lists. */
export const fault = z.object({
  id: z.string(),
  sensor: z.object({ id: z.string(), name: z.string().describe('As it is now, or was last.') }),
  place: z.string().nullable().describe('The name of the location of the sensor.'),
  state: faultState,
  since: z.date().describe('Since when it is in that state.'),
  reason: z.string().nullable().describe('Why it is.'),
  foundAt: z.date(),
  text: z.string(),
  code: z.string().nullable(),
  ticket: z.string().nullable(),
  imageCount: z.number().describe('Number of its images.'),
  reportedBy: person,
  createdAt: z.date().describe('When it was reported.'),
  updatedAt: z.date(),
  version: z.number().describe('Counts the changes.'),
});
export type Fault = z.infer<typeof fault>;

/** A fault with its images, and the states that it went through. */
export const faultDetail = fault.extend({
  history: z.array(z.object({ state: faultState, at: z.date(), by: person, reason: z.string().nullable() })),
  images: z
    .array(z.object({ address: z.string().describe('As in `images` of events.'), at: z.date(), by: person }))
    .describe('Those that were attached first before the others. Every user can read them.'),
});
export type FaultDetail = z.infer<typeof faultDetail>;

export const listFaultsInput = z
  .object({
    ...paging(50),
    sensorId: id.optional(),
    locationId: id.optional().describe('Only of sensors at this location.'),
    tag: searchText(40).describe('Only of sensors with this tag, ignoring case.'),
    state: faultState.optional(),
    open: z.boolean().optional().describe('true: those that are not repaired. false: those that are.'),
    search: searchText(200).describe('Part of the text, code, ticket or name of the sensor, ignoring case.'),
    sortBy: z.enum(['foundAt', 'since']).default('foundAt'),
    sortOrder: sortOrder.default('desc'),
  })
  .prefault({});
export type ListFaultsInput = z.infer<typeof listFaultsInput>;
export const faultsPage = z.object({ faults: z.array(fault), ...pageTotals });

export const followFaultsInput = z.object({ sensorId: id.optional(), ...resumable }).prefault({});
export type FollowFaultsInput = z.infer<typeof followFaultsInput>;
export const faultMessage = messagesOf('fault', fault);
