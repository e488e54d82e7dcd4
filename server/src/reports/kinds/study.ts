import type { StudyKind, StudyTable } from '@gantry/contract/studies';
import type { Database } from '../../platform/database/pool.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import { readStudy } from '../../traffic/study/figures.ts';
import { getStudyRow, type StudyRow } from '../../traffic/study/store.ts';
import { hashOf } from '../../traffic/study/table.ts';
import type { Cell, Column, ColumnType, Figure, KindOfReport } from '../document.ts';

const TITLES: Readonly<Record<StudyKind, string>> = {
  VOLUME: 'Traffic count',
  SPEED: 'Speed study',
  TURNING_MOVEMENTS: 'Turning movement count',
  PEAK_HOURS: 'Peak hours',
  COMPARISON: 'Speeds before and after',
};

const TYPES: Readonly<Record<string, ColumnType>> = {
  Start: 'time',
  End: 'time',
  Status: 'text',
  Coverage: 'share',
  Part: 'text',
  'Limit (km/h)': 'decimal',
  'From (km/h)': 'decimal',
  'To (km/h)': 'decimal',
  'Sum (km/h)': 'decimal',
};

/**
 * The report of a study: of its frozen data and figures or, of a draft, of the present ones.
 * @throws AppError `notFound`
 */
export async function reportOfStudy(db: Database, id: string, now: number): Promise<KindOfReport> {
  const study = await getStudyRow(db, id);
  const { data, figures } = study;
  const content =
    data && figures ? { data, figures } : await readStudy(db, study.subject, study.settings, now);
  const columns = columnsOf(content.data);
  const rows = content.data.rows.map((row) => row.map((cell, n) => cellOf(cell, columns[n])));
  return {
    title: `${TITLES[study.kind]}: ${study.title}`,
    facts: factsOf(study, content.data, now),
    columns,
    async *rows() {
      yield { rows, progress: 1 };
    },
    count: async () => rows.length,
    summary: async () => ({ figures: [], charts: [] }),
  };
}

function columnsOf({ columns }: StudyTable): Column[] {
  return columns.map((name) => ({
    name,
    type: TYPES[name] ?? 'integer',
    width: TYPES[name] === 'time' ? 15 : 8,
  }));
}

function cellOf(cell: string | number | null, column: Column | undefined): Cell {
  return column?.type === 'time' && typeof cell === 'string' ? new Date(cell) : cell;
}

function factsOf(study: StudyRow, data: StudyTable, now: number): Figure[] {
  const { show } = createLocalTime(study.settings);
  const shown = (moment: Date | null): string => (moment === null ? '–' : show(moment.getTime()));
  return [
    { name: 'Study', value: study.id },
    { name: 'Status', value: study.status },
    { name: 'Place', value: study.placeName },
    { name: 'Range', value: `${shown(study.startsAt)} to ${show(study.endsAt.getTime() - 1)}` },
    { name: 'Time zone', value: study.settings.timezone },
    { name: 'Author', value: `${study.authorName}, ${shown(study.createdAt)}` },
    {
      name: 'Frozen',
      value: study.frozenByName === null ? '–' : `${study.frozenByName}, ${shown(study.frozenAt)}`,
    },
    {
      name: 'Reviewer',
      value: study.reviewerName === null ? '–' : `${study.reviewerName}, ${shown(study.reviewedAt)}`,
    },
    { name: 'SHA-256', value: study.hash ?? hashOf(data) },
    { name: 'Generated', value: show(now) },
  ];
}
