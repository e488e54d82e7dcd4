/// <reference path="./saxen.d.ts" />
import { Readable } from 'node:stream';
import { unguardText } from '@gantry/contract/csv-text';
import { type CsvError, parse } from 'csv-parse';
import { unzipSync, zipSync } from 'fflate';
import { readSheet as readWorkbook } from 'read-excel-file/node';
import { Parser } from 'saxen';
import { AppError, invalidInput } from './error.ts';

/** The text of a file, and how its bytes were read. */
export interface DecodedFile {
  readonly text: string;
  /** Null if it was sent as text. */
  readonly encoding: 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'windows-1252' | null;
}

/**
 * Reads a file as UTF-16 if it has its byte order mark, as UTF-8 if its bytes are that, and otherwise as windows-1252, which
 * spreadsheets write in western Europe.
 */
export function decodeFile({ text, base64 }: { text?: string | undefined; base64?: string | undefined }) {
  if (base64 === undefined) return { text: withoutMark(text ?? ''), encoding: null };
  const bytes = Buffer.from(base64, 'base64');
  const decoded = (encoding: NonNullable<DecodedFile['encoding']>, fatal = false): DecodedFile => ({
    text: withoutMark(new TextDecoder(encoding, { fatal }).decode(bytes)),
    encoding,
  });
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decoded('UTF-16LE');
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decoded('UTF-16BE');
  try {
    return decoded('UTF-8', true);
  } catch {
    return decoded('windows-1252');
  }
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

/** A row of a file. */
export interface TableRow {
  /** From 1; the first one of a row with line breaks in its cells. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A line of a file that is not stored, and why. */
export interface LineError {
  readonly line: number;
  readonly message: string;
}

/** Number of characters that are parsed without a pause. */
const CHUNK_LENGTH = 64 * 1024;

/** Maximum length of a row, in characters, and of its cells: more is not a table, and would be read without a pause. */
const MAX_ROW = 65_536;
const MAX_COLUMNS = 2_000;

/**
 * The rows of a text that are not empty, in order. Pauses between parts of a large text, so that other requests are answered.
 * @throws AppError `badRequest` if it is no table, such as after a quote without an end, or has too long rows
 */
export async function* readTable(text: string, separator: string): AsyncGenerator<TableRow> {
  const parser = parse({
    delimiter: separator,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
    max_record_size: MAX_ROW,
    record_delimiter: ['\r\n', '\n', '\r'],
  });
  const chunks = Array.from({ length: Math.ceil(text.length / CHUNK_LENGTH) }, (_, n) =>
    text.slice(n * CHUNK_LENGTH, (n + 1) * CHUNK_LENGTH),
  );
  let before = 0;
  try {
    for await (const each of Readable.from(chunks).pipe(parser)) {
      const { info, record } = each as { info: { lines: number }; record: string[] };
      const line = Math.max(before + 1, info.lines - lineBreaksIn(record));
      before = info.lines;
      if (record.length > MAX_COLUMNS)
        throw invalidInput('text', `Line ${line} has more than ${MAX_COLUMNS} cells: remove some columns`);
      if (record.some((cell) => cell !== '')) yield { line, cells: record };
    }
  } catch (error) {
    const { code, message, lines } = error as CsvError & { readonly lines?: number };
    if (code === 'CSV_MAX_RECORD_SIZE')
      throw invalidInput(
        'text',
        `Line ${lines}: a row has more than ${MAX_ROW} characters: close its quotes, or shorten it`,
      );
    if (!code?.startsWith('CSV_')) throw error;
    throw invalidInput('text', `The file cannot be read as a table: ${message}`);
  }
}

function lineBreaksIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
}

/** A table with a header, from CSV or the first sheet of a workbook (XLSX). */
export interface Sheet {
  /** Null if it was sent as text. */
  readonly encoding: DecodedFile['encoding'] | 'XLSX';
  /** The rows that are not empty, with the header. Texts are trimmed. */
  readonly rows: readonly TableRow[];
}

/** A workbook may contain this many bytes without its compression, and its table as many characters. */
const MAX_UNPACKED = 20_000_000;

/**
 * Reads a table, recognised by its bytes.
 * @param most maximum number of rows, without the header
 * @throws AppError `badRequest` if it is no table, or too large
 */
export async function readSheet(
  file: { text?: string | undefined; base64?: string | undefined },
  most: number,
): Promise<Sheet> {
  const bytes = file.base64 === undefined ? null : Buffer.from(file.base64, 'base64');
  const isZip = bytes?.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004')) === true;
  const { text, encoding } = isZip ? { text: '', encoding: 'XLSX' as const } : decodeFile(file);
  const rows: TableRow[] = [];
  for await (const row of isZip ? workbookRows(bytes) : readTable(text, separatorOf(text))) {
    rows.push(isZip ? row : { ...row, cells: row.cells.map(unguardText) });
    if (rows.length > most + 1)
      throw invalidInput('text', `The file has more than ${most} rows: divide it into several`);
  }
  return { rows, encoding };
}

/** The separator that the first line has most of. */
function separatorOf(text: string): string {
  const head = text.slice(0, text.search(/[\r\n]/) >>> 0);
  const counts = [',', ';', '\t'].map((separator) => [head.split(separator).length, separator] as const);
  return counts.reduce((best, each) => (each[0] > best[0] ? each : best))[1];
}

async function* workbookRows(bytes: Buffer): AsyncGenerator<TableRow> {
  let sheet: readonly (readonly unknown[])[];
  try {
    sheet = await readWorkbook(Buffer.from(unpacked(bytes)), { trim: true });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalidInput(
      'base64',
      `The workbook cannot be read (${(error as Error).message}): save it again, or as CSV`,
    );
  }
  let size = 0;
  for (const [at, cells] of sheet.entries()) {
    const texts = cells.map(textOfCell);
    // Many cells may share one text.
    size = texts.reduce((sum, text) => sum + text.length, size);
    if (size > MAX_UNPACKED) throw workbookTooLarge();
    if (texts.some((cell) => cell !== '')) yield { line: at + 1, cells: texts };
  }
}

function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  return cell instanceof Date ? cell.toISOString().slice(0, 10) : String(cell).trim();
}

