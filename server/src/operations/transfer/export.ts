import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guardText } from '@gantry/contract/csv-text';
import { stringify } from 'csv-stringify/sync';
import type { Database } from '../../platform/database/pool.ts';
import {
  type ExportedEvent,
  type ExportFilters,
  exportedPages,
  fields,
  type TransferFormat,
} from './store.ts';

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return guardText(value);
  // An apostrophe within a text of the JSON leaves it valid JSON.
  return typeof value === 'object' ? guardText(JSON.stringify(value)) : String(value);
}

function csvOf(events: readonly ExportedEvent[]): string {
  return stringify(events.map((event) => fields.map((name) => csvCell(event[name]))));
}

function linesOf(events: readonly ExportedEvent[]): string {
  const ordered = events.map((event) =>
    Object.fromEntries(fields.map((name) => [name, event[name] ?? null])),
  );
  return ordered.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/**
 * Writes the events that match as lines of JSON or CSV, as fast as the output accepts them. The use of memory is constant.
 * @returns the number of events
 */
export async function exportEvents(
  db: Database,
  filters: ExportFilters,
  format: TransferFormat,
  to: Writable,
): Promise<number> {
  let count = 0;
  async function* chunks(): AsyncGenerator<string> {
    if (format === 'csv') yield stringify([[...fields]]);
    for await (const events of exportedPages(db, filters)) {
      yield format === 'csv' ? csvOf(events) : linesOf(events);
      count += events.length;
    }
  }
  // Standard output stays open.
  await pipeline(Readable.from(chunks(), { objectMode: false }), to, { end: to !== process.stdout });
  return count;
}
