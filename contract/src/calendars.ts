import { z } from 'zod';
import { id } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';

// The calendar: days on which traffic is not as usual.

export const calendarKinds = ['HOLIDAY', 'SCHOOL_BREAK', 'WORKS', 'EVENT', 'WEATHER', 'SPECIAL'] as const;
export const calendarKind = z
  .enum(calendarKinds)
  .describe('HOLIDAY: in no average of working days (AWDT). The others are notes (R18).');
export type CalendarKind = z.infer<typeof calendarKind>;

const PLAIN_DATE = /^(?!0000)\d{4}-\d{2}-\d{2}$/;
const USE_DATE = 'Use a date such as 2026-01-01';
export const plainDate = timeInput.pipe(z.string().regex(PLAIN_DATE, { error: USE_DATE, abort: true }));

const dayFields = {
  date: plainDate.describe('YYYY-MM-DD, local.'),
  kind: calendarKind,
  name: trimmedText(100, 1),
  locationId: id
    .nullish()
    .transform((value) => value ?? null)
    .describe('Only for this location. By default, for all.'),
};
export const calendarDayInput = z.object(dayFields);
export type CalendarDayInput = z.infer<typeof calendarDayInput>;

/** Maximum number of days in one call. */
export const MAX_CALENDAR_DAYS = 1_000;
export const createCalendarDaysInput = z.object({
  days: z
    .array(calendarDayInput)
    .min(1, 'Send at least one day')
    .max(MAX_CALENDAR_DAYS, `Send at most ${MAX_CALENDAR_DAYS} days`),
});

export const calendarDay = z.object({
  id: z.string(),
  date: z.string().describe('YYYY-MM-DD, local.'),
  kind: calendarKind,
  name: z.string(),
  locationId: z.string().nullable().describe('null: for all locations.'),
});
export type CalendarDay = z.infer<typeof calendarDay>;
export const calendarDays = z.object({ days: z.array(calendarDay) });

export const listCalendarInput = z
  .object({
    startDate: plainDate.optional().describe('The first day.'),
    endDate: plainDate.optional().describe('The last day.'),
    kind: calendarKind.optional(),
    locationId: id.optional().describe('The days that concern this location, with those for all.'),
    ...paging(50),
  })
  .prefault({});
export type ListCalendarInput = z.infer<typeof listCalendarInput>;
export const calendarPage = z.object({ days: z.array(calendarDay), ...pageTotals });

export const deleteCalendarDaysInput = z.object({
  ids: z
    .array(id)
    .min(1, 'Name at least one day')
    .max(MAX_CALENDAR_DAYS, `Name at most ${MAX_CALENDAR_DAYS} days`),
});
export const deletedCalendarDay = z.object({ success: z.literal(true), id: z.string() });
export const deletedCalendarDays = z.object({
  success: z.literal(true),
  ids: z.array(z.string()).describe('The days that were there.'),
});
