import { guardText } from '@gantry/contract/csv-text';
import { Temporal } from 'temporal-polyfill';
import type { Cell, ChartTable } from './table.ts';

/** Without it, spreadsheets take the file for one in an old encoding. */
const BYTE_ORDER_MARK = '\uFEFF';
const QUOTED = /[",;\t\r\n]|^[\s#]|\s$/;

/** A moment in ISO 8601 with the offset of the zone. */
function isoIn(moment: Date, zone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(moment.getTime())
    .toZonedDateTimeISO(zone)
    .toString({ timeZoneName: 'never', smallestUnit: 'second' });
}

function cellOf(cell: Cell, zone: string): string {
  if (cell === null) return '';
  if (cell instanceof Date) return isoIn(cell, zone);
  if (typeof cell === 'number') return String(cell);
  const text = guardText(cell);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * The figures of a chart as CSV, in the form of the service's own files: the names of the columns first, times in ISO 8601
 * with offset, texts that no spreadsheet takes for formulas, and at the end what the file is about, in lines with `#`.
 */
export function csvOf({ columns, rows }: ChartTable, zone: string, facts: readonly string[]): string {
  const headers = columns.map(({ header, unit }) => (unit ? `${header} (${unit})` : header));
  const lines = [headers, ...rows].map((row) => row.map((cell) => cellOf(cell, zone)).join(','));
  const comments = facts.map(
    (fact) =>
      `# ${fact.replaceAll(/\s+/g, ' ').replaceAll(',', ';').replaceAll('"', "'")}${','.repeat(columns.length - 1)}`,
  );
  return BYTE_ORDER_MARK + [...lines, ...comments, ''].join('\r\n');
}
