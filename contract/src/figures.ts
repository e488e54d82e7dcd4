import { z } from 'zod';
import { pageTotals, paging } from './page.ts';
import { binStatus, coarser, ONE_PLACE, onePlace, timezone, trafficPlace, trafficRange } from './traffic.ts';
import { speedUnitNames } from './values.ts';
import { classSchemes } from './vehicle-classes.ts';

// Figures that an engineer signs: volumes by quarter hour, peak hours, daily and annual averages, and studies of speeds.

const dimension = z.enum(['direction', 'lane', 'class', 'movement']);
const vehicleClassCodes = classSchemes.BASIC.map(({ code }) => code) as [string, ...string[]];

const CLOCK = /^(?:[01]\d|2[0-3]):(?:00|15|30|45)$|^24:00$/;
const USE_CLOCK = 'Use a local time on a full quarter hour, from 00:00 to 24:00, such as 06:30';

/** A time of the local clock, as minutes since midnight. */
const clockTime = z
  .string()
  .regex(CLOCK, USE_CLOCK)
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

export const figureStatus = binStatus.describe(
  'VALID: over, and at least 95 % is known. PROVISIONAL: not over. PARTIAL: over, and less is known; the value is that of what is known. GAP: nothing is known. EXCLUDED: what is known was rejected (`traffic.getDataQuality`). INSUFFICIENT: there are fewer observations than the value needs.',
);
export const reason = z
  .string()
  .nullable()
  .describe('Why there is no value, or what limits it; otherwise null.');
export const date = z.string().describe('YYYY-MM-DD, local.');

export const motorVehicles = z
  .number()
  .nullable()
  .describe('Number of motor vehicles, as in traffic.getFlow; null if nothing is known.');

/** What a count is a part of, in answers. */
export const parts = {
  direction: z
    .union([z.string(), z.number()])
    .optional()
    .describe('Direction of travel as the sensor reports it: a word such as NB (northbound), or degrees.'),
  lane: z
    .union([z.number(), z.string()])
    .optional()
    .describe('Number of the lane, or the name that the device gives it.'),
  class: z
    .string()
    .optional()
    .describe(
      `Class by the type of vehicle: ${vehicleClassCodes.join(', ')}. BUS and TRUCK are heavy vehicles.`,
    ),
  movement: z
    .object({
      from: z.string().describe('Leg from which vehicles come: N, NE, E, SE, S, SW, W, NW.'),
      turn: z.string().optional().describe('L, T, R or U.'),
    })
    .optional(),
};

const by = z
  .array(dimension)
  .max(4)
  .describe(
    'By what the volume is divided. Parts that a device does not report are omitted. Without `class`, only motor vehicles are listed.',
  );

export const countsInput = z
  .object({
    ...trafficPlace,
    interval: z.enum(['15min', '60min', 'day']).default('15min'),
    ...trafficRange,
    by: by.default(['direction', 'lane', 'class', 'movement']),
    flags: z
      .enum(['exclude', 'include'])
      .default('exclude')
      .describe(
        'exclude: without the data that rules or people rejected (`traffic.getDataQuality`). include: with them.',
      ),
  })
  .refine(onePlace, ONE_PLACE);
export type CountsInput = z.infer<typeof countsInput>;

export const counts = z.object({
  timezone,
  interval: z.enum(['15min', '60min', 'day']),
  bins: z.array(
    z.object({
      start: z.date(),
      end: z.date().describe('Exclusive.'),
      status: figureStatus,
      coverage: z.number().describe('Share (0 to 1) of the interval with known counts, to four decimals.'),
      volume: motorVehicles,
      cells: z
        .array(z.object({ ...parts, volume: z.number().describe('Number of road users.') }))
        .describe(
          'The parts of the count. Those of motor vehicles add up to the volume; bicycles and pedestrians are not in it.',
        ),
      reason: coarser,
    }),
  ),
});
export type CountsOfPlace = z.infer<typeof counts>;

