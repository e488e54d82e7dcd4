import { commentLine, guardText } from '@gantry/contract/csv-text';
import { createTimeFormat, type TimeFormat } from '../time/format.ts';
import type { Cell, ChartTable } from './table.ts';

/** Without it, spreadsheets assume an old encoding. */
const BYTE_ORDER_MARK = '\uFEFF';
/** Unicode isolates. They set the direction of parts of a text on the page, and do not belong in a file. */
const ISOLATES = /[\u2066-\u2069]/g;
const QUOTED = /[",;\t\r\n]|^[\s#]|\s$/;

/** How CSV files are written, by choice of the user. */
export interface CsvChoice {
  /** Excel in countries with a decimal comma, such as Turkey and Germany, expects a semicolon. */
  readonly separator: ',' | ';' | '\t';
  /** Whether the file begins with a byte order mark, without which Excel reads an old encoding. */
  readonly hasMark: boolean;
  /**
   * Whether texts that look like numbers, such as the plate 12E34 and the identifier 007, are written as `="007"`, which
   * Excel shows as they are. Other readers take them literally.
   */
  readonly keepsTexts: boolean;
}

export const USUAL_CSV: CsvChoice = { separator: ',', hasMark: true, keepsTexts: false };

/** What Excel would turn into a number, a date or a time. It contains nothing that could end the quotes. */
const LOOKS_LIKE_NUMBER = /^[.,:/ \u00a0-]*\p{Nd}[\p{Nd}.,:/ \u00a0-]*(?:e[+-]?\p{Nd}+)?$/iu;

/** Formats that yield days and times as in ISO 8601. */
const ISO = { dateFormat: 'YYYY-MM-DD', use24HourFormat: true, firstDayOfWeek: 1 } as const;

function cellOf(cell: Cell, time: TimeFormat, { keepsTexts }: CsvChoice): string {
  if (cell === null) return '';
  if (cell instanceof Date)
    return `${time.isoDay(cell)}T${time.time(cell)}${time.offset(cell).replace('UTC', '')}`;
  if (typeof cell === 'number') return String(cell);
  if (keepsTexts && LOOKS_LIKE_NUMBER.test(cell)) return `"=""${cell}"""`;
  const text = guardText(cell);
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
  const comments = facts
    .map((fact) => commentLine(fact.replaceAll(ISOLATES, ''), columns.length))
    .map((line) => {
      let end = line.length;
      while (line[end - 1] === ',') end--;
      return line.slice(0, end) + choice.separator.repeat(line.length - end);
    });
  return (choice.hasMark ? BYTE_ORDER_MARK : '') + [...lines, ...comments, ''].join('\r\n');
}
