import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TimezoneSettings } from '@gantry/contract/system';
import writeExcelFile, { type Cell as ExcelCell, type Row as ExcelRow } from 'write-excel-file/node';
import { AppError } from '../../platform/error.ts';
import type { Cell, Column, ColumnType, Figure, ReportDocument, Row } from '../document.ts';
import { createLocalTime, type LocalTime } from '../local-time.ts';
import type { FileFormat } from './format.ts';

/** Maximum number of rows: the file is built in memory, and this many take half a gigabyte. */
const MOST_ROWS = 100_000;

/** Maximum length of the text in a cell, in characters. */
const LONGEST_TEXT = 32_767;

/** A narrower column does not show its times. In characters. */
const WIDTH_OF_TIME = 30;

/** Characters that XML cannot contain but a text from a device may. */
const NO_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

function text(value: string): ExcelCell {
  return {
    type: String,
    value: value.replace(NO_XML, '').slice(0, LONGEST_TEXT).toWellFormed(),
  };
}

/** Spreadsheets have no time zones, so times are local, with the offset in the hour that occurs twice in autumn. */
function timeFormats(settings: TimezoneSettings) {
  const day = settings.dateFormat.toLowerCase();
  return { date: day, time: `${day} ${settings.use24HourFormat ? 'hh:mm:ss' : 'h:mm:ss AM/PM'}` };
}

const numberFormats: Partial<Record<ColumnType, string>> = {
  integer: '0',
  decimal: '0.##',
  degrees: '0.000000',
  seconds: '0',
  share: '0.0%',
};

type ToCell = (cell: Cell) => ExcelCell;

function cellsOf({ type }: Column, local: LocalTime, { date, time }: ReturnType<typeof timeFormats>): ToCell {
  const format = numberFormats[type];
  return (cell) => {
    if (cell === null) return null;
    if (cell instanceof Date) {
      const offset = local.offsetIfTwice(cell.getTime());
      const value = local.wall(cell.getTime());
      return { type: Date, value, format: offset === null ? time : `${time} "${offset}"` };
    }
    if (typeof cell === 'number') return { type: Number, value: cell, ...(format && { format }) };
    if (typeof cell === 'boolean') return { type: Boolean, value: cell };
    return type === 'date' ? { type: Date, value: new Date(`${cell}T00:00:00Z`), format: date } : text(cell);
  };
}

function factRow({ name, value }: Figure): ExcelRow {
  return [
    { type: String, value: name, fontWeight: 'bold' },
    typeof value === 'number' ? { type: Number, value } : text(value),
  ];
}

async function collect(rows: AsyncIterable<readonly Row[]>, toRow: (row: Row) => ExcelRow) {
  const collected: ExcelRow[] = [];
  for await (const part of rows) {
    if (collected.length + part.length > MOST_ROWS) {
      throw new AppError(
        'badRequest',
        `There are more than ${MOST_ROWS} rows, too many for XLSX: choose CSV, or a shorter range`,
      );
    }
    for (const row of part) collected.push(toRow(row));
  }
  return collected;
}

const write: FileFormat['write'] = async (document: ReportDocument, to) => {
  const { columns, settings, title, facts } = document;
  const local = createLocalTime(settings);
  const toCells = columns.map((column) => cellsOf(column, local, timeFormats(settings)));
  const rows = await collect(document.rows, (row) => row.map((cell, at) => (toCells[at] as ToCell)(cell)));
  const { figures } = await document.summary();
  const about: ExcelRow[] = [
    [
      { type: String, value: 'Report', fontWeight: 'bold', fontSize: 14 },
      { type: String, value: title, fontWeight: 'bold', fontSize: 14 },
    ],
    ...facts.map(factRow),
    factRow({ name: 'Rows', value: rows.length }),
    ...(rows.length === 0 ? [[null, text('This range contains no data.')]] : []),
    [],
    ...figures.map(factRow),
  ];
  const head: ExcelRow = columns.map(({ name, type }) => ({
    type: String,
    value: type === 'seconds' ? `${name} (s)` : name,
    fontWeight: 'bold',
    backgroundColor: '#E8EDF2',
    bottomBorderStyle: 'thin',
  }));
  const file = await writeExcelFile([
    { sheet: 'Report', data: about, columns: [{ width: 24 }, { width: 70 }] },
    {
      sheet: 'Data',
      data: [head, ...rows],
      columns: columns.map(({ width, type }) => ({
        width: Math.max(type === 'time' ? WIDTH_OF_TIME : 12, width * 1.6),
      })),
      stickyRowsCount: 1,
    },
  ]).toBuffer();
  await pipeline(Readable.from([file]), to);
  return rows.length;
};

/** Two sheets: the facts about the report, and its table, in which numbers are numbers and times are times. */
export const xlsx: FileFormat = {
  write,
};
