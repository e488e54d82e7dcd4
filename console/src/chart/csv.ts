import { guardText } from '@gantry/contract/csv-text';
import { createTimeFormat, type TimeFormat } from '../time/format.ts';
import type { Cell, ChartTable } from './table.ts';

/** Without it, spreadsheets take the file for one in an old encoding. */
const BYTE_ORDER_MARK = '\uFEFF';
/** What keeps the parts of a text in order on the page, and is noise to a program that reads a file. */
const ISOLATES = /[\u2066-\u2069]/g;
const QUOTED = /[",;\t\r\n]|^[\s#]|\s$/;

/** As ISO 8601 writes days and times. */
const ISO = { dateFormat: 'YYYY-MM-DD', use24HourFormat: true, firstDayOfWeek: 1 } as const;

function cellOf(cell: Cell, time: TimeFormat): string {
  if (cell === null) return '';
  if (cell instanceof Date)
    return `${time.isoDay(cell)}T${time.time(cell)}${time.offset(cell).replace('UTC', '')}`;
  if (typeof cell === 'number') return String(cell);
  const text = guardText(cell);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The figures of a chart as CSV, in the form of the service's own files: the names of the columns first, times in ISO 8601
 * with offset, texts that no spreadsheet takes for formulas, and at the end what the file is about, in lines with `#`.
 */
export function csvOf({ columns, rows }: ChartTable, zone: string, facts: readonly string[]): string {
  const headers = columns
    .map(({ header, unit }) => (unit ? `${header} (${unit})` : header))
    .map((header) => header.replaceAll(ISOLATES, ''));
  const time = createTimeFormat(zone, 'en', { timezone: zone, ...ISO });
  const lines = [headers, ...rows].map((row) => row.map((cell) => cellOf(cell, time)).join(','));
  const comments = facts.map(
    (fact) =>
      `# ${fact.replaceAll(ISOLATES, '').replaceAll(/\s+/g, ' ').replaceAll(',', ';').replaceAll('"', "'")}${','.repeat(columns.length - 1)}`,
  );
  return BYTE_ORDER_MARK + [...lines, ...comments, ''].join('\r\n');
}
