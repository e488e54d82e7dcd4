import { z } from 'zod';
import { plainDate } from './calendars.ts';
import { id } from './id.ts';
import { timeOfDay } from './notices.ts';
import { person } from './person.ts';
import { timezoneName } from './system.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';

// Rotas: who is on duty when.

export const MAX_ROTAS = 50;
export const MAX_LAYERS = 10;
export const MAX_MEMBERS = 50;
export const MAX_OVERRIDES = 200;

export const rotaHours = z
  .object({
    from: timeOfDay,
    until: timeOfDay.describe('On the next day if it is not later than `from`.'),
    weekdays: z
      .array(z.int().min(1).max(7))
      .min(1, 'Name at least one day of the week')
      .transform((days) => [...new Set(days)].sort())
      .describe('The days on which the hours begin: 1 = Monday … 7 = Sunday.'),
  })
  .describe('When the layer applies, in the time zone of the rota.');
export type RotaHours = z.infer<typeof rotaHours>;

export const rotaLayer = z.object({
  start: plainDate.describe('The first day, YYYY-MM-DD.'),
  handover: timeOfDay.default('08:00').describe('When the next member begins.'),
  days: z.int().min(1).max(366).describe('Number of days that each member is on duty.'),
  members: z
    .array(id)
    .min(1, 'Name at least one user')
    .max(MAX_MEMBERS, `Name at most ${MAX_MEMBERS} users`)
    .describe('The ids of users, in their order. One may be named several times.'),
  hours: rotaHours.nullish().transform((value) => value ?? null),
});
export type RotaLayer = z.infer<typeof rotaLayer>;

const layers = z
  .array(rotaLayer)
  .min(1, 'Name at least one layer')
  .max(MAX_LAYERS, `Use at most ${MAX_LAYERS} layers`)
  .describe('Where several apply, the last one counts.');

const overrideInput = z.object({
  from: timeInput.describe("A time without an offset is in the rota's time zone."),
  until: timeInput.describe('Exclusive. A plain date is the start of that day.'),
  userId: id.nullable().describe('null: nobody is on duty.'),
});
const overridesInput = z.array(overrideInput).max(MAX_OVERRIDES, `Use at most ${MAX_OVERRIDES} overrides`);

export const rotaOverride = z.object({ from: z.date(), until: z.date(), userId: z.string().nullable() });

/** An override as it is stored: times in ISO 8601 and UTC. */
export interface StoredOverride {
  readonly from: string;
  readonly until: string;
  readonly userId: string | null;
}

export const rotaWarning = z.object({
  kind: z
    .enum(['GAP', 'UNREACHABLE'])
    .describe('UNREACHABLE: a member with no confirmed contact, or a deleted one.'),
  from: z.date().nullable().describe('The first gap.'),
  until: z.date().nullable(),
  others: z.number().describe('Number of further gaps.'),
  user: person.nullable(),
  message: z.string(),
});
export type RotaWarning = z.infer<typeof rotaWarning>;
const warnings = z
  .array(rotaWarning)
  .describe('Times of the next four weeks at which nobody is on duty, and members who cannot be reached.');

export const rota = z.object({
  id: z.string(),
  name: z.string(),
  timezone: z.string(),
  layers: z.array(
    z.object({
      start: z.string(),
      handover: z.string(),
      days: z.number().describe('Number of days that each member is on duty.'),
      members: z.array(z.string()),
      hours: z
        .object({
          from: z.string(),
          until: z.string(),
          weekdays: z.array(z.number().describe('1 = Monday … 7 = Sunday.')),
        })
        .nullable(),
    }),
  ),
  overrides: z.array(rotaOverride),
  createdBy: person.nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
export type Rota = z.infer<typeof rota>;
export const savedRota = rota.extend({ warnings });
export const rotaList = z.object({
  rotas: z.array(rota.extend({ onDuty: person.nullable().describe('Who is on duty now.') })),
});

const rotaName = trimmedText(100, 1);
export const createRotaInput = z.object({
  name: rotaName,
  timezone: timezoneName.optional().describe("By default, the service's."),
  layers,
  overrides: overridesInput.default([]),
});
export type CreateRotaInput = z.infer<typeof createRotaInput>;
export const updateRotaInput = z.object({
  id,
  name: rotaName.optional(),
  timezone: timezoneName.optional(),
  layers: layers.optional(),
  overrides: overridesInput.optional().describe('Replaces all overrides.'),
});
export type UpdateRotaInput = z.infer<typeof updateRotaInput>;

/** Maximum number of days whose shifts are shown at once. */
export const MAX_SHIFT_DAYS = 92;
const shiftRange = {
  startDate: plainDate.optional().describe('The first day, in the time zone of the rota. By default, today.'),
  days: z.int().min(1).max(MAX_SHIFT_DAYS).default(28).describe('Number of days.'),
};
export const previewRotaInput = createRotaInput.omit({ name: true }).extend(shiftRange);
export type PreviewRotaInput = z.infer<typeof previewRotaInput>;
export const onDutyInput = z.object({
  id,
  at: timeInput.optional().describe('By default, now.'),
  ...shiftRange,
});
export type OnDutyInput = z.infer<typeof onDutyInput>;

export const shift = z.object({
  from: z.date(),
  until: z.date(),
  user: person.nullable().describe('null: nobody is on duty.'),
  layer: z.number().nullable().describe('The position of the layer, from 0; null for an override or a gap.'),
});
export type Shift = z.infer<typeof shift>;
export const previewedRota = z.object({ shifts: z.array(shift), warnings });
export const dutyAnswer = z.object({
  onDuty: person.nullable().describe('At `at`; null if nobody is.'),
  shifts: z.array(shift),
});
export const deletedRota = z.object({ success: z.literal(true), id: z.string() });
