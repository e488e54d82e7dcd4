import { Dicer } from '@fastify/busboy';

/** Maximum number of parts of a body; devices send up to a dozen. */
const MAX_PARTS = 100;

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
 * Splits a body of any multipart type (RFC 2046).
 * @param contentType the header of the request, with the boundary
 * @throws UnreadableMultipart without a boundary, without a delimiter, or with more than 100 parts
 */
export async function splitMultipart(contentType: string, given: Buffer): Promise<SplitMultipart> {
  const declared = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType);
  const delimiter = boundaryOf(declared?.[1] ?? declared?.[2], given);
  if (delimiter === undefined) throw new UnreadableMultipart('The Content-Type multipart has no boundary');
  const body = withCrlf(withoutPartOf(`\n--${delimiter}--`, given), delimiter);
  // Counted first, because the parser cannot be stopped in the middle of a body.
  if (occurrences(body, `--${delimiter}`) > MAX_PARTS + 1) {
    throw new UnreadableMultipart(`The body has more than ${MAX_PARTS} parts`);
  }
  const isIncomplete = body.includes(`--${delimiter}`) && !body.includes(`--${delimiter}--`);
  const parts: RawPart[] = [];
  await new Promise<void>((resolve, reject) => {
    const dicer = new Dicer({ boundary: delimiter, maxHeaderPairs: 50 });
    const refuse = (reason: string): void => reject(new UnreadableMultipart(reason));
    dicer.on('part', (part) => {
      const chunks: Buffer[] = [];
      let headers: Record<string, string[]> = {};
      part.on('header', (given: object) => {
        headers = given as Record<string, string[]>;
      });
      part.on('data', (chunk: Buffer) => chunks.push(chunk));
      part.on('error', () => refuse('The multipart body is incomplete'));
      part.on('end', () => parts.push(describe(headers, Buffer.concat(chunks))));
    });
    dicer.on('error', () => refuse('The multipart body is incomplete or its boundary does not occur'));
    dicer.on('finish', () => resolve());
    dicer.end(isIncomplete ? Buffer.concat([body, Buffer.from(`\r\n--${delimiter}--\r\n`)]) : body);
  });
  return { parts, isIncomplete };
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
  if (body.includes(end)) return body;
  for (let length = end.length - 1; length > 4; length--) {
    if (!body.subarray(-length).equals(Buffer.from(end.slice(0, length)))) continue;
    const hasReturn = body.at(-length - 1) === 0x0d;
    return body.subarray(0, hasReturn ? -length - 1 : -length);
  }
  return body;
}

/** The body with CRLF around its delimiters and headers, in which some devices write LF alone. */
function withCrlf(body: Buffer, delimiter: string): Buffer {
  const mark = `--${delimiter}`;
  if (!body.includes(`${mark}\n`) && body.includes('\r\n\r\n')) return body;
  const parts: Buffer[] = [];
  let at = body.indexOf(mark);
  while (at !== -1) {
    const next = body.indexOf(`\n${mark}`, at + mark.length);
    const part = body.subarray(at + mark.length, next === -1 ? body.length : next);
    const end = part.indexOf('\n\n');
    const isLast = part.toString('latin1', 0, 2) === '--';
    parts.push(
      isLast || end === -1
        ? Buffer.concat([Buffer.from(mark), part])
        : Buffer.concat([
            Buffer.from(mark + part.toString('latin1', 0, end).replace(/\r?\n/g, '\r\n')),
            Buffer.from('\r\n\r\n'),
            part.subarray(end + 2),
          ]),
      Buffer.from(next === -1 ? '' : '\r\n'),
    );
    at = next === -1 ? -1 : next + 1;
  }
  return Buffer.concat(parts);
}

function occurrences(body: Buffer, text: string): number {
  let count = 0;
  for (let at = body.indexOf(text); at !== -1; at = body.indexOf(text, at + text.length)) count++;
  return count;
}

function describe(headers: Record<string, string[]>, bytes: Buffer): RawPart {
  const disposition = headers['content-disposition']?.[0] ?? '';
  return {
    name: parameterOf(disposition, 'name'),
    fileName: parameterOf(disposition, 'filename'),
    contentType: headers['content-type']?.[0] ?? null,
    bytes,
  };
}

function parameterOf(header: string, name: string): string | null {
  const found = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^\\s;]+))`, 'i').exec(header);
  return found?.[1] ?? found?.[2] ?? null;
}
