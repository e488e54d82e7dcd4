import { setImmediate } from 'node:timers/promises';
import type { TimezoneSettings } from '@gantry/contract/system';
import { createLocalTime, formatDuration, type LocalTime } from '../../platform/local-time.ts';
import type { Cell, Column, ColumnType, FigureRow, Row, Tone } from '../document.ts';
import type { FontName, Pdf } from './pdf-fonts.ts';
import {
  bottom,
  colors,
  contentWidth,
  type Fitted,
  fit,
  heightOfLines,
  page,
  setStyle,
  widestPiece,
  widthOf,
  writeLines,
} from './pdf-page.ts';
import { tagsOf } from './pdf-tags.ts';

const ROW = 13;
const PADDING = 4;
const FONT = 7.5;

/** The minimum font size before a word is broken, in the table and in its head. */
const MIN_FONT = 5.5;

/** Number of rows after which the thread pauses, because drawing keeps the process busy. */
const ROWS_AT_ONCE = 20;

/** Maximum number of texts of one column whose lines are cached. */
const MAX_KEPT = 5_000;

/** Maximum number of lines in a row. Longer texts are not realistic names; an ellipsis marks omitted text. */
const MAX_LINES = 25;

const numbers: Readonly<Partial<Record<ColumnType, (value: number, digits?: number) => string>>> = {
  integer: (value) => decimals(value, 0),
  decimal: (value, digits) => decimals(value, 1, digits),
  degrees: (value) => decimals(value, 6),
  seconds: (value) => formatDuration(value),
  share: (value, digits) => `${decimals(value * 100, 2, digits)} %`,
};

/** Each is told from the others in print without colours, too, by what the row says. */
const tones: Readonly<Record<Tone, string>> = {
  total: '#dfe6ed',
  peak: '#bfdcf5',
  partial: '#fbe0bd',
  provisional: '#fdf3b0',
  gap: '#ebebeb',
  excluded: '#f3cccc',
};
const BOLD: ReadonlySet<Tone | undefined> = new Set<Tone>(['total', 'peak']);

interface Laid {
  readonly column: Column;
  readonly x: number;
  readonly width: number;
  readonly indent: number;
  readonly align: 'left' | 'right';
  readonly head: Fitted;
  /** Breaks a text into lines, with a cache, because most texts are repeated. */
  readonly linesOf: (text: string, font: FontName) => Fitted;
}

/** A sample for the width of dates and times, which are not broken into lines. All digits have the same width. */
const WIDEST_MOMENT = Date.UTC(2028, 11, 28, 22, 28, 28);

export interface TableContent {
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<readonly Row[]>;
  readonly settings: TimezoneSettings;
  /** How a row stands out. */
  readonly lookOf?: (row: Row) => Omit<FigureRow, 'cells'> | undefined;
  /** Minimum height of a row, and the size of the font, in points. */
  readonly rowHeight?: number;
  readonly fontSize?: number;
  /** Between numbers, which end at the right, and texts beside them, which begin at the left; 0 by default. */
  readonly indent?: number;
}

/** Groups of rows with a title each. */
export interface Groups {
  readonly idOf: (row: Row) => string;
  readonly titleOf: (id: string) => string;
  /** The number of rows to draw of each group; groups without an entry are not drawn. */
  readonly shares: ReadonlyMap<string, number>;
}

/** The rows that are still to be drawn: the first ones, or the share of each group. */
class Allowance {
  readonly #groups: Groups | undefined;
  readonly #shares: Map<string, number>;
  #left: number;

  constructor(most: number, groups: Groups | undefined) {
    this.#groups = groups;
    this.#shares = new Map(groups?.shares);
    this.#left = groups ? [...this.#shares.values()].reduce((sum, share) => sum + share, 0) : most;
  }

  get isUsed(): boolean {
    return this.#left === 0;
  }

  /** Counts a row. @returns whether it is drawn */
  take(row: Row): boolean {
    if (this.#groups) {
      const id = this.#groups.idOf(row);
      const share = this.#shares.get(id) ?? 0;
      if (share === 0) return false;
      this.#shares.set(id, share - 1);
    }
    this.#left--;
    return true;
  }
}

/**
 * Draws rows under a head that is repeated on every page.
 * @param y where to begin on the current page
 * @param most maximum number of rows; with groups, their shares apply instead
 * @returns the number of rows, whether there are more than `most`, and where the table ends
 */