const windowName = z.enum(['AM', 'MIDDAY', 'PM', 'DAY']);
const peakWindow = z
  .object({
    window: windowName,
    from: clockTime.optional().describe('HH:MM, local. MIDDAY: by default, the end of the peak of AM.'),
    until: clockTime
      .optional()
      .describe('HH:MM, local, exclusive. MIDDAY: by default, the start of the peak of PM.'),
  })
  .refine(({ from = -1, until = 1_441 }) => from < until, {
    path: ['until'],
    message: 'A window must end after it starts',
  });

export const peakWindows = z
  .array(z.union([windowName.transform((window) => ({ window })), peakWindow]))
  .min(1)
  .max(4)
  .refine((all) => new Set(all.map(({ window }) => window)).size === all.length, {
    message: 'Name each window once',
  })
  .optional()
  .describe(
    'Names of windows, or windows with times of their own. By default all: AM 06:30–10:30, MIDDAY between the peaks of AM and PM, PM 14:00–20:00, DAY 00:00–24:00.',
  );

export const peakHoursInput = z
  .object({
    ...trafficPlace,
    ...trafficRange,
    windows: peakWindows,
    by: by.default([]),
  })
  .refine(onePlace, ONE_PLACE);
export type PeakHoursInput = z.infer<typeof peakHoursInput>;

export const peakHourFactor = z
  .number()
  .nullable()
  .describe(
    'Volume of the hour divided by four times that of its busiest quarter hour, to four decimals; null without an hour.',
  );

export const peak = {
  window: windowName,
  volume: z.number().nullable().describe('Number of motor vehicles in the hour; of the average, to 0.001.'),
  peakHourFactor,
  k: z
    .number()
    .nullable()
    .describe(
      'Share (0 to 1) of the hour in the volume of the day, to four decimals; null if the day is not complete.',
    ),
  d: z
    .number()
    .nullable()
    .describe(
      'Share (0 to 1) of the heavier direction, to four decimals; null unless exactly two were counted.',
    ),
  dDirection: z.union([z.string(), z.number()]).nullable().describe('The heavier direction.'),
  t: z
    .number()
    .nullable()
    .describe(
      'Share (0 to 1) of heavy vehicles, to four decimals; null if no vehicle of the hour has a class.',
    ),
  validBins: z
    .number()
    .describe('Number of quarter hours of the window that are VALID and wholly in the range.'),
  status: figureStatus,
  reason,
  by: z.array(
    z.object({ ...parts, volume: z.number().describe('Number of motor vehicles.'), peakHourFactor }),
  ),
};

export const peakHours = z.object({
  timezone,
  days: z.array(
    z.object({
      date,
      windows: z.array(
        z.object({
          ...peak,
          start: z.date().nullable().describe('null if there is no peak hour.'),
          end: z.date().nullable(),
        }),
      ),
    }),
  ),
  average: z
    .object({
      n: z.number().describe('Number of days with a VALID quarter hour.'),
      windows: z.array(
        z.object({
          ...peak,
          start: z.string().nullable().describe('HH:MM, local.'),
          end: z.string().nullable().describe('HH:MM, local; 24:00 is the end of the day.'),
        }),
      ),
    })
    .nullable()
    .describe(
      'The peaks of the mean of each quarter hour over the days on which it is VALID; null if there is none.',
    ),
});
export type PeakHoursOfPlace = z.infer<typeof peakHours>;

export const dailyVolumesInput = z.object({ ...trafficPlace, ...trafficRange }).refine(onePlace, ONE_PLACE);
export type DailyVolumesInput = z.infer<typeof dailyVolumesInput>;

const dailyMean = z.object({
  value: z.number().nullable().describe('Motor vehicles per day, to 0.001; null without a day.'),
  n: z.number().describe('Number of days.'),
});

export const dailyVolumes = z.object({
  timezone,
  days: z.array(z.object({ date, volume: motorVehicles, status: figureStatus, reason })),
  adt: dailyMean.describe(
    'Average daily traffic: the mean of complete days, of which at least 95 %, and 75 % of each hour, are known.',
  ),
  awdt: dailyMean.describe('Of complete days from Monday to Friday that are no holidays (`calendars.list`).'),
  weekendAdt: dailyMean.describe('Of complete Saturdays and Sundays.'),
  excluded: z
    .array(z.object({ date, reason: z.string() }))
    .describe('Days that are in no mean, because they are not complete, or their data were rejected.'),
});
export type DailyVolumesOfPlace = z.infer<typeof dailyVolumes>;

