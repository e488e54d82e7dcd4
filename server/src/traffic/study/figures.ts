import type { GivenSubject, StudySubject, StudyTable } from '@gantry/contract/studies';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { Executor } from '../../platform/database/transaction.ts';
import { type Interval, requireRange } from '../../platform/time.ts';
import { type Bin, coveredOf, joinWithin, roundTo } from '../bin.ts';
import { holidaysOf } from '../calendar.ts';
import { compareStudies } from '../comparison.ts';
import { dailyVolumes } from '../daily.ts';
import type { Parts } from '../figures.ts';
import { peakHours } from '../peak-hours.ts';
import { localBounds, minutesOf, requireFewPoints } from '../range.ts';
import { requireClasses } from '../speed-sample.ts';
import { partOfWeek, readSpeeds, type Sample, studySpeeds } from '../studies.ts';
import { turningMovements } from '../turning-movements.ts';
import { describeCells, readBins, readMarkedBins } from '../volumes.ts';
import { tableOfBins, tableOfSpeeds } from './table.ts';

/** The data of a study, and the figures that follow from them. */
export interface StudyContent {
  readonly data: StudyTable;
  /** As JSON: times are texts. */
  readonly figures: Record<string, unknown>;
}

type Of<Kind extends StudySubject['kind']> = Extract<StudySubject, { readonly kind: Kind }>;

/** The range of a study; of a comparison, from the first to the last time of both parts. @throws AppError `badRequest` */
export function rangeOfStudy(subject: GivenSubject, timezone: string): Interval {
  if (subject.kind !== 'COMPARISON') return requireRange(subject, timezone);
  const [before, after] = [requireRange(subject.before, timezone), requireRange(subject.after, timezone)];
  return { from: Math.min(before.from, after.from), until: Math.max(before.until, after.until) };
}

/** Refuses what can be told to be wrong without the data. @throws AppError `badRequest` */
export function requireStudy(subject: GivenSubject, timezone: string): void {
  const range = rangeOfStudy(subject, timezone);
  if (subject.kind === 'SPEED') {
    if (subject.binEdges) requireClasses(subject.binEdges);
  } else if (subject.kind !== 'COMPARISON') requireFewPoints(range, readMinutes(subject), 'endDate');
}

/**
 * Reads the present data of a study, and computes its figures.
 * @param now in Unix milliseconds
 * @throws AppError `notFound` for a place that no longer exists
 */
export async function readStudy(
  db: Executor,
  subject: StudySubject,
  settings: TimezoneSettings,
  now: number,
): Promise<StudyContent> {
  const parts: Parts = { db, settings: { current: () => settings }, clock: { now: () => now } };
  const { data, figures } = await contentOf(parts, subject);
  return { data, figures: JSON.parse(JSON.stringify(figures)) };
}

function contentOf(parts: Parts, subject: StudySubject): Promise<{ data: StudyTable; figures: object }> {
  switch (subject.kind) {
    case 'SPEED':
      return ofSpeeds(parts, subject);
    case 'COMPARISON':
      return ofComparison(parts, subject);
    default:
      return ofCounts(parts, subject);
  }
}

function readMinutes({ interval }: Pick<Of<'VOLUME'>, 'interval'>): 15 | 60 {
  return interval === '15min' ? 15 : 60;
}

async function ofCounts(parts: Parts, subject: Of<'VOLUME' | 'PEAK_HOURS' | 'TURNING_MOVEMENTS'>) {
  const { timezone } = parts.settings.current();
  const range = requireRange(subject, timezone);
  const { place, bins } = await readMarkedBins(parts, subject, range, readMinutes(subject));
  const windows = subject.windows && { windows: subject.windows };
  const figures = {
    timezone,
    interval: subject.interval,
    n: bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0),
    coverage: coverageOf(bins),
    ...(subject.kind === 'VOLUME' &&
      volumesOf(bins, range, subject, {
        timezone,
        holidays: await holidaysOf(parts.db, place, range, timezone),
      })),
    ...(subject.kind === 'TURNING_MOVEMENTS' && turningMovements(bins, range, timezone, { ...windows })),
    ...(subject.kind === 'PEAK_HOURS' &&
      peakHours(bins, range, timezone, { ...windows, by: ['direction', 'movement'] })),
  };
  return { data: tableOfBins(bins, parts.settings.current()), figures };
}

function volumesOf(
  bins: readonly Bin[],
  range: Interval,
  { interval, windows }: Of<'VOLUME'>,
  { timezone, holidays }: { timezone: string; holidays: ReadonlySet<string> },
) {
  const shown = joinWithin(bins, localBounds(range, minutesOf[interval], timezone));
  return {
    bins: shown.map(({ start, end, cells, ...bin }) => ({
      ...bin,
      start: new Date(start),
      end: new Date(end),
      cells: describeCells(cells, ['direction']),
    })),
    total: bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0),
    ...dailyVolumes(bins, range, timezone, holidays),
    peaks:
      interval === '15min'
        ? peakHours(bins, range, timezone, { ...(windows && { windows }), by: ['direction'] })
        : null,
  };
}

async function ofSpeeds(parts: Parts, subject: Of<'SPEED'>) {
  const { timezone } = parts.settings.current();
  const { range, speeds, study } = await studySpeeds(parts, subject);
  const { days, hours } = subject;
  const coverage = await coverageOfSample(parts, subject, range, { days, hours });
  return { data: tableOfSpeeds({ '': speeds }), figures: { timezone, ...study, coverage } };
}

async function ofComparison(parts: Parts, { before, after, units }: Of<'COMPARISON'>) {
  const { timezone } = parts.settings.current();
  const read = async (side: typeof before) => {
    const range = requireRange(side, timezone);
    const coverage = await coverageOfSample(parts, side, range, {});
    return { speeds: await readSpeeds(parts, side, range), coverage };
  };
  const [former, latter] = [await read(before), await read(after)];
  const compared = compareStudies(former.speeds, latter.speeds, units);
  return {
    data: tableOfSpeeds({ BEFORE: former.speeds, AFTER: latter.speeds }),
    figures: {
      timezone,
      n: compared.before.n + compared.after.n,
      coverage: Math.min(former.coverage, latter.coverage),
      ...compared,
      before: { ...compared.before, coverage: former.coverage },
      after: { ...compared.after, coverage: latter.coverage },
    },
  };
}

/** The share of the studied time with known counts. */
async function coverageOfSample(
  parts: Parts,
  place: Parameters<typeof readBins>[1],
  range: Interval,
  sample: Sample,
): Promise<number> {
  const isWhole = (sample.hours ?? []).flat().every((minute) => minute % 60 === 0);
  const { bins } = await readBins(parts, place, range, isWhole ? 60 : 15, { detail: 'sums' });
  const isWanted = partOfWeek(sample, parts.settings.current().timezone);
  return coverageOf(isWanted ? bins.filter(({ start }) => isWanted(start)) : bins);
}

function coverageOf(bins: readonly Bin[]): number {
  const length = bins.reduce((sum, { start, end }) => sum + end - start, 0);
  return length === 0 ? 0 : roundTo(coveredOf(bins) / length, 4);
}
