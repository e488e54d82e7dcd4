import { z } from 'zod';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { trimmedText } from './text.ts';
import { timeInput } from './time.ts';
import { binStatus, ONE_PLACE, onePlace, timezone, trafficPlace, trafficRange } from './traffic.ts';

// What is known about the quality of traffic data: the flags of rules, the decisions of people, and outages.

/** The rules by which traffic data are judged. */
export const qualityRules = [
  'R1',
  'R2',
  'R3',
  'R4',
  'R5',
  'R6',
  'R7',
  'R8',
  'R9',
  'R10',
  'R11',
  'R12',
  'R13',
  'R14',
  'R15',
  'R16',
  'R17',
  'R18',
] as const;

export const qualityRule = z
  .enum(qualityRules)
  .describe(
    'R1 no vehicle for hours. R2 a gap too long for the usual volume of the hour. R3 more vehicles in 30 s than a lane carries. R4 occupancy of 100 %. R5 occupancy that does not change. R6 occupancy that jumps. R7 too few samples. R8 too many samples without occupancy. R9 too many high samples. R10 vehicles without occupancy, or the reverse. R11 odd hourly volumes. R12 over capacity, or a changed month or share of directions. R13 sensors that differ. R14 odd speeds. R15 odd lengths or shares of classes. R16 an hour that is known too little. R17 the sensor was in MAINTENANCE or ERROR, its clock was wrong, or the service was down. R18 an entry of the calendar.',
  );
export type QualityRule = z.infer<typeof qualityRule>;

export const severity = z
  .enum(['REJECT', 'SUSPECT', 'INFO'])
  .describe('REJECT: left out of figures. SUSPECT: kept, and listed. INFO: something to know.');
export type Severity = z.infer<typeof severity>;

export const dataDecision = z.enum(['ACCEPT', 'REJECT']);
export type DataDecision = z.infer<typeof dataDecision>;

/** The longest range of `traffic.getDataQuality` and `traffic.getOutages`, in days. */
export const MAX_QUALITY_DAYS = 366;
/** Maximum number of flags in one answer. */
export const MAX_FLAGS = 5_000;

export const dataQualityInput = z.object({ ...trafficPlace, ...trafficRange }).refine(onePlace, ONE_PLACE);
export type DataQualityInput = z.infer<typeof dataQualityInput>;

export const dataReview = z.object({
  id: z.string(),
  sensorId: z.string().nullable(),
  locationId: z.string().nullable(),
  pointId: z.string().nullable(),
  from: z.date(),
  until: z.date().describe('Exclusive.'),
  decision: dataDecision,
  reason: z.string(),
  by: person,
  at: z.date(),
});
export type DataReview = z.infer<typeof dataReview>;

export const qualityFlag = z.object({
  rule: qualityRule,
  severity,
  from: z.date(),
  until: z.date().describe('Exclusive. Of R3 and R4, the time from which the detector is trusted again.'),
  value: z.number().nullable().describe('What the rule measured, in the units of its threshold.'),
  threshold: z
    .number()
    .nullable()
    .describe(
      'What the value is beyond. R1, R5: hours. R2, R4: minutes. R3: vehicles in 30 s. R6: seconds. R7 to R10, R13, R16: a share (0 to 1). R15: m, or a share. R11: hours or vehicles. R12: vehicles per hour and lane, or a share. R14: km/h. null where there is none.',
    ),
  lane: z.union([z.number(), z.string()]).optional(),
  sensorId: z.string().nullable().describe('The sensor that is concerned; null for the whole place.'),
  sensorName: z.string().nullable().describe('null for the whole place, and for a deleted sensor.'),
  note: z
    .string()
    .nullable()
    .describe('What happened, where the rule alone does not say it: a status, or the name of a holiday.'),
  decision: dataDecision
    .nullable()
    .describe('The latest decision of a person about all of this time; null if there is none.'),
});
export type QualityFlag = z.infer<typeof qualityFlag>;