const annualMethod = z.enum(['FHWA', 'AASHTO', 'SIMPLE']);
export const annualInput = z
  .object({
    ...trafficPlace,
    year: z.int().min(1970).max(8999).describe('The local calendar year.'),
    method: annualMethod
      .default('FHWA')
      .describe(
        'FHWA: the mean of the months, each the sum of its mean hours of the week. AASHTO: the mean over weekdays of the mean over months. SIMPLE: the mean of at least 350 complete days.',
      ),
    allowMissing: z
      .union([z.literal(0), z.literal(1)])
      .default(0)
      .describe(
        'Number of months that may lack hours (FHWA) or weekdays (AASHTO); the value is then PROVISIONAL.',
      ),
  })
  .refine(onePlace, ONE_PLACE);
export type AnnualInput = z.infer<typeof annualInput>;

const perDay = z
  .number()
  .nullable()
  .describe('Motor vehicles per day, to 0.001; null if it cannot be given.');
const month = z.number().describe('1 to 12.');
const factor = z.number().nullable().describe('To 0.001; null if the mean is not known.');
const weekday = z.number().describe('0 = Sunday … 6 = Saturday, as in every procedure.');

export const aadt = z.object({
  timezone,
  year: z.number().describe('The local calendar year.'),
  method: annualMethod,
  value: perDay.describe(
    'Annual average daily traffic in motor vehicles per day, to 0.001; null if INSUFFICIENT.',
  ),
  n: z.number().describe('Number of months in the mean; SIMPLE: of complete days.'),
  status: figureStatus,
  reason,
  published: z
    .number()
    .nullable()
    .describe('The value as it is published: to 10 vehicles below 1,000, and to 100 from there.'),
  months: z
    .array(z.object({ month, value: perDay }))
    .describe(
      'Monthly average daily traffic (FHWA); null if one of the 168 hours of the week is not known. An hour is known if it is over and at least 75 % of it is covered.',
    ),
});
export type AadtOfPlace = z.infer<typeof aadt>;

/** Maximum number of locations on a page, and in the input. */
const MAX_LOCATIONS = 1_000;
const MAX_IDS = 100;

export const networkAadtInput = z.object({
  year: annualInput.shape.year.describe('The local calendar year, which must be over.'),
  method: annualInput.shape.method,
  allowMissing: annualInput.shape.allowMissing,
  locationIds: z
    .array(z.uuid())
    .min(1)
    .max(MAX_IDS)
    .optional()
    .describe('Only these locations; by default all with traffic in the year.'),
  skip: paging(100).skip,
  take: z.int().min(1).max(MAX_LOCATIONS).default(100).describe('Maximum number of locations to return.'),
});
export type NetworkAadtInput = z.infer<typeof networkAadtInput>;

export const networkAadt = z.object({
  timezone,
  year: z.number().describe('The local calendar year.'),
  method: annualMethod,
  locations: z
    .array(
      z.object({
        locationId: z.string(),
        locationName: z.string(),
        ...aadt.pick({ value: true, n: true, status: true, reason: true, published: true }).shape,
      }),
    )
    .describe('Those with the largest values first, and those without one last.'),
  ...pageTotals,
  pending: z
    .number()
    .describe(
      'Number of locations whose year is still being computed. Their value is null, and the reason says so.',
    ),
});
export type NetworkAadt = z.infer<typeof networkAadt>;

export const factors = z.object({
  timezone,
  year: z.number().describe('The local calendar year.'),
  aadt: perDay,
  status: figureStatus,
  reason,
  months: z
    .array(z.object({ month, factor }))
    .describe('AADT divided by the average daily traffic of the month.'),
  weekdays: z
    .array(z.object({ weekday, factor }))
    .describe('AADT divided by the average volume of the weekday in the year.'),
  combined: z
    .array(z.object({ month, weekday, factor }))
    .describe('AADT divided by the average volume of the weekday in the month.'),
});
export type FactorsOfPlace = z.infer<typeof factors>;

