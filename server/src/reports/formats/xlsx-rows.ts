import { DAY_MS } from '@gantry/contract/durations';
import type { Column, Row } from '../document.ts';
import type { LocalTime } from '../local-time.ts';

// The rows of a sheet in SpreadsheetML. They are written as they are read, because the library for the rest of the
// workbook keeps the whole sheet in memory. Texts are in their cells: a list of shared texts would have to be kept.

/** Formats of numbers and times. A cell refers to its format by a number that the workbook defines. */
export interface Formats {
  /** The number of a format. */
  readonly styleOf: (format: string) => number;
  readonly date: string;
  readonly time: string;
}

/** Maximum length of the text in a cell, in characters. */
const LONGEST_TEXT = 32_767;

/** Characters that XML cannot contain but a text from a device may. */
const NO_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

/** The number that spreadsheets give 1 January 1970. */
const DAYS_BEFORE_1970 = 25_569;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The formats of numbers. A decimal has none: with `0.##`, a whole number would end in a point. */
const numberFormats: Partial<Record<Column['type'], string>> = {
  integer: '0',
  degrees: '0.000000',
  seconds: '0',
  share: '0.0%',
};

/** A text as a cell can hold it: without characters that XML lacks, and not too long. */
export function cellText(value: string): string {
  return value.replace(NO_XML, '').slice(0, LONGEST_TEXT).toWellFormed();
}

/** A row of texts in one style. @param n the number of the row, from 1 */
export function textRow(n: number, texts: readonly string[], style: number): string {
  return rowOf(
    n,
    texts.map((text, at) => textCell(`${letters(at)}${n}`, text, style)),
  );
}

/** Returns a function that writes a row of the table as XML. Its parameter `n` is the number of the row, from 1. */
export function createRowWriter(
  columns: readonly Column[],
  local: LocalTime,
  { styleOf, date, time }: Formats,
): (row: Row, n: number) => string {
  const writers = columns.map(({ type }, at) => {
    const letter = letters(at);
    const format = numberFormats[type];
    return (cell: Row[number], n: number): string => {
      const address = `${letter}${n}`;
      if (cell === null) return '';
      if (cell instanceof Date) {
        const offset = local.offsetIfTwice(cell.getTime());
        const style = styleOf(offset === null ? time : `${time} "${offset}"`);
        return numberCell(address, serial(local.wall(cell.getTime()).getTime()), style);
      }
      if (typeof cell === 'number') return numberCell(address, cell, format ? styleOf(format) : null);
      if (typeof cell === 'boolean') return `<c r="${address}" t="b"><v>${cell ? 1 : 0}</v></c>`;
      return type === 'date'
        ? numberCell(address, serial(Date.parse(`${cell}T00:00:00Z`)), styleOf(date))
        : textCell(address, cell, null);
    };
  });
  return (row, n) =>
    rowOf(
      n,
      row.map((cell, at) => writers[at]?.(cell, n) ?? ''),
    );
}

function rowOf(n: number, cells: readonly string[]): string {
  return `<row r="${n}">${cells.join('')}</row>`;
}

function numberCell(address: string, value: number, style: number | null): string {
  return `<c r="${address}"${styled(style)}><v>${value}</v></c>`;
}

function textCell(address: string, value: string, style: number | null): string {
  const text = cellText(value).replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? '');
  return `<c r="${address}"${styled(style)} t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
}

function styled(style: number | null): string {
  return style === null ? '' : ` s="${style}"`;
}

function serial(wall: number): number {
  return wall / DAY_MS + DAYS_BEFORE_1970;
}

/** The letters of a column, from 0: A to Z, then AA. */
function letters(at: number): string {
  return (at >= 26 ? letters(Math.floor(at / 26) - 1) : '') + String.fromCharCode(65 + (at % 26));
}
