import { DAY_MS } from '@gantry/contract/durations';
import type { Column, Row } from '../document.ts';
import type { LocalTime } from '../local-time.ts';

// The rows of a sheet in SpreadsheetML. Strings are in their cells: a list of shared strings would have to be kept in
// memory.

/** Formats of numbers and times. A cell refers to its format by a number that the workbook defines. */
export interface Formats {
  /** The number of a format. */
  readonly styleOf: (format: string) => number;
  readonly date: string;
  readonly time: string;
}

/** Maximum length of the text in a cell, in characters. */
const MAX_TEXT = 32_767;

/** Characters that XML cannot contain but a text from a device may. */
const NO_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

/** The number that spreadsheets give 1 January 1970. */
const DAYS_BEFORE_1970 = 25_569;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** The formats of numbers. A decimal has none: with `0.##`, a whole number would end in a point. */
const numberFormats: Partial<Record<Column['type'], string>> = {
  integer: '0',
  degrees: '0.000000',
  seconds: '0',
  share: '0.0%',
};

/** A cell of a row that is not one of the table; null for none. */
export interface SheetCell {
  readonly value: string | number | null;
  readonly style?: number;
}

/** A string as XML can hold it, in an attribute or between tags. */
export function escapeXml(value: string): string {
  return value.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');
}

/** A row of cells. @param n the number of the row, from 1 */
export function cellsRow(n: number, cells: readonly SheetCell[]): string {
  return rowOf(
    n,
    cells.map(({ value, style = null }, at) => {
      const address = `${letters(at)}${n}`;
      if (value === null) return '';
      return typeof value === 'number' ? numberCell(address, value, style) : textCell(address, value, style);
    }),
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
  const text = escapeXml(value.replace(NO_XML, '').slice(0, MAX_TEXT).toWellFormed());
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