const k = z
  .number()
  .nullable()
  .describe('Volume of this hour divided by AADT, to four decimals; null if INSUFFICIENT.');

export const designHours = z.object({
  timezone,
  year: z.number().describe('The local calendar year.'),
  aadt: perDay,
  hours: z
    .array(z.object({ start: z.date(), volume: z.number().describe('Number of motor vehicles.') }))
    .describe('The 100 VALID hours with most vehicles, in descending order; of equal ones the first.'),
  k30: k,
  k50: k,
  k100: k,
  designHourVolume: z
    .number()
    .nullable()
    .describe('AADT multiplied by K30, in vehicles per hour; from 1,000 on with two significant digits.'),
  validHours: z
    .number()
    .describe('Share (0 to 1) of the hours of the year that are VALID, to four decimals.'),
  status: figureStatus,
  reason,
});
export type DesignHoursOfPlace = z.infer<typeof designHours>;

export const units = z
  .enum(speedUnitNames)
  .optional()
  .describe(
    'The units of all speeds. A speed within 0.002 of a whole unit is that unit. By default those of the location (`locations.update`; of a comparison, the one before), and otherwise those of the service (`SPEED_UNITS`).',
  );

const CLASS_TEXT = /^(\d{1,3})-(\d{1,3})$/;
const speedClass = z.union(
  [
    z
      .array(z.number())
      .length(2)
      .transform(([from = 0, to = 0]): [number, number] => [from, to]),
    z
      .string()
      .regex(CLASS_TEXT)
      .transform((text): [number, number] => [Number(text.split('-')[0]), Number(text.split('-')[1])]),
  ],
  'Use the first and the last whole speed of a class, such as [31, 35] or "31-35"',
);

const HOURS = 'Use two local times on full quarter hours, such as 09:00-15:30';
const hoursOfDay = z
  .string()
  .transform((text) => text.split('-'))
  .pipe(z.tuple([clockTime, clockTime], HOURS))
  .refine(([from, until]) => from < until, HOURS);

/** What is studied of the speeds at a place. */
export const speedOptions = {
  units,
  method: z
    .enum(['NEAREST_RANK', 'LINEAR', 'CLASSED'])
    .default('LINEAR')
    .describe(
      'How percentiles are read. NEAREST_RANK: the speed of vehicle number round(n · p), counted from the slowest. LINEAR: interpolated between ranks. CLASSED: interpolated within the class of `binEdges`.',
    ),
  days: z
    .array(z.int().min(0).max(6))
    .min(1)
    .max(7)
    .optional()
    .describe('Only these local weekdays, 0 = Sunday … 6 = Saturday.'),
  hours: z
    .array(hoursOfDay)
    .min(1)
    .max(12)
    .optional()
    .describe('Only these parts of the local day, such as 09:00-15:30; the end is exclusive.'),
  vehicleClass: z
    .enum(vehicleClassCodes)
    .optional()
    .describe('Only vehicles of this class. By default, all motor vehicles.'),
  binEdges: z
    .array(speedClass)
    .min(1)
    .max(250)
    .optional()
    .describe(
      'Classes by their first and last whole speed, both inclusive, in order: [[31, 35], [36, 40]], or 31-35 in a query string. Required for CLASSED.',
    ),
};

/** Whether there are classes if percentiles are read from them. */
export function hasClasses({ method, binEdges }: { method: string; binEdges?: unknown }): boolean {
  return method !== 'CLASSED' || binEdges !== undefined;
}
export const NEEDS_CLASSES = {
  path: ['binEdges'],
  message: 'The method CLASSED needs classes, such as [[31, 35], [36, 40]]',
};

export const speedStudyInput = z
  .object({ ...trafficPlace, ...trafficRange, ...speedOptions })
  .refine(onePlace, ONE_PLACE)
  .refine(hasClasses, NEEDS_CLASSES);
export type SpeedStudyInput = z.infer<typeof speedStudyInput>;

