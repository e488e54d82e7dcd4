import { z } from 'zod';
import { eventStats, severity } from './events.ts';
import { timeRange } from './time.ts';

export const analyticsInterval = z.enum(['hour', 'day', 'week']);
export type AnalyticsInterval = z.infer<typeof analyticsInterval>;

/** What analytics cover unless they are asked for a range, in days. */
export const DEFAULT_DAYS = 30;

export const analyticsInput = z
  .object({
    ...timeRange,
    interval: analyticsInterval
      .optional()
      .describe('Of the series. Left out: hours up to 3 days, days up to 120, else weeks.'),
    repeatPlatesFrom: z
      .int()
      .min(2)
      .max(1000)
      .default(3)
      .describe('How often a plate was seen at least to be listed.'),
  })
  .prefault({});
export type AnalyticsInput = z.infer<typeof analyticsInput>;

/** A count, and what became of it since the period of the same length before. */
const compared = z.object({
  value: z.number(),
  previous: z.number().nullable().describe('null: retention has removed events of that period.'),
  change: z
    .number()
    .nullable()
    .describe('(value − previous) / previous; null when there was nothing before, or that is not known.'),
});
export type Compared = z.infer<typeof compared>;

const count = z.number();

export const analytics = z.object({
  ...eventStats.shape,
  timezone: z.string(),
  start: z.date(),
  end: z.date().describe('Exclusive.'),
  interval: analyticsInterval,
  keptSince: z
    .date()
    .nullable()
    .describe(
      'Retention has removed events of the range that were before this moment: totals and breakdowns count those that are left. null: none.',
    ),
  totals: z
    .object({
      events: compared,
      violations: compared.describe(
        'Events of type TRAFFIC_VIOLATION or SEATBELT_VIOLATION, and events of any type that have a `violationType`.',
      ),
      incidents: compared.describe('Events of type INCIDENT.'),
      processed: compared,
      unprocessed: compared,
      archived: compared,
    })
    .describe('Against the period of the same length that ends where this one starts.'),
  series: z
    .array(
      z.object({ start: z.date(), end: z.date(), total: count.nullable(), violations: count.nullable() }),
    )
    .describe(
      'Local hours, days or weeks, of which the first and the last count as far as they are in the range. null is a gap: retention has removed events from there; of `violations`, events that may have been violations.',
    ),
  bySeverity: z.array(z.object({ severity: severity.nullable(), count })),
  byVehicleType: z
    .array(z.object({ vehicleType: z.string().nullable(), count }))
    .describe(
      'The 50 most frequent. Spellings that differ in case are one type, under the most frequent of them; `byViolationType` likewise.',
    ),
  topSensors: z
    .array(z.object({ sensorId: z.string(), sensorName: z.string().nullable(), count }))
    .describe(
      'The ten that saw most, by slots of five minutes that the range touches. Events that retention has removed since count too.',
    ),
  topLocations: z
    .array(z.object({ locationId: z.string(), locationName: z.string(), count }))
    .describe('The ten at which most was seen, counted in the same way.'),
  repeatPlates: z.object({
    since: z
      .date()
      .describe('The range is looked through from here on: only its last 500,000 events or so are.'),
    plates: z
      .array(z.object({ licensePlateNumber: z.string(), count, lastSeen: z.date() }))
      .describe(
        'The 50 that were seen most often. Spellings that differ in case, blanks and hyphens are one plate.',
      ),
  }),
  hourOfWeek: z
    .array(
      z.object({
        weekday: z.number().describe('1 Monday … 7 Sunday'),
        hours: z
          .array(count)
          .describe('Events in each of the 24 hours of the day, local, of those that are left.'),
      }),
    )
    .describe('Seven days.'),
  processingTime: z
    .object({
      count,
      mean: z.number().nullable(),
      median: z.number().nullable(),
      p90: z.number().nullable(),
    })
    .describe(
      'Seconds from the arrival of an event until somebody marked it as processed, for those that were marked within the range; of more than 200,000 the latest.',
    ),
});
export type Analytics = z.infer<typeof analytics>;
