import type { Writable } from 'node:stream';
import { HIDDEN_PLATE } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { ReportFilters, ReportFormat } from '@gantry/contract/reports';
import type { Database } from '../platform/database/pool.ts';
import { createLocalTime } from '../platform/local-time.ts';
import type { Batch, Figure, FileFormat, ReportDocument, ReportScope, Row } from './document.ts';
import { chronologyOf } from './kinds/chronology.ts';
import { reportOfStudy } from './kinds/study.ts';
import { unitsOfReport } from './kinds/traffic.ts';
import { kinds, trafficIn, withoutPlates } from './kinds.ts';
import { findPlaceNames } from './places-store.ts';
import type { ReportRow } from './store.ts';
import type { Progress, ThreadJob } from './thread.ts';

/**
 * Reads the data of a report and writes its file, in parts as the stream accepts them.
 * @param progress updated meanwhile
 * @returns the number of rows in the file
 * @throws AppError `badRequest` when the format cannot hold the report; the reason of the signal when it is aborted
 */
export async function writeReport(
  db: Database,
  { report: row, now, speedUnits }: Pick<ThreadJob, 'report' | 'now' | 'speedUnits'>,
  to: Writable,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const scope: ReportScope = {
    interval: { from: row.startsAt.getTime(), until: row.endsAt.getTime() },
    filters: row.filters,
    settings: row.settings,
    now,
    speedUnits,
  };
  const kind =
    row.kind === 'STUDY'
      ? await reportOfStudy(db, row.studyId ?? '', now)
      : row.kind === 'TRAFFIC'
        ? trafficIn(await unitsOfReport(db, scope))
        : row.kind === 'INCIDENT_CHRONOLOGY'
          ? await chronologyOf(db, row.id)
          : kinds[row.kind];
  const { columns, title, rows, count, summary, sections, study } = kind;
  const document: ReportDocument = {
    title,
    facts: kind.facts ?? (await factsOf(db, { ...scope, filters: shownFilters(row) })),
    columns,
    rows: monitored(rows(db, scope), progress, signal, row.hidesPlates ? withoutPlates(columns) : asItIs),
    settings: row.settings,
    ...(row.csv && { csv: row.csv }),
    ...(count && { count: () => count(db, scope) }),
    summary: () => summary(db, scope),
    ...(study && { study }),
    ...(sections && { sections: { ...sections, list: () => sections.list(db, scope) } }),
  };
  const format = await formats[row.format]();
  const written = await format.write(document, to);
  signal.throwIfAborted();
  return written;
}

/** The filters as the report shows them. Somebody who sees plates may have added one to the schedule of somebody who does not. */
function shownFilters({ filters, hidesPlates }: Pick<ReportRow, 'filters' | 'hidesPlates'>): ReportFilters {
  const isShown = !hidesPlates || filters.licensePlateNumber === undefined;
  return isShown ? filters : { ...filters, licensePlateNumber: HIDDEN_PLATE };
}

/** The filters as text, with the names of the objects to which they refer. */
async function describeFilters(db: Database, filters: ReportFilters): Promise<string> {
  const ids = Object.values(filters).filter(isId);
  const names = await findPlaceNames(
    db,
    ids.map((id) => id.toLowerCase()),
  );
  const parts = Object.entries(filters).map(([name, value]) => {
    const place = typeof value === 'string' ? names.get(value.toLowerCase()) : undefined;
    return `${name} = ${place === undefined ? value : `${place} (${value})`}`;
  });
  return parts.length === 0 ? 'none' : parts.join('; ');
}

async function factsOf(db: Database, { interval, filters, settings, now }: ReportScope): Promise<Figure[]> {
  const { show } = createLocalTime(settings);
  return [
    { name: 'Range', value: `${show(interval.from)} to ${show(interval.until - 1)}` },
    { name: 'Time zone', value: settings.timezone },
    { name: 'Filters', value: await describeFilters(db, filters) },
    { name: 'Generated', value: show(now) },
  ];
}

async function* monitored(
  batches: AsyncIterable<Batch>,
  progress: Progress,
  signal: AbortSignal,
  show: (row: Row) => Row,
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    signal.throwIfAborted();
    progress.rowCount += batch.rows.length;
    yield show === asItIs ? batch.rows : batch.rows.map(show);
    // Progress never decreases, and is complete only when the file is stored.
    progress.progress = Math.max(progress.progress, Math.min(0.99, batch.progress));
  }
}

function asItIs(row: Row): Row {
  return row;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value);
}

/**
 * Every kind of report can be written in each format. A thread writes one file and loads only what that takes: the parts
 * for PDF cost 0.2 s of processor time, more than all others together.
 */
const formats: Readonly<Record<ReportFormat, () => Promise<FileFormat>>> = {
  CSV: async () => (await import('./formats/csv.ts')).csv,
  XLSX: async () => (await import('./formats/xlsx.ts')).xlsx,
  PDF: async () => (await import('./formats/pdf.ts')).pdf,
};
