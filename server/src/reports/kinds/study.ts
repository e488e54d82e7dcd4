import type { StudyKind, StudyTable } from '@gantry/contract/studies';
import type { Database } from '../../platform/database/pool.ts';
import { version } from '../../platform/installation.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import { readStudy } from '../../traffic/study/figures.ts';
import { getStudyRow, type StudyRow } from '../../traffic/study/store.ts';
import { hashOf } from '../../traffic/study/table.ts';
import type { Column, ColumnType, Figure, KindOfReport, Signature } from '../document.ts';
import {
  type Content,
  type PeakFigures,
  pagesOfPeaks,
  pagesOfVolume,
  type VolumeFigures,
} from './study-counts.ts';
import { methodsOf, unitsOf } from './study-methods.ts';
import {
  type ComparisonFigures,
  pagesOfComparison,
  pagesOfSpeeds,
  type SpeedFigures,
} from './study-speeds.ts';
import { pagesOfTurning, type TurningFigures } from './study-turning.ts';

const KINDS: Readonly<Record<StudyKind, string>> = {
  VOLUME: 'Traffic count',
  SPEED: 'Speed study',
  TURNING_MOVEMENTS: 'Turning movement count',
  PEAK_HOURS: 'Peak hours',
  COMPARISON: 'Speeds before and after',
};

/** The types of the columns of `tableOfBins` and `tableOfSpeeds`; the others are counts. Times are text, as in the hash. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  Start: 'text',
  End: 'text',
  Status: 'text',
  Coverage: 'share',
  Part: 'text',
  'Limit (km/h)': 'decimal',
  'From (km/h)': 'decimal',
  'To (km/h)': 'decimal',
  'Sum (km/h)': 'decimal',
};

/** The figures that every kind of study has. */
interface CommonFigures {
  readonly n: number;
  readonly coverage: number;
}

/**
 * The report of a study: of its frozen data and figures or, of a draft, of the present ones.
 * @throws AppError `notFound`
 */
export async function reportOfStudy(db: Database, id: string, now: number): Promise<KindOfReport> {
  const study = await getStudyRow(db, id);
  const { data, figures: frozen } = study;
  const content =
    data && frozen ? { data, figures: frozen } : await readStudy(db, study.subject, study.settings, now);
  const { rows } = content.data;
  const hash = study.hash ?? hashOf(content.data);
  const figures = content.figures as unknown as CommonFigures;
  const { figures: tiles, chapters, sheets, notes } = contentOf(study, figures);
  const { title } = study;
  return {
    title,
    facts: factsOf(study, figures, hash, now),
    columns: columnsOf(content.data),
    async *rows() {
      yield { rows, progress: 1 };
    },
    count: async () => rows.length,
    summary: async () => ({ figures: tiles, charts: [] }),
    study: {
      status: study.status,
      statement: statementOf(study, now),
      header: `${title} · study ${study.id} · SHA-256 ${hash.slice(0, 12)}…`,
      limits: limitsOf(study, figures, now),
      notes: [...notes, ...(study.notes ? [`Notes of the author: ${study.notes}`] : [])],
      signatures: signaturesOf(study),
      chapters,
      sheets,
      methods: methodsOf(study.subject),
    },
  };
}

function contentOf({ kind, settings, startsAt, endsAt }: StudyRow, figures: object): Content {
  const setting = { settings, range: { from: startsAt.getTime(), until: endsAt.getTime() } };
  switch (kind) {
    case 'VOLUME':
      return pagesOfVolume(figures as VolumeFigures, setting);
    case 'TURNING_MOVEMENTS':
      return pagesOfTurning(figures as TurningFigures, setting);
    case 'PEAK_HOURS':
      return pagesOfPeaks(figures as PeakFigures, setting);
    case 'SPEED':
      return pagesOfSpeeds(figures as SpeedFigures);
    case 'COMPARISON':
      return pagesOfComparison(figures as ComparisonFigures);
  }
}

function columnsOf({ columns }: StudyTable): Column[] {
  return columns.map((name) => ({
    name,
    type: TYPES[name] ?? 'integer',
    width: name === 'Start' || name === 'End' ? 20 : 8,
  }));
}

