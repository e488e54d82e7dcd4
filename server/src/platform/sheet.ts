import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { unguardText } from '@gantry/contract/csv-text';
import { type CsvError, parse } from 'csv-parse';
import pLimit from 'p-limit';
import { invalidInput } from './error.ts';
import { workbookThread } from './installation.ts';

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

/**
 * Workbooks are read one at a time in a thread of their own, because the event loop would stand still meanwhile: for a second with
 * the largest table, and for minutes with one that is made for it.
 */
const turns = pLimit(1);

/** After this time the thread is ended, in milliseconds. It is many times what the largest table takes. */
const LIMIT_MS = 15_000;

const HEAP_MB = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 32 };

/** What the thread sends: the rows, or a sentence that says why there are none. */
export type FromWorkbookThread = { readonly rows: readonly TableRow[] } | { readonly problem: string };

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
  for await (const row of isZip ? await workbookRows(bytes) : readTable(text, separatorOf(text))) {
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

/** The rows of the first sheet of a workbook. @throws AppError `badRequest` if it cannot be read, or takes too long */
async function workbookRows(bytes: Buffer): Promise<readonly TableRow[]> {
  const read = await turns(
    () =>
      new Promise<FromWorkbookThread>((resolve) => {
        const thread = new Worker(workbookThread, { workerData: bytes, resourceLimits: HEAP_MB });
        const settle = (read: FromWorkbookThread): void => {
          clearTimeout(timer);
          resolve(read);
          void thread.terminate();
        };
        const fail = (): void => settle({ problem: 'The workbook takes too long to read: save it as CSV' });
        const timer = setTimeout(fail, LIMIT_MS);
        thread.once('message', settle);
        // Such as for lack of memory.
        thread.once('error', fail);
      }),
  );
  if ('problem' in read) throw invalidInput('base64', read.problem);
  return read.rows;
}
