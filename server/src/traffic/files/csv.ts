import { MAX_FILE_PERIODS } from '@gantry/contract/count-files';
import { classOfScheme } from '@gantry/contract/vehicle-classes';
import { invalidInput } from '../../platform/error.ts';
import { type LineError, readTable, type TableRow } from '../../platform/sheet.ts';
import { KMH_PER_MPH } from '../speed-sample.ts';
import {
  type Column,
  isValue,
  type Part,
  type RowUse,
  readHeader,
  rowPart,
  sumsUp,
  type ValueColumn,
} from './columns.ts';
import {
  createStarts,
  dateOrderOf,
  type RowTime,
  rangeIn,
  secondsBetween,
  timeOf,
  usualDistance,
  type WrittenTime,
} from './date-times.ts';
import { type CellCount, Drafts } from './drafts.ts';
import { type FileOfCounts, type FileOptions, type FilePeriod, tooLong } from './file-of-counts.ts';

/** A header is looked for in this many rows. */
const MAX_TITLE_ROWS = 30;

interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
}

/** The header of a table, and the rows below it. The first separator by which there is a header is right. */
async function findTable(text: string): Promise<Table> {
  const beginning = text.split(/\r\n|\n|\r/, MAX_TITLE_ROWS).join('\n');
  for (const separator of ['\t', ';', ',', '|']) {
    if (!beginning.includes(separator)) continue;
    let columns: Column[] | null = null;
    const rows: TableRow[] = [];
    let before = 0;
    for await (const row of readTable(text, separator)) {
      if (columns) rows.push(row);
      else if (before++ < MAX_TITLE_ROWS) columns = readHeader(row.cells);
      else break;
      if (rows.length > MAX_FILE_PERIODS) throw tooLong();
    }
    if (columns) return { columns, rows };
  }
  throw invalidInput(
    'text',
    'No header was found in the first 30 rows: name the columns, such as date, time and volume, or date, time, NB and SB',
  );
}

/** A row with what it says of its time and of all of its counts. */
interface ReadRow {
  readonly row: TableRow;
  readonly written: WrittenTime;
  readonly part: Part;
}

/** Reads a table of counts. @throws AppError `badRequest` if nothing of it can be understood */
export async function readCsv(text: string, options: FileOptions): Promise<FileOfCounts> {
  const { columns, rows } = await findTable(text);
  const errors: LineError[] = [];
  const byUse = new Map(columns.map((column) => [column.is, column.at]));
  const written: ReadRow[] = [];
  for (const row of rows) {
    const cellOf = (use: RowUse): string | undefined => row.cells[byUse.get(use) ?? -1];
    const part = row.cells.slice(columns.length).some((cell) => cell !== '')
      ? `The row has ${row.cells.length} cells, the header ${columns.length}: quote cells that contain the separator`
      : rowPart(cellOf, options.classScheme);
    if (typeof part === 'string') errors.push({ line: row.line, message: part });
    else written.push({ row, written: writtenTime(cellOf), part });
  }
  const binLabel = labelOf(columns, written, options);
  const { rows: timed, seconds } = readTimes(written, { ...options, binLabel }, errors);
  const periods = composePeriods(timed, columns, options, errors);
  return { periods, errors, rowCount: rows.length, columns, binLabel, seconds };
}

/** What a row says of its time: of its start, or of its end if that is all. */
function writtenTime(cellOf: (use: RowUse) => string | undefined): WrittenTime {
  const [date, time, start, end] = (['date', 'time', 'start', 'end'] as const).map(cellOf);
  const clock = start ?? time ?? (date === undefined ? undefined : end);
  const [from, until] = rangeIn(clock ?? '') ?? [clock ?? null, start === undefined ? null : (end ?? null)];
  if (date !== undefined) return { date, time: from, until };
  return { date: from ?? end ?? '', time: null, until };
}

