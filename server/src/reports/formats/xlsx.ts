import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Zip, ZipDeflate } from 'fflate';
import { AppError } from '../../platform/error.ts';
import type { Column, Figure, FileFormat, ReportDocument } from '../document.ts';
import { createLocalTime } from '../local-time.ts';
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

/** A ZIP archive that is written to a stream while its files are produced, one file after another. */
export interface ZipStream {
  /** Adds a file of text in UTF-8. Each part is compressed when it is produced, and the next one waits until the stream accepts more. */
  add(name: string, parts: AsyncIterable<string> | Iterable<string>): Promise<void>;
  /** Writes the directory and ends the stream. */
  end(): Promise<void>;
}

/** The level that compressors use by default. */
const LEVEL = 6;

/** Creates an archive. Errors of the stream reject the next call. */
export function createZipStream(to: Writable): ZipStream {
  let failure: Error | null = null;
  let isFull = false;
  const fail = (error: Error): void => {
    failure ??= error;
  };
  to.on('error', fail);
  const zip = new Zip((error, chunk) => {
    if (error) fail(error);
    else isFull = !to.write(chunk);
  });
  const encoder = new TextEncoder();
  const accepted = async (): Promise<void> => {
    if (failure) throw failure;
    if (!isFull) return;
    await once(to, 'drain');
    isFull = false;
  };
  return {
    async add(name, parts) {
      const file = new ZipDeflate(name, { level: LEVEL });
      zip.add(file);
      for await (const part of parts) {
        file.push(encoder.encode(part));
        await accepted();
      }
      file.push(new Uint8Array(), true);
      await accepted();
    },
    async end() {
      zip.end();
      await accepted();
      to.end();
      await finished(to, { readable: false });
    },
  };
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

  const zip = createZipStream(to);
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