/**
 * The workbook without compression. What it says of its size is checked before, and is all the memory that it gets, because a
 * small archive may become gigabytes.
 * @throws AppError `badRequest` if it is too large
 */
function unpacked(bytes: Buffer): Uint8Array {
  let size = 0;
  const files = unzipSync(bytes, {
    filter: ({ originalSize }) => {
      size += originalSize;
      if (size <= MAX_UNPACKED) return true;
      throw workbookTooLarge();
    },
  });
  for (const [name, content] of Object.entries(files)) {
    const xml = new TextDecoder().decode(content);
    if (xml.includes('sheetData')) requireSmallSheet(xml, name);
  }
  return zipSync(files, { level: 0 });
}

function workbookTooLarge(): AppError {
  return invalidInput('base64', 'The workbook is too large: remove other sheets, or save the table as CSV');
}

/** A sheet from its first to its last row and column may have this many cells, empty ones too. */
const MAX_CELLS = 500_000;

/**
 * Empty cells before the last one are kept in memory, and one cell may be in the last of a million rows. Elements are read as
 * the library of workbooks reads them, and before it does.
 * @throws AppError `badRequest` if a cell is too far away, or the address of one is none
 */
function requireSmallSheet(xml: string, name: string): void {
  let [rows, columns] = [0, 1];
  const parser = new Parser();
  parser.on('openTag', (element, attributesOf) => {
    if (!/(?:^|:)(?:c|row)$/.test(element)) return;
    for (const [attribute, value] of Object.entries(attributesOf())) {
      if (!/(?:^|:)r$/.test(attribute) || attribute.startsWith('xmlns')) continue;
      const address = /^([A-Z]{0,3})(\d{1,7})$/.exec(value);
      if (!address) throw new Error(`${name}: ${value.slice(0, 50)} is the address of no cell`);
      const [, column = '', row = ''] = address;
      rows = Math.max(rows, Number(row));
      columns = Math.max(columns, columnOf(column));
      if (rows * columns > MAX_CELLS)
        throw invalidInput(
          'base64',
          `${name} of the workbook has a cell in row ${row} or column ${column || columns}: clear rows and columns that are not part of the table, or save it as CSV`,
        );
    }
  });
  parser.parse(xml);
}

/** The number of a column, from 1 for A. */
function columnOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}
