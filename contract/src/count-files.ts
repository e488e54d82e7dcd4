import { z } from 'zod';
import { isPeriodLength, MIN_PERIOD_SECONDS } from './counts.ts';
import { parts } from './figures.ts';
import { fileInput, ONE_FILE, oneFile } from './file-input.ts';
import { classScheme, direction, lane } from './movements.ts';
import { timezoneName } from './system.ts';
import { ONE_PLACE, onePlace, timezone, trafficPlace } from './traffic.ts';

// Files with counts of intervals, as cities and makers of detectors exchange them.

/** Maximum number of periods in a file: a year of quarter hours. */
export const MAX_FILE_PERIODS = 36_000;
/** Maximum number of errors, and of periods, that an answer lists. */
export const MAX_LISTED = 1_000;

const SECONDS = `Use a divisor of a day (86400) from ${MIN_PERIOD_SECONDS} to 86400, such as 60, 300, 900 or 3600`;

export const countFileFormats = ['CSV', 'PEMS', 'TMG'] as const;

export const importCountsInput = z
  .object({
    sensorId: z.string().describe('The sensor that counted.'),
    format: z
      .enum(countFileFormats)
      .default('CSV')
      .describe(
        'CSV: a table with a header, separated by comma, semicolon or TAB. PEMS: lines `station, lanes, (vehicles, mph, occupancy from 0 to 1) for each lane, time`. TMG: volume, class and speed records of the Traffic Monitoring Guide of the FHWA (2022), with `|` between fields.',
      ),
    ...fileInput('The bytes of the file instead, in UTF-8, UTF-16 with a byte order mark, or windows-1252.'),
    dryRun: z.boolean().default(false).describe('Whether to say what would be stored, and store nothing.'),
    timeZone: timezoneName
      .optional()
      .describe(
        'The time zone of times without an offset; by default, that of the service. A time that clocks skip is an error. If they are set back, the first of two equal times is the earlier one.',
      ),
    binLabel: z
      .enum(['START', 'END'])
      .optional()
      .describe(
        'Whether times name the start or the end of intervals. By default, what the name of their column says, and otherwise START.',
      ),
    dateOrder: z
      .enum(['YMD', 'DMY', 'MDY'])
      .optional()
      .describe(
        'The order of dates such as 03/04/2026. Required if no date of the file shows it, unless they begin with the year.',
      ),
    seconds: z
      .number(SECONDS)
      .refine(isPeriodLength, SECONDS)
      .optional()
      .describe('The length of the intervals; by default, the usual distance of two rows.'),
    emptyCells: z
      .enum(['GAP', 'ZERO'])
      .default('GAP')
      .describe('What an empty cell of a count means: that it is not known, or that nothing was counted.'),
    speedUnit: z
      .enum(['KMH', 'MPH'])
      .optional()
      .describe('Of columns whose name does not say it; by default, km/h.'),
    classScheme: classScheme.default('BASIC').describe('Of the values in a column with classes.'),
    direction: direction.optional().describe('Of rows and columns that have none.'),
    lane: lane.optional().describe('Of rows and columns that have none.'),
    station: z.string().max(100).optional().describe('Only lines of this station (PEMS, TMG).'),
  })
  .refine(oneFile, ONE_FILE);
export type ImportCountsInput = z.infer<typeof importCountsInput>;

const part = { direction: parts.direction, lane: parts.lane, movement: parts.movement };
const line = z.number().describe('Number of the line in the file, from 1.');

export const importedCounts = z.object({
  dryRun: z.boolean(),
  encoding: z.string().nullable().describe('Of `base64`: UTF-8, UTF-16LE, UTF-16BE or windows-1252.'),
  timeZone: z.string(),
  binLabel: z.enum(['START', 'END']),
  seconds: z.number().nullable().describe('The length of the intervals; null if no row could be read.'),
  columns: z
    .array(
      z.object({
        name: z.string(),
        use: z
          .enum(['TIME', 'PART', 'COUNT', 'SPEED', 'OCCUPANCY', 'SUM', 'IGNORED'])
          .describe(
            'PART: the direction, lane, movement or class of a row. SUM: compared with the sum of the other counts.',
          ),
        ...part,
        class: z.object({ scheme: z.string(), code: z.string() }).optional(),
      }),
    )
    .describe('How the columns are understood.'),
  rowCount: z.number().describe('Number of rows below the header.'),
  periodCount: z.number().describe('Number of periods that could be read.'),
  stored: z.number().describe('Number of periods that are new, those that would be in a dry run.'),
  replaced: z.number().describe('Number of periods that replace others, which are kept as revisions.'),
  duplicates: z.number().describe('Number of periods that were stored before.'),
  errorCount: z.number().describe('Number of rows and periods that are not stored.'),
  from: z.date().nullable().describe('The start of the first period.'),
  until: z.date().nullable().describe('The end of the last period, exclusive.'),
  errors: z.array(z.object({ line, message: z.string() })).describe(`The first ${MAX_LISTED}.`),
  periods: z
    .array(
      z.object({
        line,
        start: z.date(),
        ...part,
        volume: z.number().nullable().describe('Number of motor vehicles; null is a gap.'),
        byClass: z.record(z.string(), z.number().describe('Number of road users.')).optional(),
        result: z.enum(['NEW', 'REPLACED', 'DUPLICATE']),
      }),
    )
    .describe(`The first ${MAX_LISTED} of a dry run; otherwise empty.`),
});
export type ImportedCounts = z.infer<typeof importedCounts>;

const tmgDirections = ['NB', 'NE', 'EB', 'SE', 'SB', 'SW', 'WB', 'NW', 'NS', 'EW'] as const;

export const tmgFileInput = z
  .object({
    ...trafficPlace,
    year: z.int().min(1970).max(8999).describe('The local calendar year.'),
    month: z.int().min(1).max(12).describe('The month, 1 to 12.'),
    records: z
      .enum(['STATION', 'VOLUME', 'CLASS', 'SPEED'])
      .describe(
        'STATION: one record for each direction and lane. VOLUME: one for each day, with its 24 hours. CLASS, SPEED: one for each hour, with the vehicles by class, or by speed in steps of 5 mph.',
      ),
    stateCode: z
      .string()
      .regex(/^\d{1,2}$/, 'Use the FIPS code of the state, such as 11')
      .describe('The FIPS code of the state.'),
    stationId: z
      .string()
      .regex(/^[A-Za-z0-9]{1,20}$/, 'Use up to 20 letters and digits')
      .describe('Shorter ids are filled with zeros to six characters.'),
    functionalClass: z
      .string()
      .regex(/^[1-7][RU]$/, 'Use a class from 1 to 7 with R for rural or U for urban, such as 2U')
      .optional()
      .describe(
        'Functional classification of the road, such as 2U. TMAS requires it in records of stations and volumes.',
      ),
    direction: z
      .enum(tmgDirections)
      .optional()
      .describe(
        'Of vehicles without a direction of travel. NS and EW, for both directions of a road, are for volumes only.',
      ),
  })
  .refine(onePlace, ONE_PLACE);
export type TmgFileInput = z.infer<typeof tmgFileInput>;

export const tmgFile = z.object({
  timezone,
  fileName: z.string(),
  text: z.string().describe('A header with the names of the fields, and the records.'),
  recordCount: z.number().describe('Number of records.'),
});
export type TmgFile = z.infer<typeof tmgFile>;
