import { setImmediate } from 'node:timers/promises';
import type { TimezoneSettings } from '@gantry/contract/system';
import type { Cell, Column, ColumnType, Row } from '../document.ts';
import { tellLength } from '../length.ts';
import { createLocalTime, type LocalTime } from '../local-time.ts';
import { fontsOf, type Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, fit, page, setStyle, writeLine } from './pdf-page.ts';

const ROW = 13;
const HEAD = 26;
const PADDING = 4;
const FONT = 7.5;
/** After so many rows others get their turn: drawing keeps the process busy. */
const ROWS_AT_ONCE = 20;
/** Most texts of one column that are kept cut to its width. */
const MOST_KEPT = 5_000;

const decimals = (value: number, most: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: most });

const numbers: Readonly<Partial<Record<ColumnType, (value: number) => string>>> = {
  integer: (value) => decimals(value, 0),
  decimal: (value) => decimals(value, 1),
  seconds: tellLength,
  share: (value) => `${decimals(value * 100, 2)} %`,
};

const tell = (cell: Cell, type: ColumnType, { show, showDay }: LocalTime): string => {
  if (cell === null) return '';
  if (cell instanceof Date) return show(cell.getTime());
  if (typeof cell === 'number') return (numbers[type] ?? String)(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return type === 'date' ? showDay(cell) : cell;
};

interface Laid {
  readonly column: Column;
  readonly x: number;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** Cuts a text to the width, and remembers it: most of them come again and again. */
  readonly cut: (text: string) => string;
}

/** A time is of no use when a part of it is missing. In points. */
const fixedWidths: Readonly<Partial<Record<ColumnType, number>>> = { time: 88, date: 54 };

/** The name of a column in one or two lines. */
const headLines = (pdf: Pdf, name: string, width: number): string[] => {
  const words = name.split(' ');
  let [first, second] = [words[0] ?? '', ''];
  for (const word of words.slice(1)) {
    if (second === '' && pdf.widthOfString(`${first} ${word}`) <= width) first = `${first} ${word}`;
    else second = second === '' ? word : `${second} ${word}`;
  }
  return second === '' ? [first] : [first, second];
};

const layOut = (pdf: Pdf, columns: readonly Column[]): (Laid | null)[] => {
  const shown = columns.filter(({ width }) => width > 0);
  const fixed = shown.reduce((sum, { type }) => sum + (fixedWidths[type] ?? 0), 0);
  const shares = shown.reduce((sum, { type, width }) => sum + (fixedWidths[type] ? 0 : width), 0);
  let x: number = page.margin;
  return columns.map((column) => {
    if (column.width === 0) return null;
    const width = fixedWidths[column.type] ?? (column.width / shares) * (contentWidth - fixed);
    const kept = new Map<string, string>();
    const cut = (text: string): string => {
      const known = kept.get(text);
      if (known !== undefined) return known;
      const line = fit(pdf, text, width - 2 * PADDING);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(text, line);
      return line;
    };
    const align = numbers[column.type] ? ('right' as const) : ('left' as const);
    const laid = { column, x, width, align, cut };
    x += width;
    return laid;
  });
};

const drawHead = (pdf: Pdf, laid: readonly (Laid | null)[], y: number): void => {
  pdf.rect(page.margin, y, contentWidth, HEAD).fill(colors.head);
  setStyle(pdf, { size: FONT, font: 'bold', color: '#ffffff' });
  for (const place of laid) {
    if (!place) continue;
    const width = place.width - 2 * PADDING;
    headLines(pdf, place.column.name, width).forEach((line, at) => {
      writeLine(pdf, line, { x: place.x + PADDING, y: y + 4 + at * 10, width }, place.align);
    });
  }
};

/**
 * Draws rows under a head that is repeated on every page.
 * @param y where it begins on the page that is open
 * @returns how many rows there are, and whether there are more than `most`
 */
export const drawTable = async (
  pdf: Pdf,
  { columns, rows, settings }: TableContent,
  y: number,
  most: number,
): Promise<{ count: number; isCut: boolean }> => {
  const local = createLocalTime(settings);
  const fonts = fontsOf(pdf);
  setStyle(pdf, { size: FONT });
  const laid = layOut(pdf, columns);
  let at = y;
  let count = 0;
  const open = (top: number): void => {
    drawHead(pdf, laid, top);
    at = top + HEAD;
    setStyle(pdf, { size: FONT });
  };
  const draw = (row: Row): void => {
    if (at + ROW > bottom) {
      pdf.addPage();
      open(page.margin);
    }
    if (count % 2 === 1) pdf.rect(page.margin, at, contentWidth, ROW).fill(colors.stripe);
    pdf.fillColor(colors.ink);
    laid.forEach((place, n) => {
      const text = place && tell(row[n] ?? null, place.column.type, local);
      if (!place || text === null || text === '') return;
      const line = place.cut(text);
      const room = place.width - 2 * PADDING;
      const indent = place.align === 'right' ? room - fonts.widthOf(line) : 0;
      fonts.write(line, place.x + PADDING + indent, at + 3);
    });
    at += ROW;
    count++;
  };

  open(at);
  for await (const part of rows) {
    for (const row of part) {
      if (count === most) return { count, isCut: true };
      draw(row);
      if (count % ROWS_AT_ONCE === 0) await setImmediate();
    }
  }
  return { count, isCut: false };
};

export interface TableContent {
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly settings: TimezoneSettings;
}