const studied = z.number().nullable().describe('In the units of the study, to 0.1.');
const percentile = studied.describe(
  'In the units of the study, to 0.1; null from fewer than 30 measured vehicles.',
);
const share = z.number().describe('Share (0 to 1) of the vehicles, to four decimals.');

const studyFigures = {
  n: z
    .number()
    .describe('Number of vehicles with a speed. Speeds of at most 0 and above 250 km/h are ignored.'),
  units: z.enum(speedUnitNames),
  method: z.enum(['NEAREST_RANK', 'LINEAR', 'CLASSED']),
  basis: z
    .enum(['EXACT', 'WHOLE_UNITS', 'INTERPOLATED', 'SHIFTED'])
    .describe(
      'How well the speeds are known. EXACT: each is. WHOLE_UNITS: the devices report whole km/h or mph, so each is, too. INTERPOLATED: vehicles are spread evenly over their km/h. SHIFTED (fewer than 200): all are as far below the upper end of their km/h as they are on average.',
    ),
  status: figureStatus,
  reason,
  mean: studied,
  sd: studied.describe('Standard deviation of the sample, to 0.1.'),
  v15: percentile,
  v50: percentile,
  v85: percentile,
  v95: percentile,
  v98: percentile,
  max: studied,
  limit: studied.describe('The speed limit, to 0.1; null if there is none, or it changed in the range.'),
  pace: z
    .object({
      from: z.number().describe('Inclusive.'),
      to: z.number().describe('Exclusive.'),
      share,
      below: share,
      above: share,
    })
    .nullable()
    .describe('The ten units that contain most vehicles; the lowest of several.'),
  over: z
    .array(
      z.object({
        by: z.number().describe('Units.'),
        share: share.nullable().describe('0 to 1, to four decimals.'),
      }),
    )
    .describe(
      'The shares of vehicles faster than the limit of their time plus 0, 5, 10, 15 and 20 units; null without a limit.',
    ),
  v85Confidence: z
    .object({
      low: z.number().describe('In the units of the study.'),
      high: z.number().describe('In the units of the study.'),
    })
    .nullable()
    .describe('95 % confidence interval of V85, in the units of the study, to 0.1.'),
  sampleSize: z
    .object({
      needed: z.number().describe('Number of speeds.'),
      margin: z.number().describe('In the units of the study.'),
    })
    .nullable()
    .describe('The number of speeds with which V85 is known to the margin with a confidence of 95 %.'),
  bins: z
    .array(
      z.object({
        from: z.number().describe('Inclusive.'),
        to: z.number().describe('Inclusive: 31 to 35 contains 35.9.'),
        count: z.number().describe('Number of vehicles.'),
      }),
    )
    .describe('Vehicles by whole units, or by `binEdges`.'),
};

export const speedStudy = z.object({ timezone, ...studyFigures });
export type SpeedStudyOfPlace = z.infer<typeof speedStudy>;

export const side = z.object({ ...trafficPlace, ...trafficRange }).refine(onePlace, ONE_PLACE);
export const compareStudiesInput = z.object({ before: side, after: side, units });
export type CompareStudiesInput = z.infer<typeof compareStudiesInput>;

const difference = z.object({
  difference: z.number().nullable().describe('Before minus after; speeds to 0.1, shares to four decimals.'),
  z: z
    .number()
    .nullable()
    .describe("The difference divided by its standard error; below 30 vehicles Student's t."),
  p: z
    .number()
    .nullable()
    .describe('Two-sided probability of such a difference if nothing had changed, to four decimals.'),
  significant: z.boolean().nullable().describe('Whether that is below 5 %.'),
  reason,
});

export const studyComparison = z.object({
  timezone,
  before: z.object(studyFigures),
  after: z.object(studyFigures),
  mean: difference.describe('Of the mean speeds (Welch).'),
  share: difference.describe('Of the shares over the limit (pooled two-proportion test).'),
  v85: difference.describe('Of the 85th percentiles of the nearest rank (Cramér).'),
});
export type StudyComparison = z.infer<typeof studyComparison>;