function labelOf(
  columns: readonly Column[],
  rows: readonly ReadRow[],
  { binLabel }: FileOptions,
): 'START' | 'END' {
  const uses = columns.map(({ is }) => is);
  const hasStarts = uses.includes('start') || rows.some(({ written }) => written.until !== null);
  const said = hasStarts ? 'START' : uses.includes('end') && !uses.includes('time') ? 'END' : undefined;
  if (said !== undefined && binLabel !== undefined && said !== binLabel)
    throw invalidInput(
      'binLabel',
      `The columns of the file name the ${said === 'START' ? 'starts' : 'ends'} of intervals: leave binLabel out`,
    );
  return binLabel ?? said ?? 'START';
}

interface TimedRow extends ReadRow {
  readonly start: number;
}

/** The starts of the intervals of rows, and their length. */
function readTimes(
  rows: readonly ReadRow[],
  { zone, binLabel, ...options }: FileOptions & { binLabel: 'START' | 'END' },
  errors: LineError[],
): { rows: TimedRow[]; seconds: number | null } {
  if (rows.length === 0) return { rows: [], seconds: null };
  const order = options.dateOrder ?? dateOrderOf(rows.map(({ written }) => written));
  const sequences = new Map<string, RowTime[]>();
  const found: { row: ReadRow; time: RowTime; sequence: string }[] = [];
  for (const row of rows) {
    const time = timeOf(row.written, order);
    if (typeof time === 'string') {
      errors.push({ line: row.row.line, message: time });
      continue;
    }
    const sequence = JSON.stringify(row.part);
    const times = sequences.get(sequence) ?? [];
    sequences.set(sequence, times);
    times.push(time);
    found.push({ row, time, sequence });
  }
  if (found.length === 0) return { rows: [], seconds: null };
  const seconds =
    options.seconds ?? (found[0] && saidLength(found[0].row)) ?? usualDistance(sequences.values());
  const startOf = createStarts({ zone, binLabel, seconds });
  const [first, last] = [found[0]?.time, found.at(-1)?.time].map((time) =>
    time && 'local' in time ? time.local : 0,
  );
  const timed: TimedRow[] = [];
  for (const { row, time, sequence } of (first ?? 0) > (last ?? 0) ? found.toReversed() : found) {
    const start = startOf(time, sequence);
    if (typeof start === 'string') errors.push({ line: row.row.line, message: start });
    else timed.push({ ...row, start });
  }
  return { rows: timed, seconds };
}

/** The length of an interval whose row says both of its ends. */
function saidLength({ written: { date, time, until } }: ReadRow): number | null {
  return until === null ? null : secondsBetween(time ?? date, until);
}

/** The periods of the rows, each with the counts of one direction, lane and movement. */
function composePeriods(
  rows: readonly TimedRow[],
  columns: readonly Column[],
  options: FileOptions,
  errors: LineError[],
): FilePeriod[] {
  const values = columns.filter(isValue);
  const drafts = new Drafts();
  for (const timed of rows) {
    const counted = countsOf(timed, values, options);
    const { row, start } = timed;
    if (typeof counted === 'string') {
      errors.push({ line: row.line, message: counted });
      for (const part of partsOf(timed, values, options)) drafts.refuse(row.line, start, part);
    } else {
      for (const count of counted) {
        const flaw = drafts.add(row.line, start, count);
        if (flaw !== null) errors.push({ line: row.line, message: flaw });
      }
    }
    if (drafts.size > MAX_FILE_PERIODS) throw tooLong();
  }
  const { periods, flaws } = drafts.finish();
  errors.push(...flaws);
  return periods;
}

/** What the counts of a row are parts of, in the order of their columns. */
function partsOf(
  { part: ofRow }: TimedRow,
  values: readonly ValueColumn[],
  { direction, lane }: FileOptions,
): Part[] {
  const ofFile = { ...(direction !== undefined && { direction }), ...(lane !== undefined && { lane }) };
  return values.filter(({ is }) => is === 'count').map(({ part }) => ({ ...ofFile, ...ofRow, ...part }));
}

