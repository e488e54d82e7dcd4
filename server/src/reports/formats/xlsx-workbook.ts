import type { TimezoneSettings } from '@gantry/contract/system';
import { strFromU8, strToU8, unzipSync } from 'fflate';
import writeExcelFile, { type Cell as ExcelCell, type Row as ExcelRow } from 'write-excel-file/node';
import type { Column, Figure } from '../document.ts';
import { cellText } from './xlsx-rows.ts';

// Everything of a workbook except the rows of its table, from a library: a workbook whose table has only a cell for each
// style. The library numbers styles in the order of their first use, so the numbers of those that the table uses are
// known before the last of them is needed.

/** Minimum width of a column of times, in characters. A narrower column does not show them. */
const WIDTH_OF_TIME = 30;

const DATA_SHEET = 'xl/worksheets/sheet2.xml';

/** A workbook without the rows of its table. */
export interface Workbook {
  /** The files of the archive, except for the sheet with the table. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** The name of that sheet's file, and what comes before and after its rows. */
  readonly sheet: { readonly name: string; readonly before: Uint8Array; readonly after: Uint8Array };
  /** The number of the style of the table's head, and of each format. */
  readonly headStyle: number;
  readonly formatStyles: readonly number[];
}

/** @param formats the formats of the cells of the table, in the order of their first use */
export async function makeWorkbook(
  about: readonly ExcelRow[],
  columns: readonly Column[],
  formats: readonly string[],
): Promise<Workbook> {
  const head: ExcelCell = {
    type: String,
    value: 'x',
    fontWeight: 'bold',
    backgroundColor: '#E8EDF2',
    bottomBorderStyle: 'thin',
  };
  const archive = await writeExcelFile([
    { sheet: 'Report', data: [...about], columns: [{ width: 24 }, { width: 70 }] },
    {
      sheet: 'Data',
      data: [[head, ...formats.map((format): ExcelCell => ({ type: Number, value: 0, format }))]],
      columns: columns.map(({ width, type }) => ({
        width: Math.max(type === 'time' ? WIDTH_OF_TIME : 12, width * 1.6),
      })),
      stickyRowsCount: 1,
    },
  ]).toBuffer();
  const { [DATA_SHEET]: sheet, ...files } = unzipSync(archive);
  const [, before, rows, after] =
    /^(.*<sheetData>)(.*)(<\/sheetData>.*)$/s.exec(strFromU8(sheet ?? new Uint8Array())) ?? [];
  const styles = [...(rows ?? '').matchAll(/<c [^>]*\bs="(\d+)"/g)].map(([, style]) => Number(style));
  const [headStyle, ...formatStyles] = styles;
  if (
    before === undefined ||
    after === undefined ||
    headStyle === undefined ||
    formatStyles.length !== formats.length
  )
    throw new Error('The library for workbooks wrote a sheet in an unknown form');
  return {
    files,
    sheet: { name: DATA_SHEET, before: strToU8(before), after: strToU8(after) },
    headStyle,
    formatStyles,
  };
}

/** A row of the first sheet. */
export function factRow({ name, value }: Figure): ExcelRow {
  return [
    { type: String, value: name, fontWeight: 'bold' },
    typeof value === 'number' ? { type: Number, value } : { type: String, value: cellText(value) },
  ];
}

/**
 * The formats of dates and times. Spreadsheets have no time zones, so times are local; the rows of the hour that occurs
 * twice in autumn add the offset.
 */
export function timeFormats(settings: TimezoneSettings) {
  const day = settings.dateFormat.toLowerCase();
  return { date: day, time: `${day} ${settings.use24HourFormat ? 'hh:mm:ss' : 'h:mm:ss AM/PM'}` };
}
