import { commentLine, markOf, textCell, USUAL_CSV } from '@gantry/contract/csv-text';
import type { CsvChoice } from '@gantry/contract/reports';
import { createTimeFormat, type TimeFormat } from '../time/format.ts';

/** Unicode isolates. They set the direction of parts of a text on the page, and do not belong in a file. */
const ISOLATES = /[\u2066-\u2069]/g;
const QUOTED = /[",;\t\r\n]|^[\s#]|\s$/;

/** Formats that yield days and times as in ISO 8601. */
const ISO = { dateFormat: 'YYYY-MM-DD', use24HourFormat: true, firstDayOfWeek: 1 } as const;

function cellOf(cell: Cell, time: TimeFormat, choice: CsvChoice): string {
  if (cell === null) return '';
  if (cell instanceof Date)
    return `${time.isoDay(cell)}T${time.time(cell)}${time.offset(cell).replace('UTC', '')}`;
  if (typeof cell === 'number') return String(cell);
  const text = textCell(cell, choice);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The figures of a chart as CSV, in the format of the service's own files: column names in the first line, times in
 * ISO 8601 with offset, cells guarded against formulas, and facts about the file at the end, in lines that begin with
 * `#`.
 */
export function csvOf(
  { columns, rows }: ChartTable,
  zone: string,
  facts: readonly string[],
  choice: CsvChoice = USUAL_CSV,
): string {
  const headers = columns
    .map(({ header, unit }) => (unit ? `${header} (${unit})` : header))
    .map((header) => header.replaceAll(ISOLATES, ''));
  const time = createTimeFormat(zone, 'en', { timezone: zone, ...ISO });
  const lines = [headers, ...rows].map((row) =>
    row.map((cell) => cellOf(cell, time, choice)).join(choice.separator),
  );
  const comments = facts.map((fact) => commentLine(fact.replaceAll(ISOLATES, ''), columns.length, choice));
  return markOf(choice) + [...lines, ...comments, ''].join('\r\n');
}

/** The value of a cell. null is a gap, which is not the same as 0. */
export type Cell = Date | string | number | null;

/** A column of the table of a chart. The first column labels the rows: it holds the categories of the axis. */
export interface ChartColumn {
  readonly header: string;
  /** `share` is a number from 0 to 1, shown in percent; `moment` and `day` are times in the zone of the service;
   * a `day` may also be a string such as `2026-11-22`. */
  readonly kind: 'text' | 'number' | 'share' | 'moment' | 'day';
  /** Maximum number of decimal places shown; the file has all of them. */
  readonly digits?: number;
  /** Unit of the figures, such as `km/h`. */
  readonly unit?: string;
}

/** All figures of a chart, for the table view and the CSV file. */
export interface ChartTable {
  readonly columns: readonly ChartColumn[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A file name without extension: at most 100 letters, digits and hyphens, so that every platform accepts it. */
export function fileNameOf(...parts: readonly string[]): string {
  return parts
    .join(' ')
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 100)
    .replaceAll(/^-|-$/g, '');
}