export async function drawTable(
  pdf: Pdf,
  { columns, rows, settings, lookOf, rowHeight = ROW, fontSize = FONT, indent = 0 }: TableContent,
  y: number,
  most: number,
  groups?: Groups,
): Promise<{ count: number; isCut: boolean; y: number }> {
  const tags = tagsOf(pdf);
  const local = createLocalTime(settings);
  const laid = layOut(pdf, columns, local, { size: fontSize, indent });
  let at = y;
  let count = 0;
  let striped = false;
  /** Begins a new page if there is no room. @returns whether it did */
  const makeRoom = (height: number): boolean => {
    if (at + height <= bottom) return false;
    pdf.addPage();
    at = page.margin;
    tags.artifact(() => {
      at += drawHead(pdf, laid, at);
    });
    striped = false;
    return true;
  };
  let group: string | null = null;
  const drawTitle = (id: string, isContinued: boolean, below: number): void => {
    const text = `${groups?.titleOf(id) ?? ''}${isContinued ? ' (continued)' : ''}`;
    const title = fit(pdf, text, { width: withinPadding(contentWidth), size: 8.5, least: 7, font: 'bold' });
    const height = heightOfLines(title) + 6;
    if (!isContinued) makeRoom(height + below);
    tags.artifact(() => pdf.rect(page.margin, at, contentWidth, height).fill(colors.area));
    const spot = { x: page.margin + PADDING, y: at + 3.5, width: withinPadding(contentWidth) };
    const write = (): void => writeLines(pdf, title, spot, { font: 'bold', color: colors.head });
    if (isContinued) write();
    else {
      tags.begin('TR');
      tags.element('TH', write, { scope: 'Row', columns: laid.filter((place) => place !== null).length });
      tags.end();
    }
    at += height;
    striped = false;
  };
  const draw = (row: Row): void => {
    const { tone, tones: cellTones, together = 1 } = lookOf?.(row) ?? {};
    const font = BOLD.has(tone) ? 'bold' : 'plain';
    const cells = laid.map((place, n) => {
      const text = place && formatCell(row[n] ?? null, place.column, local);
      return place && text ? { place, lines: place.linesOf(text, font) } : null;
    });
    const height = Math.max(
      rowHeight,
      ...cells.map((cell) => (cell ? heightOfLines(cell.lines) + rowHeight - 9 : 0)),
    );
    const id = groups?.idOf(row) ?? null;
    const needed = Math.max(height, together * rowHeight);
    if (id !== null && id !== group) drawTitle(id, false, needed);
    if (makeRoom(needed) && id !== null) drawTitle(id, true, needed);
    group = id;
    const shade = tone ? tones[tone] : striped ? colors.stripe : null;
    if (shade) tags.artifact(() => pdf.rect(page.margin, at, contentWidth, height).fill(shade));
    for (const [n, own] of cellTones ?? [])
      tags.artifact(() => pdf.rect(laid[n]?.x ?? 0, at, laid[n]?.width ?? 0, height).fill(tones[own]));
    striped = !striped && !tone;
    tags.begin('TR');
    laid.forEach((place, n) => {
      if (!place) return;
      tags.element('TD', () => {
        const lines = cells[n]?.lines;
        const spot = spotOf(place, at + (rowHeight - 7) / 2);
        if (lines) writeLines(pdf, lines, spot, { align: place.align, font });
        // Some readers pass over a cell without content, and so shift the cells after it.
        else tags.text(() => undefined);
      });
    });
    tags.end();
    at += height;
    count++;
  };

  const allowance = new Allowance(most, groups);
  tags.begin('Table');
  at += drawHead(pdf, laid, at);
  let isCut = false;
  for await (const part of rows) {
    for (const row of part) {
      isCut = allowance.isUsed;
      if (isCut) break;
      if (!allowance.take(row)) continue;
      draw(row);
      if (count % ROWS_AT_ONCE === 0) await setImmediate();
    }
    if (isCut) break;
  }
  tags.end();
  return { count, isCut, y: at };
}

function decimals(value: number, most: number, digits?: number): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: digits ?? 0,
    maximumFractionDigits: digits ?? most,
  });
}

function formatCell(cell: Cell, { type, digits }: Column, { show, showDay }: LocalTime): string {
  if (cell === null) return '';
  if (cell instanceof Date) return show(cell.getTime());
  if (typeof cell === 'number') return numbers[type]?.(cell, digits) ?? String(cell);
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  return type === 'date' ? showDay(cell) : cell;
}

function samplesOf({ show, day, showDay }: LocalTime): Readonly<Partial<Record<ColumnType, string>>> {
  return {
    time: show(WIDEST_MOMENT),
    date: showDay(day(WIDEST_MOMENT)),
  };
}

function withinPadding(width: number): number {
  return width - 2 * PADDING;
}

/** Whether a column of texts follows one of numbers. */
function isBesideNumber(shown: readonly Column[], n: number): boolean {
  const isNumber = (at: number): boolean => numbers[shown[at]?.type ?? 'text'] !== undefined;
  return isNumber(n - 1) && !isNumber(n);
}

/** Where the text of a cell begins, and its width. */
function spotOf({ x, width, indent }: Laid, y: number) {
  return { x: x + PADDING + indent, y, width: withinPadding(width) - indent };
}