export const dataQuality = z.object({
  timezone,
  flags: z.array(qualityFlag).describe('In order of their start, at most 5,000: the first.'),
  isCut: z.boolean().describe('Whether there are more flags: choose a shorter range.'),
  unjudgedDays: z
    .number()
    .describe(
      'Days of a sensor that R3 to R10, R14 and lengths (R15) have yet to judge, usually 0: after many late data, the service needs some minutes.',
    ),
  days: z
    .array(
      z.object({
        date: z.string().describe('YYYY-MM-DD, local.'),
        status: binStatus.describe(
          'Of the data of the day without those that are rejected. VALID: at least 95 % of the day is known, and 75 % of each hour. EXCLUDED: all data are rejected.',
        ),
        coverage: z.number().describe('Share (0 to 1) of the day with known counts that are not rejected.'),
        rules: z.array(qualityRule).describe('The rules with a flag on this day.'),
      }),
    )
    .describe('Every local day of the range.'),
  reviews: z.array(dataReview).describe('The decisions about this time, the latest first.'),
});
export type DataQualityOfPlace = z.infer<typeof dataQuality>;

export const reviewDataInput = z
  .object({
    ...trafficPlace,
    ...trafficRange,
    decision: dataDecision.describe(
      'ACCEPT: the data count, whatever rules say. REJECT: they do not. The latest decision about a time holds.',
    ),
    reason: trimmedText(500, 1),
  })
  .refine(onePlace, ONE_PLACE);
export type ReviewDataInput = z.infer<typeof reviewDataInput>;

export const dataReviewsInput = z
  .object({ ...trafficPlace, ...paging(50) })
  .refine(
    (input) => onePlace(input) || Object.values(trafficPlaceOf(input)).every((each) => !each),
    ONE_PLACE,
  );
export type DataReviewsInput = z.infer<typeof dataReviewsInput>;

function trafficPlaceOf(input: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(trafficPlace).map((key) => [key, input[key]]));
}

export const dataReviewsPage = z.object({ reviews: z.array(dataReview), ...pageTotals });

export const outagesInput = z
  .object({
    ...trafficPlace,
    startDate: timeInput
      .optional()
      .describe('Start, inclusive; required with a place. Outages that began before are listed whole.'),
    endDate: timeInput.optional().describe('End, inclusive; by default now.'),
    minimumMinutes: z.int().min(5).max(10_080).default(60).describe('Shorter outages are not listed.'),
    ...paging(50),
  })
  .superRefine((input, ctx) => {
    const isWithPlace = Object.values(trafficPlaceOf(input)).some((each) => each !== undefined);
    if (isWithPlace && !onePlace(input)) ctx.addIssue({ code: 'custom', ...ONE_PLACE });
    if (isWithPlace && input.startDate === undefined)
      ctx.addIssue({
        code: 'custom',
        path: ['startDate'],
        message:
          'Give a startDate with a place. Without a place, the sensors that do not work now are listed',
      });
  });
export type OutagesInput = z.infer<typeof outagesInput>;

export const outage = z.object({
  sensorId: z.string(),
  sensorName: z.string().nullable().describe('null for a deleted sensor.'),
  locationId: z.string().nullable(),
  locationName: z.string().nullable(),
  kind: z
    .enum(['NO_DATA', 'NO_HITS', 'REJECTED'])
    .describe(
      'NO_DATA: nothing is known. NO_HITS: the sensor reported no vehicle for too long (R1). REJECTED: its data were rejected by another rule, or by a person.',
    ),
  lastData: z
    .date()
    .nullable()
    .describe(
      'NO_HITS: the end of the last interval with a vehicle. Otherwise, the last vehicle, or the end of the last interval that was counted. null if there is none.',
    ),
  from: z.date().describe('The start of the first five minutes of which nothing is known or used.'),
  until: z.date().nullable().describe('null while it lasts.'),
  minutes: z.number().describe('Duration until its end or now, to 0.1 min.'),
  expectedVolume: z
    .object({
      value: z.number().nullable().describe('Number of vehicles, rounded.'),
      n: z.number().describe('Number of hours from which it was estimated.'),
      status: binStatus,
      reason: z.string().nullable(),
    })
    .describe(
      'The volume that was probably missed: the mean volumes of the same hours of the week in the 60 days before. INSUFFICIENT if one of them is not known.',
    ),
});
export type Outage = z.infer<typeof outage>;

export const outagesPage = z.object({
  timezone,
  outages: z
    .array(outage)
    .describe(
      'In order of their start. Without a place: of the sensors that do not work now, the longest first.',
    ),
  ...pageTotals,
});
export type OutagesPage = z.infer<typeof outagesPage>;
