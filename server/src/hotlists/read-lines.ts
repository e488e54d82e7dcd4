import type { Readable } from 'node:stream';
import type { HotlistTemplate } from '@gantry/contract/hotlists';

/** A line of a file, with its number from 1; too long ones have no text. */
export interface FileLine {
  readonly line: number;
  /** null: it is longer than `MAX_LINE`. */
  readonly text: string | null;
}

/** Maximum length of a line, in UTF-16 units. */
export const MAX_LINE = 65_536;
/** Maximum number of columns of a line. */
export const MAX_COLUMNS = 200;

/** The file cannot be read with this template; the message says why, and what to change. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

type Decoder = InstanceType<typeof TextDecoder>;

/** What begins other kinds of files, and what to do about it. */
const OTHER_FILES: readonly { readonly start: readonly number[]; readonly hint: string }[] = [
  {
    start: [0x50, 0x4b, 0x03, 0x04],
    hint: 'This is an Excel or ZIP file: save the sheet as CSV, or unpack it',
  },
  { start: [0xd0, 0xcf, 0x11, 0xe0], hint: 'This is an old Excel file: save the sheet as CSV' },
  { start: [0x1f, 0x8b], hint: 'This file is compressed with gzip: unpack it first' },
  { start: [0x25, 0x50, 0x44, 0x46], hint: 'This is a PDF file: export the list as CSV' },
];

/**
 * The lines of a file, however they end, without a byte order mark.
 * @throws UnreadableFile for another kind of file, or for bytes that are not text in the encoding
 */
export async function* linesOf(
  input: Readable,
  encoding: HotlistTemplate['encoding'],
): AsyncGenerator<readonly FileLine[]> {
  let decoder: Decoder | null = null;
  const splitter = new LineSplitter();
  let first = Buffer.alloc(0);
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let bytes = chunk;
    if (decoder === null) {
      // A mark has up to three bytes, which may come one by one.
      first = Buffer.concat([first, chunk]);
      if (first.length < 4) continue;
      decoder = decoderOf(first, encoding);
      bytes = first;
    }
    yield splitter.take(decode(decoder, bytes, true));
  }
  decoder ??= decoderOf(first, encoding);
  const rest = first.length < 4 ? decode(decoder, first, true) : '';
  yield splitter.end(rest + decode(decoder, Buffer.alloc(0), false));
}

function decoderOf(first: Buffer, encoding: HotlistTemplate['encoding']): Decoder {
  const other = OTHER_FILES.find(({ start }) => start.every((byte, at) => first[at] === byte));
  if (other) throw new UnreadableFile(other.hint);
  const bigEndian = first[0] === 0xfe && first[1] === 0xff;
  const littleEndian = first[0] === 0xff && first[1] === 0xfe;
  const utf16 = bigEndian ? 'utf-16be' : 'utf-16le';
  if (encoding === 'UTF-16') return new TextDecoder(utf16, { fatal: true });
  if (encoding === 'WINDOWS-1252') return new TextDecoder('windows-1252');
  return new TextDecoder(encoding === 'AUTO' && (bigEndian || littleEndian) ? utf16 : 'utf-8', {
    fatal: true,
  });
}

function decode(decoder: Decoder, bytes: Buffer, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (error) {
    throw new UnreadableFile(
      `The file is not text in ${decoder.encoding.toUpperCase()}: choose another encoding, such as WINDOWS-1252`,
      { cause: error },
    );
  }
}

/** Divides text that comes in pieces into lines. Lines end with LF, CR LF or CR. */
class LineSplitter {
  #rest = '';
  #isTooLong = false;
  #line = 0;

  take(text: string): FileLine[] {
    const lines: FileLine[] = [];
    // A CR at the end may be followed by its LF in the next piece.
    const whole = this.#rest + text;
    const end = whole.endsWith('\r') ? whole.length - 1 : whole.length;
    let from = 0;
    // Each kind is sought from where it was found last: a file with only one of them is not read again for every line.
    let [lf, cr] = [whole.indexOf('\n'), whole.indexOf('\r')];
    for (;;) {
      const at = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
      if (at === -1 || at >= end) break;
      lines.push(this.#lineOf(whole.slice(from, at)));
      from = at + (at === cr && lf === at + 1 ? 2 : 1);
      if (lf !== -1 && lf < from) lf = whole.indexOf('\n', from);
      if (cr !== -1 && cr < from) cr = whole.indexOf('\r', from);
    }
    this.#rest = whole.slice(from);
    if (this.#rest.length > MAX_LINE + 1) {
      this.#isTooLong = true;
      this.#rest = this.#rest.endsWith('\r') ? '\r' : '';
    }
    return lines;
  }

  end(text: string): FileLine[] {
    const lines = this.take(`${text}\n`);
    // The line break that was added ends no line if the file ends with one.
    return lines.at(-1)?.text === '' ? lines.slice(0, -1) : lines;
  }

  #lineOf(text: string): FileLine {
    this.#line++;
    const isTooLong = this.#isTooLong || text.length > MAX_LINE;
    this.#isTooLong = false;
    return { line: this.#line, text: isTooLong ? null : text };
  }
}

/** The cells of a line; null if a quote is not closed. */
export function cellsOf(line: string, delimiter: string): string[] | null {
  if (!line.includes('"')) return line.split(delimiter);
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    if (line[at] !== '"') {
      const end = line.indexOf(delimiter, at);
      cells.push(line.slice(at, end === -1 ? undefined : end));
      if (end === -1) return cells;
      at = end + 1;
      continue;
    }
    const end = endOfQuoted(line, at);
    if (end === -1) return null;
    const next = line.indexOf(delimiter, end);
    cells.push(
      line.slice(at + 1, end).replaceAll('""', '"') +
        line.slice(end + 1, next === -1 ? undefined : next).trim(),
    );
    if (next === -1) return cells;
    at = next + 1;
  }
  return cells;
}

/** The position of the quote that closes the one at a position; -1 if there is none. Two quotes stand for one. */
function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start + 1); at !== -1; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at;
  }
  return -1;
}