/** The counts of a row; a text says what is wrong with it. */
function countsOf(
  timed: TimedRow,
  values: readonly ValueColumn[],
  options: FileOptions,
): CellCount[] | string {
  const read = new Map<ValueColumn, number | null>();
  for (const column of values) {
    const value = readNumber(timed.row.cells[column.at] ?? '', column, options);
    if (typeof value === 'string') return value;
    read.set(column, value);
  }
  const counts = values.filter(({ is }) => is === 'count');
  for (const column of values) {
    const flaw = column.is === 'sum' ? flawOfSum(column, counts, read) : null;
    if (flaw !== null) return flaw;
  }
  const parts = partsOf(timed, values, options);
  return counts.map((column, n) => ({
    part: parts[n] ?? {},
    count: read.get(column) ?? null,
    more: measuresBeside(column, values, read, options),
  }));
}

const NO_VALUE = /^(?:|-|–|n\/?a|null|nan|\.)$/i;
const COUNT = /^(\d+)(?:[.,]0{1,2})?$/;
const NUMBER = /^\d+(?:[.,]\d+)?$/;

/** The number in a cell, null if there is none; a text says that it cannot be read. */
function readNumber(
  cell: string,
  { is, name }: ValueColumn,
  { emptyCells }: FileOptions,
): number | null | string {
  const isCount = is === 'count' || is === 'sum';
  if (NO_VALUE.test(cell)) return isCount && cell === '' && emptyCells === 'ZERO' ? 0 : null;
  const shown = JSON.stringify(cell.slice(0, 50));
  const digits = isCount ? COUNT.exec(cell)?.[1] : NUMBER.exec(cell)?.[0].replace(',', '.');
  if (digits !== undefined) return Number(digits);
  return isCount
    ? `${name}: ${shown} is no count: use a whole number of at least 0, without separators of thousands`
    : `${name}: ${shown} is no number: use digits with a decimal point or comma`;
}

/** What is wrong with a sum. It may or may not contain bicycles and pedestrians. */
function flawOfSum(
  sum: ValueColumn,
  counts: readonly ValueColumn[],
  read: ReadonlyMap<ValueColumn, number | null>,
): string | null {
  const said = read.get(sum) ?? null;
  const parts = counts.filter((each) => sumsUp(sum, each));
  const known = parts.map((each) => read.get(each) ?? null);
  if (said === null || known.includes(null)) return null;
  const isMotor = ({ part: { class: of } }: ValueColumn): boolean =>
    of === undefined || classOfScheme(of.scheme, of.code)?.mode === 'MOTOR';
  const total = (of: readonly ValueColumn[]): number =>
    of.reduce((all, each) => all + (read.get(each) ?? 0), 0);
  const [all, motor] = [total(parts), total(parts.filter(isMotor))];
  return said === all || said === motor
    ? null
    : `${sum.name}: ${said} is not the sum of its parts (${parts.map(({ name }) => name).join(', ')}), which is ${all}`;
}

/** The mean speed (km/h) and occupancy of the direction, lane and movement of a count. */
function measuresBeside(
  { part: { class: _, ...channel } }: ValueColumn,
  values: readonly ValueColumn[],
  read: ReadonlyMap<ValueColumn, number | null>,
  { speedUnit }: FileOptions,
): Record<string, unknown> {
  const beside = (is: 'speed' | 'occupancy'): ValueColumn | undefined =>
    values.find((each) => each.is === is && JSON.stringify(each.part) === JSON.stringify(channel));
  const [speed, occupancy] = [beside('speed'), beside('occupancy')];
  const mean = speed && (read.get(speed) ?? null);
  const share = occupancy && (read.get(occupancy) ?? null);
  const factor = (speed?.unit ?? speedUnit) === 'MPH' ? KMH_PER_MPH : 1;
  return {
    ...(typeof mean === 'number' && { speed: { mean: Math.round(mean * factor * 1_000) / 1_000 } }),
    ...(typeof share === 'number' && { occupancy: share }),
  };
}
