import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Zip, ZipDeflate } from 'fflate';
import { AppError } from '../../platform/error.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import type { Column, Figure, FileFormat, ReportDocument } from '../document.ts';
import {
  cellsRow,
  contentTypes,
  createRowWriter,
  fixedFiles,
  SHEET_END,
  type SheetCell,
  Styles,
  sheetFiles,
  sheetStart,
  styles,
  timeFormats,
} from './xlsx-parts.ts';

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
function aboutSheet({ title, facts }: ReportDocument, rowCount: number, figures: readonly Figure[]): string {
  const rows: readonly SheetCell[][] = [
    ['Report', title].map((value) => ({ value, style: styles.title })),
    ...facts.map(factCells),
    factCells({ name: 'Rows', value: rowCount }),
    ...(rowCount === 0 ? [[{ value: null }, { value: 'This range contains no data.' }]] : []),
    [],
    ...figures.map(factCells),
  ];
  return sheetStart([24, 70], false) + rows.map((cells, n) => cellsRow(n + 1, cells)).join('') + SHEET_END;
}

/** Writes the rows as they are read, and everything that depends on them afterwards (decision 45). */
const write: FileFormat['write'] = async (document: ReportDocument, to) => {
  const { columns, settings } = document;
  refuseIfTooMany((await document.count?.()) ?? 0);
  const used = new Styles();
  const writeRow = createRowWriter(columns, createLocalTime(settings), {
    styleOf: (format) => used.styleOf(format),
    ...timeFormats(settings),
  });
  const names = columns.map(({ name, type }) => (type === 'seconds' ? `${name} (s)` : name));
  let rowCount = 0;
  async function* dataSheet(): AsyncGenerator<string> {
    yield sheetStart(columns.map(widthOf), true);
    yield cellsRow(
      1,
      names.map((value) => ({ value, style: styles.head })),
    );
    for await (const rows of document.rows) {
      refuseIfTooMany(rowCount + rows.length);
      const first = rowCount + 2;
      rowCount += rows.length;
      if (rows.length > 0) yield rows.map((row, at) => writeRow(row, first + at)).join('');
    }
    yield SHEET_END;
  }

  const zip = new ZipStream(to);
  await zip.add(contentTypes.name, [contentTypes.xml]);
  await zip.add(sheetFiles.data, dataSheet());
  const { figures } = await document.summary();
  await zip.add(sheetFiles.about, [aboutSheet(document, rowCount, figures)]);
  await zip.add('xl/styles.xml', [used.toXml()]);
  for (const [name, xml] of Object.entries(fixedFiles)) await zip.add(name, [xml]);
  await zip.end();
  return rowCount;
};

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

/** Two sheets: the facts about the report, and its table, in which numbers are numbers and times are times. */
export const xlsx: FileFormat = {
  write: writeOrDestroy,
};