/** Widths by the shares of the columns, but wide enough for dates and for the longest word of the column's name. */
function widthsOf(pdf: Pdf, shown: readonly Column[], local: LocalTime, between: number): number[] {
  const samples = samplesOf(local);
  const least = shown.map(({ name, type }, n) => {
    setStyle(pdf, { size: MIN_FONT, font: 'bold' });
    const head = widestPiece(pdf, name);
    const sample = samples[type];
    return (
      2 * PADDING +
      Math.max(head, sample === undefined ? 0 : widthOf(pdf, sample, FONT)) +
      0.5 +
      (isBesideNumber(shown, n) ? between : 0)
    );
  });
  const isFixed = shown.map(({ type }) => samples[type] !== undefined);
  for (;;) {
    const taken = least.reduce((sum, width, n) => sum + (isFixed[n] ? width : 0), 0);
    const shares = shown.reduce((sum, { width }, n) => sum + (isFixed[n] ? 0 : width), 0);
    const widths = shown.map(({ width }, n) =>
      isFixed[n] ? (least[n] ?? 0) : (width / shares) * (contentWidth - taken),
    );
    const narrow = widths.findIndex((width, n) => !isFixed[n] && width < (least[n] ?? 0));
    if (narrow === -1) return widths;
    isFixed[narrow] = true;
  }
}

function layOut(
  pdf: Pdf,
  columns: readonly Column[],
  local: LocalTime,
  { size, indent: between }: { size: number; indent: number },
): (Laid | null)[] {
  const shown = columns.filter(({ width }) => width > 0);
  const widths = widthsOf(pdf, shown, local, between);
  let x: number = page.margin;
  return columns.map((column) => {
    if (column.width === 0) return null;
    const width = widths[shown.indexOf(column)] ?? 0;
    const isNumber = numbers[column.type] !== undefined;
    const isWhole = isNumber || column.type === 'date';
    const indent = isBesideNumber(shown, shown.indexOf(column)) ? between : 0;
    const kept = new Map<string, Fitted>();
    const linesOf = (text: string, font: FontName): Fitted => {
      const key = font + text;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const room = withinPadding(width) - indent;
      const fitted = fit(pdf, text, {
        width: room,
        size,
        least: MIN_FONT,
        font,
        isWhole,
        most: MAX_LINES,
      });
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(key, fitted);
      return fitted;
    };
    const align = isNumber ? ('right' as const) : ('left' as const);
    const head = fit(pdf, column.name, {
      width: withinPadding(width) - indent,
      size,
      least: MIN_FONT,
      font: 'bold',
    });
    const laid = { column, x, width, indent, align, head, linesOf };
    x += width;
    return laid;
  });
}

/** A head over several columns. */
interface HeadGroup {
  readonly name: string;
  readonly x: number;
  width: number;
  columns: number;
}

function groupsOf(laid: readonly (Laid | null)[]): HeadGroup[] {
  const groups: HeadGroup[] = [];
  for (const place of laid) {
    if (!place) continue;
    const { x, width, column } = place;
    const last = groups.at(-1);
    if (last && last.name === (column.group ?? '')) {
      last.width += width;
      last.columns++;
    } else groups.push({ name: column.group ?? '', x, width, columns: 1 });
  }
  return groups;
}

const HEAD_STYLE = { font: 'bold', color: '#ffffff' } as const;

/** Draws the heads that several columns have in common, if there are any. @returns their height */
function drawGroups(pdf: Pdf, laid: readonly (Laid | null)[], y: number): number {
  const groups = groupsOf(laid);
  if (groups.every(({ name }) => name === '')) return 0;
  const heads = groups.map(({ name, width }) =>
    fit(pdf, name, { width: withinPadding(width), size: FONT, least: MIN_FONT, font: 'bold' }),
  );
  const height = Math.max(...heads.map(heightOfLines)) + 5;
  const tags = tagsOf(pdf);
  tags.artifact(() => pdf.rect(page.margin, y, contentWidth, height).fill(colors.head));
  tags.element('TR', () => {
    groups.forEach(({ name, x, width, columns }, n) => {
      const head = heads[n];
      if (!head) return;
      if (name === '') {
        for (let each = 0; each < columns; each++) tags.element('TD', () => tags.text(() => undefined));
        return;
      }
      const [left, right, line] = [x + PADDING, x + width - PADDING, y + height - 1];
      tags.artifact(() =>
        pdf.moveTo(left, line).lineTo(right, line).lineWidth(0.5).strokeColor('#ffffff').stroke(),
      );
      const spot = { x: x + PADDING, y: y + 3, width: withinPadding(width) };
      const write = (): void => writeLines(pdf, head, spot, { ...HEAD_STYLE, align: 'center' });
      tags.element('TH', write, { scope: 'Column', columns });
    });
  });
  return height;
}

/** @returns its height */
function drawHead(pdf: Pdf, laid: readonly (Laid | null)[], y: number): number {
  const tags = tagsOf(pdf);
  const above = drawGroups(pdf, laid, y);
  const top = y + above;
  const height = Math.max(...laid.map((place) => (place ? heightOfLines(place.head) : 0))) + 8;
  tags.artifact(() => pdf.rect(page.margin, top, contentWidth, height).fill(colors.head));
  tags.element('TR', () => {
    for (const place of laid) {
      if (!place) continue;
      const spot = spotOf(place, top + 4);
      const write = (): void => writeLines(pdf, place.head, spot, { ...HEAD_STYLE, align: place.align });
      tags.element('TH', write, { scope: 'Column' });
    }
  });
  return above + height;
}