function statementOf(study: StudyRow, now: number): string {
  const { show } = createLocalTime(study.settings);
  const by = (name: string | null, at: Date | null): string =>
    `by ${name ?? '–'} on ${at ? show(at.getTime()) : '–'}`;
  switch (study.status) {
    case 'DRAFT':
      return `DRAFT: not for use. Nobody has reviewed it, and its figures are those of the data at ${show(now)}; they change with the data.`;
    case 'FROZEN':
      return `Frozen ${by(study.frozenByName, study.frozenAt)}, and not signed: nobody has reviewed it. Its data and figures no longer change.`;
    case 'SIGNED':
      return `Signed ${by(study.reviewerName, study.reviewedAt)}. Its data and figures were frozen on ${study.frozenAt ? show(study.frozenAt.getTime()) : '–'} and no longer change.`;
    case 'REJECTED':
      return `Rejected ${by(study.reviewerName, study.reviewedAt)}: not for use. Reason: ${study.reason ?? '–'}`;
  }
}

/** What the reader must know about data that are missing or may still change. */
function limitsOf(study: StudyRow, { coverage }: CommonFigures, now: number): string[] {
  const { show } = createLocalTime(study.settings);
  const computed = study.frozenAt?.getTime() ?? now;
  const said: string[] = [];
  if (computed < study.endsAt.getTime())
    said.push(
      `PROVISIONAL: the range was not over when the figures were computed, at ${show(computed)}. What came later is not in them.`,
    );
  // Of a comparison, the coverage of each part is told.
  if (coverage < 1 && study.kind !== 'COMPARISON')
    said.push(
      `NOT COMPLETE: counts are known for ${(coverage * 100).toFixed(1)} % of the studied time. What is not known is marked, and is in no figure.`,
    );
  return said;
}

function signaturesOf(study: StudyRow): Signature[] {
  const { show } = createLocalTime(study.settings);
  const at = (time: Date | null): string | null => (time === null ? null : show(time.getTime()));
  return [
    { act: 'Author', by: study.authorName, at: at(study.createdAt) },
    { act: 'Frozen by', by: study.frozenByName, at: at(study.frozenAt) },
    {
      act: study.status === 'REJECTED' ? 'Rejected by' : 'Reviewed and signed by',
      by: study.reviewerName,
      at: at(study.reviewedAt),
    },
  ];
}

function factsOf(study: StudyRow, { n, coverage }: CommonFigures, hash: string, now: number): Figure[] {
  const { show } = createLocalTime(study.settings);
  const { units, method } = unitsOf(study.subject);
  const act = (name: string | null, at: Date | null): string =>
    name === null || at === null ? '–' : `${name}, ${show(at.getTime())}`;
  return [
    { name: 'Study', value: study.id },
    { name: 'Kind', value: KINDS[study.kind] },
    { name: 'Status', value: study.status },
    { name: 'Place', value: study.placeName },
    ...rangesOf(study),
    { name: 'Time zone', value: study.settings.timezone },
    { name: 'Observations', value: `n = ${n.toLocaleString('en')} vehicles` },
    { name: 'Coverage', value: `${(coverage * 100).toFixed(1)} % of the studied time` },
    { name: 'Units', value: units },
    { name: 'Method', value: method },
    { name: 'Author', value: act(study.authorName, study.createdAt) },
    { name: 'Frozen', value: act(study.frozenByName, study.frozenAt) },
    {
      name: study.status === 'REJECTED' ? 'Rejected' : 'Signed',
      value: act(study.reviewerName, study.reviewedAt),
    },
    { name: 'Program', value: `Gantry ${study.programVersion ?? version}` },
    { name: 'Generated', value: show(now) },
    { name: study.hash === null ? 'SHA-256 now' : 'SHA-256', value: hash },
  ];
}

/** The range of a study; of a comparison, both of them. */
function rangesOf({ subject, settings, startsAt, endsAt }: StudyRow): Figure[] {
  const { show } = createLocalTime(settings);
  const textOf = (from: number, last: number): string => `${show(from)} to ${show(last)}`;
  if (subject.kind !== 'COMPARISON')
    return [{ name: 'Range', value: textOf(startsAt.getTime(), endsAt.getTime() - 1) }];
  const { before, after } = subject;
  return Object.entries({ Before: before, After: after }).map(([name, side]) => ({
    name,
    value: textOf(Date.parse(side.startDate), Date.parse(side.endDate)),
  }));
}
