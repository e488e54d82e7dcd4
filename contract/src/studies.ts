import { z } from 'zod';
import { hasClasses, NEEDS_CLASSES, peakWindows, side, speedOptions, units } from './figures.ts';
import { id } from './id.ts';
import { pageTotals, paging } from './page.ts';
import { person } from './person.ts';
import { reportFormat } from './reports.ts';
import { optionalText, trimmedText } from './text.ts';
import { ONE_PLACE, onePlace, timezone, trafficPlace, trafficRange } from './traffic.ts';
import { type SpeedUnits, studyKinds, studyStatuses } from './values.ts';

// Studies: figures of traffic that are frozen, with the data on which they are based, and signed.

export const studyKind = z
  .enum(studyKinds)
  .describe(
    'VOLUME: a count, such as of 24 hours or 7 days. SPEED: as traffic.getSpeedStudy. TURNING_MOVEMENTS: as traffic.getTurningMovements. PEAK_HOURS: as traffic.getPeakHours. COMPARISON: before and after, as traffic.compareStudies.',
  );
export type StudyKind = z.infer<typeof studyKind>;

export const studyStatus = z
  .enum(studyStatuses)
  .describe(
    'DRAFT: its figures are those of the present data. FROZEN: data and figures are kept as they were. SIGNED: another person has accepted them. REJECTED: somebody has refused them.',
  );
export type StudyStatus = z.infer<typeof studyStatus>;

const about = {
  title: trimmedText(200, 1),
  notes: optionalText(2_000).describe('What the reader should know, such as the weather or road works.'),
};
const subject = { ...about, ...trafficPlace, ...trafficRange };
const quarters = z.literal('15min').default('15min');

const ofVolume = z.object({
  ...subject,
  kind: z.literal('VOLUME'),
  interval: z.enum(['15min', '60min', 'day']).default('15min'),
  windows: peakWindows,
});
const ofTurningMovements = z.object({
  ...subject,
  kind: z.literal('TURNING_MOVEMENTS'),
  interval: quarters,
  windows: peakWindows,
});
const ofPeakHours = z.object({
  ...subject,
  kind: z.literal('PEAK_HOURS'),
  interval: quarters,
  windows: peakWindows,
});
const ofSpeeds = z.object({
  ...subject,
  kind: z.literal('SPEED'),
  interval: quarters.describe('Of no effect.'),
  ...speedOptions,
});
const ofComparison = z.object({ ...about, kind: z.literal('COMPARISON'), before: side, after: side, units });

export const createStudyInput = z
  .discriminatedUnion('kind', [ofVolume, ofTurningMovements, ofPeakHours, ofSpeeds, ofComparison])
  .refine((study) => study.kind === 'COMPARISON' || onePlace(study), ONE_PLACE)
  .refine((study) => study.kind !== 'SPEED' || hasClasses(study), NEEDS_CLASSES);
export type CreateStudyInput = z.infer<typeof createStudyInput>;

type Without<Each, Fields extends PropertyKey> = Each extends unknown ? Omit<Each, Fields> : never;

/** What is to be studied: the input without the words about it. */
export type GivenSubject = Without<CreateStudyInput, 'title' | 'notes'>;

type WithUnits<Each> = Each extends { units?: SpeedUnits | undefined } ? Each & { units: SpeedUnits } : Each;

/** What is studied. Speeds have units, so that the figures do not change with those of the place. */
export type StudySubject = WithUnits<GivenSubject>;

/** The data of a study, as the table of its CSV file. */
export interface StudyTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

export const listStudiesInput = z
  .object({ kind: studyKind.optional(), status: studyStatus.optional(), ...paging(50) })
  .prefault({});
export type ListStudiesInput = z.infer<typeof listStudiesInput>;

const hash = z
  .string()
  .nullable()
  .describe(
    'SHA-256 of the frozen data, as 64 hexadecimal digits: of the table in its CSV file, from the first line to the one before the first that begins with #, in UTF-8 without the byte order mark. The same data have the same hash. null for a DRAFT.',
  );

export const study = z.object({
  id: z.string(),
  kind: studyKind,
  title: z.string(),
  notes: z.string().nullable(),
  status: studyStatus,
  placeName: z.string().describe('The name when the study was frozen; of a comparison, of both places.'),
  options: z
    .record(z.string(), z.unknown())
    .describe('What was given to studies.create besides the title and the notes.'),
  range: z
    .object({ startDate: z.date(), endDate: z.date() })
    .describe('Both inclusive; of a comparison, from the first to the last of both.'),
  timezone,
  author: person.describe('As named when the study was frozen.'),
  frozenBy: person.nullable(),
  reviewer: person.nullable().describe('Who signed or rejected it.'),
  reason: z.string().nullable().describe('Why it was REJECTED.'),
  createdAt: z.date(),
  frozenAt: z.date().nullable(),
  signedAt: z.date().nullable(),
  hash,
  programVersion: z.string().nullable().describe('Of the service that froze it.'),
});
export type Study = z.infer<typeof study>;

export const studyWithFigures = study.extend({
  figures: z
    .record(z.string(), z.unknown())
    .describe(
      'Those of the procedure that the kind names (VOLUME: of traffic.getCounts by direction, traffic.getDailyVolumes and traffic.getPeakHours), with times as text, `n`, the number of vehicles, and `coverage`, the share (0 to 1) of the range with known counts. They never change after freezing.',
    ),
});
export type StudyWithFigures = z.infer<typeof studyWithFigures>;

export const studiesPage = z.object({ studies: z.array(study), ...pageTotals });

export const rejectStudyInput = z.object({ id, reason: trimmedText(2_000, 1) });
export const exportStudyInput = z.object({ id, format: reportFormat });
export const deletedStudy = z.object({ success: z.literal(true), id: z.string() });

/** Maximum number of differences in one answer. */
export const MAX_STUDY_DIFFERENCES = 100;

const value = z.union([z.string(), z.number()]).nullable().describe('null if there is none.');

export const verifiedStudy = z.object({
  matches: z.boolean().describe('Whether the data that are there now are those that were frozen.'),
  hash: hash.describe('Of the data that are there now; null if the place no longer exists.'),
  storedHash: z.string().describe('Of the data that were frozen.'),
  isIntact: z.boolean().describe('Whether the frozen data still have the hash that was stored with them.'),
  reason: z.string().nullable().describe('In words, why they do not match.'),
  differenceCount: z.number().describe('Number of differences.'),
  differences: z
    .array(
      z.object({
        row: z.string().describe('The start of the interval, or the limit and the speed.'),
        column: z.string().describe('The column of the table in the CSV file.'),
        stored: value,
        current: value,
      }),
    )
    .describe(`The first ${MAX_STUDY_DIFFERENCES}.`),
});
export type VerifiedStudy = z.infer<typeof verifiedStudy>;
