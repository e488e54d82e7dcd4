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
export async function splitMultipart(contentType: string, body: Buffer): Promise<SplitMultipart> {
  const declared = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType);
  const delimiter = boundaryOf(declared?.[1] ?? declared?.[2], body);
  if (delimiter === undefined) throw new UnreadableMultipart('The Content-Type multipart has no boundary');
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
  return /^\s*--([^\r\n]{1,70})\r\n/.exec(body.toString('latin1', 0, 100))?.[1] ?? declared;
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
