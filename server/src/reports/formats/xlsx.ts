import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Zip, ZipDeflate } from 'fflate';
import { AppError } from '../../platform/error.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import {
  cellsRow,
  contentTypes,
  SHEET_END,
  type SheetCell,
  Styles,
  sheetFile,
  sheetStart,
  styles,
  workbookFiles,
} from '../../platform/workbook.ts';
import type { Column, Figure, FileFormat, ReportDocument, Row } from '../document.ts';
import { createRowWriter, timeFormats } from './xlsx-parts.ts';

/** The level that compressors use by default. */
const LEVEL = 6;

/**
 * A ZIP archive that is written to a stream while its files are produced, one file after another. Errors of the stream
 * reject the next call.
 */
class ZipStream {
  readonly #to: Writable;
  readonly #encoder = new TextEncoder();
  readonly #zip: Zip;
  #failure: Error | null = null;
  #isFull = false;

  constructor(to: Writable) {
    this.#to = to;
    const fail = (error: Error): void => {
      this.#failure ??= error;
    };
    to.on('error', fail);
    this.#zip = new Zip((error, chunk) => {
      if (error) fail(error);
      else this.#isFull = !to.write(chunk);
    });
  }

  /** Adds a file of text in UTF-8. Each part is compressed when it is produced, and the next one waits until the stream accepts more. */
  async add(name: string, parts: AsyncIterable<string> | Iterable<string>): Promise<void> {
    const file = new ZipDeflate(name, { level: LEVEL });
    this.#zip.add(file);
    for await (const part of parts) {
      file.push(this.#encoder.encode(part));
      await this.#accepted();
    }
    file.push(new Uint8Array(), true);
    await this.#accepted();
  }

  /** Writes the directory and ends the stream. */
  async end(): Promise<void> {
    this.#zip.end();
    await this.#accepted();
    this.#to.end();
    await finished(this.#to, { readable: false });
  }

  async #accepted(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (!this.#isFull) return;
    await once(this.#to, 'drain');
    this.#isFull = false;
  }
}

/** Maximum number of rows: a program for spreadsheets opens this many in a reasonable time. */
const MAX_ROWS = 100_000;

/** Minimum width of a column of times, in characters. A narrower column does not show them. */
const WIDTH_OF_TIME = 30;

function widthOf({ type, width }: Column): number {
  return Math.max(type === 'time' ? WIDTH_OF_TIME : 12, width * 1.6);
}

function factCells({ name, value }: Figure): SheetCell[] {
  return [{ value: name, style: styles.bold }, { value }];
}

/** The sheet of facts: title, range and filters, the number of rows, and the figures of the summary. */
function aboutSheet(
  { title, facts, study }: ReportDocument,
  rowCount: number,
  figures: readonly Figure[],
): string {
  const said = study ? [study.statement, ...study.limits, ...study.notes] : [];
  const rows: readonly SheetCell[][] = [
    [study ? 'Study' : 'Report', title].map((value) => ({ value, style: styles.title })),
    ...facts.map(factCells),
    factCells({ name: 'Rows', value: rowCount }),
    ...(rowCount === 0 ? [[{ value: null }, { value: 'This range contains no data.' }]] : []),
    ...said.map((value, n) => factCells({ name: n === 0 ? 'Read first' : '', value })),
    [],
    ...figures.map(factCells),
  ];
  return sheetStart([24, 70], false) + rows.map((cells, n) => cellsRow(n + 1, cells)).join('') + SHEET_END;
}

/** How the figures of a study are computed. */
function methodsSheet(methods: readonly Figure[]): string {
  const head = ['Name', 'Definition'].map((value) => ({ value, style: styles.head }));
  const rows = [head, ...methods.map(factCells)];
  return sheetStart([30, 120], true) + rows.map((cells, n) => cellsRow(n + 1, cells)).join('') + SHEET_END;
}

/** A function that writes a table as the parts of a sheet. */
function createSheetWriter({ settings }: ReportDocument, used: Styles) {
  const local = createLocalTime(settings);
  return async function* (
    columns: readonly Column[],
    parts: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  ): AsyncGenerator<string> {
    const styleOf = (format: string): number => used.styleOf(format);
    const writeRow = createRowWriter(columns, local, { styleOf, ...timeFormats(settings) });
    yield sheetStart(columns.map(widthOf), true);
    yield cellsRow(
      1,
      columns.map((column) => ({ value: headOf(column), style: styles.head })),
    );
    let next = 2;
    for await (const rows of parts) {
      const first = next;
      next += rows.length;
      if (rows.length > 0) yield rows.map((row, at) => writeRow(row, first + at)).join('');
    }
    yield SHEET_END;
  };
}

/** The name of a column, after that of its group. */
function headOf({ name, type, group }: Column): string {
  return `${group ? `${group} ` : ''}${name}${type === 'seconds' ? ' (s)' : ''}`;
}

/** Writes the rows as they are read, and everything that depends on them afterwards (decision 45). */
const write: FileFormat['write'] = async (document: ReportDocument, to) => {
  const { columns, study } = document;
  refuseIfTooMany((await document.count?.()) ?? 0);
  const used = new Styles();
  const sheetOf = createSheetWriter(document, used);
  let rowCount = 0;
  async function* counted(): AsyncGenerator<readonly Row[]> {
    for await (const rows of document.rows) {
      rowCount += rows.length;
      refuseIfTooMany(rowCount);
      yield rows;
    }
  }

  const sheets = study?.sheets ?? [];
  const names = study ? ['Study', 'Methods', ...sheets.map(({ name }) => name), 'Data'] : ['Report', 'Data'];
  const zip = new ZipStream(to);
  const { name, xml } = contentTypes(names.length);
  await zip.add(name, [xml]);
  await zip.add(sheetFile(names.length - 1), sheetOf(columns, counted()));
  for (const [n, sheet] of sheets.entries())
    await zip.add(sheetFile(FIRST_OF_STUDY + n), sheetOf(sheet.columns, [sheet.rows]));
  if (study) await zip.add(sheetFile(FIRST_OF_STUDY - 1), [methodsSheet(study.methods)]);
  const { figures } = await document.summary();
  await zip.add(sheetFile(0), [aboutSheet(document, rowCount, figures)]);
  await zip.add('xl/styles.xml', [used.toXml()]);
  for (const [file, content] of Object.entries(workbookFiles(names))) await zip.add(file, [content]);
  await zip.end();
  return rowCount;
};

/** The number of the first sheet of figures of a study, from 0. */
const FIRST_OF_STUDY = 2;

/** @throws AppError `badRequest` */
function refuseIfTooMany(rowCount: number): void {
  if (rowCount <= MAX_ROWS) return;
  throw new AppError(
    'badRequest',
    `There are more than ${MAX_ROWS} rows, too many for XLSX: choose CSV, or a shorter range`,
  );
}

async function writeOrDestroy(...[document, to]: Parameters<FileFormat['write']>): Promise<number> {
  try {
    return await write(document, to);
  } catch (error) {
    to.destroy();
    throw error;
  }
}

/** Sheets of the facts about the report, of the figures of a study, and of its table, in which numbers are numbers and times are times. */
export const xlsx: FileFormat = {
  write: writeOrDestroy,
};
