import { z } from 'zod';
import { eventStats, severity } from './events.ts';
import { showsPlate } from './plate-fields.ts';
import { timeRange } from './time.ts';

export const analyticsInterval = z.enum(['hour', 'day', 'week']);
export type AnalyticsInterval = z.infer<typeof analyticsInterval>;

/** The default range of analytics, in days. */
export const DEFAULT_DAYS = 30;

const timesSeen = z
  .int()
  .min(2)
  .max(1000)
  .default(3)
  .describe('Minimum number of sightings for a plate to be listed.');

export const analyticsInput = z
  .object({
    ...timeRange,
    interval: analyticsInterval
      .optional()
      .describe(
        'Interval of the series. Default: hours for up to 3 days, days for up to 120 days, otherwise weeks.',
      ),
    repeatPlates: z
      .boolean()
      .default(true)
      .describe(
        'false: `repeatPlates` of the answer is null. Searching for them takes longer than all other figures; `reports.getRepeatPlates` does it by itself.',
      ),
    repeatPlatesFrom: timesSeen,
  })
  .prefault({});
export type AnalyticsInput = z.infer<typeof analyticsInput>;

export const repeatPlatesInput = z.object({ ...timeRange, from: timesSeen }).prefault({});
export type RepeatPlatesInput = z.infer<typeof repeatPlatesInput>;

/** A count, compared with the previous period of the same length. */
const compared = z.object({
  value: z.number().describe('The number in the period itself.'),
  previous: z.number().nullable().describe('null if retention has removed events of that period.'),
  change: z
    .number()
    .nullable()
    .describe('(value − previous) / previous; null if the previous value is 0 or unknown.'),
});
export type Compared = z.infer<typeof compared>;

const count = z.number().describe('Number of items.');

/** The plates seen most often in a range. */
export const repeatPlates = z.object({
  since: z
    .date()
    .describe(
      'Plates are searched from this time on, because only about the last 500,000 events of the range are searched.',
    ),
  plates: showsPlate(
    'empty',
    z
      .array(
        z.object({
          licensePlateNumber: showsPlate('plate', z.string()),
          count,
          lastSeen: z.date(),
        }),
      )
      .describe(
        'The 50 plates seen most often. Spellings that differ in case, separators and the script of digits are one plate.',
      ),
  ),
});
export type RepeatPlates = z.infer<typeof repeatPlates>;

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
      'Retention has removed events of the range from before this time; totals and breakdowns count the remaining ones. null if none were removed.',
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
    .describe('Compared with the period of the same length that ends where this one starts.'),
  firstEventAt: z
    .date()
    .nullable()
    .describe(
      'The time of the earliest event that is kept. If it is after the start of the previous period, that period was recorded only in part.',
    ),
  series: z
    .array(
      z.object({
        start: z.date(),
        end: z.date(),
        total: z.number().nullable().describe('Number of events.'),
        violations: z.number().nullable(),
      }),
    )
    .describe(
      'Local hours, days or weeks; the first and the last include only what is within the range. null is a gap: retention has removed events from it; for `violations`, events that may have been violations.',
    ),
  bySeverity: z.array(z.object({ severity: severity.nullable(), count })),
  byVehicleType: z
    .array(z.object({ vehicleType: z.string().nullable(), count }))
    .describe(
      'The 50 most frequent types. Spellings that differ only in case are one type, named by the most frequent spelling.',
    ),
  topSensors: z
    .array(z.object({ sensorId: z.string(), sensorName: z.string().nullable(), count }))
    .describe(
      'The ten sensors with the most events, counted in five-minute slots that overlap the range. Events that retention has since removed are included, but not those of days whose traffic counts it removed.',
    ),
  topLocations: z
    .array(z.object({ locationId: z.string(), locationName: z.string(), count }))
    .describe('The ten locations with the most events, counted in the same way.'),
  repeatPlates: repeatPlates.nullable().describe('null if the input said so.'),
  hourOfWeek: z
    .array(
      z.object({
        weekday: z.number().describe('0 = Sunday … 6 = Saturday, as in every procedure.'),
        hours: z.array(z.number()).describe('Remaining events in each of the 24 local hours of the day.'),
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
      'Seconds from the arrival of an event until somebody marked it as processed, for events marked within the range (the latest 20,000).',
    ),
});
export type Analytics = z.infer<typeof analytics>;
