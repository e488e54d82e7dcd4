import { DAY_MS } from '@gantry/contract/durations';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { LocalTime } from '../../platform/local-time.ts';
import { letters, numberCell, rowOf, textCell } from '../../platform/workbook.ts';
import type { Column, Row } from '../document.ts';

// The rows of the table of a report.

/** Formats of numbers and times. A cell refers to its format by a number that the workbook defines. */
interface Formats {
  /** The number of a format. */
  readonly styleOf: (format: string) => number;
  readonly date: string;
  readonly time: string;
}

/** The number that spreadsheets give 1 January 1970. */
const DAYS_BEFORE_1970 = 25_569;

/** The formats of numbers. A decimal has none: with `0.##`, a whole number would end in a point. */
const numberFormats: Partial<Record<Column['type'], string>> = {
  integer: '0',
  degrees: '0.000000',
  seconds: '0',
  share: '0.0%',
};

/** Returns a function that writes a row of the table as XML. Its parameter `n` is the number of the row, from 1. */
export function createRowWriter(
  columns: readonly Column[],
  local: LocalTime,
  { styleOf, date, time }: Formats,
): (row: Row, n: number) => string {
  const writers = columns.map(({ type, digits }, at) => {
    const letter = letters(at);
    const format = digits === undefined || type === 'share' ? numberFormats[type] : (0).toFixed(digits);
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

function serial(wall: number): number {
  return wall / DAY_MS + DAYS_BEFORE_1970;
}

/**
 * The formats of dates and times. Spreadsheets have no time zones, so times are local; the rows of the hour that occurs
 * twice in autumn add the offset.
 */
export function timeFormats(settings: TimezoneSettings) {
  const day = settings.dateFormat.toLowerCase();
  return { date: day, time: `${day} ${settings.use24HourFormat ? 'hh:mm:ss' : 'h:mm:ss AM/PM'}` };
}
