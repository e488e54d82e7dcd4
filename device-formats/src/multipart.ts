/** Maximum number of parts of a body; devices send up to a dozen. */
const MAX_PARTS = 100;

/**
 * The declared boundary. RFC 2046 allows 70 characters. A very long one is not searched for: a body may be such that each of
 * its bytes is compared with all of them, which takes half a minute for 10 MB.
 */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200})(?![^\s;"]))/i;

/** One part of a multipart body with its bytes. */
export interface RawPart {
  readonly name: string | null;
  readonly fileName: string | null;
  readonly contentType: string | null;
  readonly bytes: Buffer;
}

/** A multipart body that is not accepted. The message is a sentence for users. */
export class UnreadableMultipart extends Error {
  override name = 'UnreadableMultipart';
}

/** The parts of a multipart body. */
export interface SplitMultipart {
  readonly parts: RawPart[];
  /** Whether the last delimiter is missing, so that the last part may be incomplete. */
  readonly isIncomplete: boolean;
}

/**
 * Splits a body of any multipart type (RFC 2046). The body is in memory, so that its parts are views of it. Some devices end
 * lines with LF alone.
 * @param contentType the header of the request, with the boundary
 * @throws UnreadableMultipart without a boundary, without a delimiter, or with more than 100 parts
 */
export function splitMultipart(contentType: string, given: Buffer): SplitMultipart {
  const declared = BOUNDARY.exec(contentType);
  const delimiter = boundaryOf(declared?.[1] ?? declared?.[2], given);
  if (delimiter === undefined) throw new UnreadableMultipart('The Content-Type multipart has no boundary');
  const mark = `--${delimiter}`;
  const delimiters = delimitersIn(given, mark);
  const body = delimiters.at(-1)?.isLast ? given : withoutPartOf(`\n${mark}--`, given);
  const parts: RawPart[] = [];
  for (const [index, { end, isLast }] of delimiters.entries()) {
    if (isLast) return { parts, isIncomplete: false };
    const next = delimiters[index + 1];
    const part = partOf(body.subarray(end, Math.max(end, next?.start ?? body.length)));
    // A body that was cut within the headers of its last part has nothing of that part.
    if (next !== undefined || part.hasBlankLine) parts.push(part.raw);
  }
  return { parts, isIncomplete: true };
}

/** A line of a body that separates its parts. */
interface Delimiter {
  /** Where the line break before it begins. */
  readonly start: number;
  /** Where the part after it begins. */
  readonly end: number;
  /** Whether it ends the last part. */
  readonly isLast: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const HYPHEN = 0x2d;

/** @throws UnreadableMultipart when there is none, or there are too many */
function delimitersIn(body: Buffer, mark: string): Delimiter[] {
  const delimiters: Delimiter[] = [];
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) {
    if (at > 0 && body[at - 1] !== LF) continue;
    const start = body[at - 2] === CR ? at - 2 : Math.max(0, at - 1);
    let end = at + mark.length;
    const isLast = body[end] === HYPHEN && body[end + 1] === HYPHEN;
    while (body[end] === 0x20 || body[end] === 0x09) end++;
    if (body[end] === CR) end++;
    if (!isLast && end < body.length && body[end] !== LF) continue;
    delimiters.push({ start, end: end + 1, isLast });
    if (isLast) break;
    if (delimiters.length > MAX_PARTS) {
      throw new UnreadableMultipart(`The body has more than ${MAX_PARTS} parts`);
    }
  }
  if (delimiters.length > 0) return delimiters;
  throw new UnreadableMultipart('The multipart body is incomplete or its boundary does not occur');
}

/** Maximum length of the headers of a part, in bytes. */
const MAX_HEADERS = 8_192;

const BLANK_LINE = /^\r?\n|\r?\n\r?\n/;

function partOf(bytes: Buffer): { readonly raw: RawPart; readonly hasBlankLine: boolean } {
  const beginning = bytes.toString('latin1', 0, MAX_HEADERS);
  const blank = BLANK_LINE.exec(beginning);
  // A part without a blank line has only headers.
  const end = blank ? blank.index + blank[0].length : bytes.length;
  return {
    raw: describe(beginning.slice(0, blank?.index), bytes.subarray(end)),
    hasBlankLine: blank !== null,
  };
}

/**
 * The boundary of a body: the declared one, unless it does not occur. Some devices declare it with the two hyphens before
 * it, or in single quotes, or not at all; then it is taken from the first line of the body.
 */
function boundaryOf(declared: string | undefined, body: Buffer): string | undefined {
  if (declared !== undefined && body.includes(`--${declared}`)) return declared;
  return /^\s*--([^\r\n]{1,70})\r?\n/.exec(body.toString('latin1', 0, 100))?.[1] ?? declared;
}

/**
 * Whether a body is multipart, whatever its declared type: it begins with a delimiter, which occurs again, and a header.
 */
export function isMultipart(body: Buffer): boolean {
  const found = /^\s{0,10}--([^\r\n]{1,70})\r?\n[A-Za-z-]{1,50}:/.exec(body.toString('latin1', 0, 200));
  return found?.[1] !== undefined && occurrences(body, `--${found[1]}`) > 1;
}

/** The body without the beginning of the last delimiter, at which a device with a wrong Content-Length cuts it. */
function withoutPartOf(end: string, body: Buffer): Buffer {
  for (let length = end.length - 1; length > 4; length--) {
    if (!body.subarray(-length).equals(Buffer.from(end.slice(0, length)))) continue;
    const hasReturn = body.at(-length - 1) === 0x0d;
    return body.subarray(0, hasReturn ? -length - 1 : -length);
  }
  return body;
}

function occurrences(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) count++;
  return count;
}

/** @param headers the lines of the headers, some of which may be continued on the next one */
function describe(headers: string, bytes: Buffer): RawPart {
  const lines = headers.replaceAll(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  const headerNamed = (name: string): string | null =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim() ?? null;
  const disposition = headerNamed('content-disposition') ?? '';
  return {
    name: parameterOf(disposition, NAME),
    fileName: parameterOf(disposition, FILE_NAME),
    contentType: headerNamed('content-type'),
    bytes,
  };
}

const NAME = /;\s*name=(?:"([^"]*)"|([^\s;]+))/i;
const FILE_NAME = /;\s*filename=(?:"([^"]*)"|([^\s;]+))/i;

function parameterOf(header: string, parameter: RegExp): string | null {
  const found = parameter.exec(header);
  return found?.[1] ?? found?.[2] ?? null;
}
