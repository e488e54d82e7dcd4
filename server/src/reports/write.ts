import type { Writable } from 'node:stream';
import { isUuid } from '@gantry/contract/id';
import type { ReportFilters } from '@gantry/contract/reports';
import type { Database } from '../platform/database/pool.ts';
import type { Batch, Figure, ReportDocument, ReportScope, Row } from './document.ts';
import { formats } from './formats.ts';
import { kinds } from './kinds.ts';
import { createLocalTime } from './local-time.ts';
import { findPlaceNames } from './places-store.ts';
import type { Progress, ThreadJob } from './thread-messages.ts';

/**
 * Reads what a report is about and writes its file, as much as is asked for at a time.
 * @param progress kept up to date meanwhile
 * @returns how many rows the file has
 * @throws AppError `badRequest` when its format cannot hold it; whatever ended the signal
 */
export async function writeReport(
  db: Database,
  { report: row, now }: Pick<ThreadJob, 'report' | 'now'>,
  to: Writable,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  const { columns, title, rows, summary, sections } = kinds[row.kind];
  const scope: ReportScope = {
    interval: { from: row.startsAt.getTime(), until: row.endsAt.getTime() },
    filters: row.filters,
    settings: row.settings,
    now,
  };
  const document: ReportDocument = {
    title,
    facts: await factsOf(db, scope),
    columns,
    rows: watched(rows(db, scope), progress, signal),
    settings: row.settings,
    summary: () => summary(db, scope),
    ...(sections && { sections: { ...sections, list: () => sections.list(db, scope) } }),
  };
  const written = await formats[row.format].write(document, to);
  signal.throwIfAborted();
  return written;
}

/** The filters as they are read, with the names of what they refer to. */
async function describeFilters(db: Database, filters: ReportFilters): Promise<string> {
  const names = await findPlaceNames(db, Object.values(filters).filter(isId));
  const said = Object.entries(filters).map(([name, value]) => {
    const place = typeof value === 'string' ? names.get(value.toLowerCase()) : undefined;
    return `${name} = ${place === undefined ? value : `${place} (${value})`}`;
  });
  return said.length === 0 ? 'none' : said.join('; ');
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

async function* watched(
  batches: AsyncIterable<Batch>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  for await (const batch of batches) {
    signal.throwIfAborted();
    progress.rowCount += batch.rows.length;
    yield batch.rows;
    // A retreat would look odd, and the end is when the file is there.
    progress.progress = Math.max(progress.progress, Math.min(0.99, batch.progress));
  }
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value);
}
