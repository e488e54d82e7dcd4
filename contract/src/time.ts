import { z } from 'zod';

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?(?:Z|[+\-\u2212](?:0\d|1[0-4])(?::?[0-5]\d)?)?)?$/i;

/** Whether the text is an ISO 8601 date (`2026-01-31`) or date and time, with or without an offset. */
export function isIsoTime(value: string): boolean {
  const match = ISO.exec(value);
  return match !== null && isCalendarDate(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Whether the ISO text is a date without a time of day. */
export function isPlainDate(iso: string): boolean {
  return iso.length === 10;
}

const USE_ISO = 'Use an ISO 8601 date or time, such as 2026-01-31 or 2026-01-31T08:15:00Z';

/**
 * A time as input: an ISO 8601 string or a `Date`, which becomes such a string. Text without an offset refers to the
 * service's time zone, which the contract does not know; the server resolves it.
 */
export const timeInput = z
  .union([z.string(), z.date()], USE_ISO)
  .transform((value) => (value instanceof Date ? value.toISOString() : value))
  .pipe(z.string().refine(isIsoTime, USE_ISO));

/** Maximum range of figures and reports, in years. */
export const MAX_RANGE_YEARS = 5;

/**
 * The optional bounds of a time range, both inclusive. A range that ends before it starts is BAD_REQUEST in every
 * procedure.
 */
export const timeRange = {
  startDate: timeInput
    .optional()
    .describe("Start, inclusive. A plain date is the start of that day in the service's time zone."),
  endDate: timeInput
    .optional()
    .describe(
      "End, inclusive, not before the start. A plain date is the end of that day in the service's time zone, and a time to the minute or second the end of it.",
    ),
};

function isCalendarDate(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(2000, 0, 1));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
