import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { invalidInput } from '../../platform/error.ts';

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

/**
 * The rows of a text that are not empty, in order. Pauses between parts of a large text, so that other requests are answered.
 * @throws AppError `badRequest` if it is no table, such as after a quote without an end
 */
export async function* readTable(text: string, separator: string): AsyncGenerator<TableRow> {
  const parser = parse({
    delimiter: separator,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    trim: true,
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
      if (record.some((cell) => cell !== '')) yield { line, cells: record };
    }
  } catch (error) {
    const { code, message } = error as CsvError;
    if (!code?.startsWith('CSV_')) throw error;
    throw invalidInput('text', `The file cannot be read as a table: ${message}`);
  }
}

function lineBreaksIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\n|\r/g)?.length ?? 0), 0);
}
