import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { MAX_BODY_BYTES } from '@gantry/contract/envelope';

/** The body without its compression; or the status and the sentence with which it is refused. */
export type Inflated =
  | { readonly body: Buffer }
  | { readonly status: 400 | 413 | 415; readonly reason: string };

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decompressions: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip) as Decompress,
  'x-gzip': promisify(gunzip) as Decompress,
  br: promisify(brotliDecompress) as Decompress,
  // Some senders leave out the header of zlib.
  deflate: (body, options) =>
    (promisify(hasZlibHeader(body) ? inflate : inflateRaw) as Decompress)(body, options),
};

/** The value of Accept-Encoding, with which a refusal says what is accepted. */
export const ACCEPTED_ENCODINGS = 'gzip, deflate, br';

/** Whether a body is compressed: according to its header Content-Encoding, or as a file of gzip. */
export function isCompressed(encoding: string | null, body: Buffer): boolean {
  return body.length > 0 && (encodingOf(encoding) !== 'identity' || (body[0] === 0x1f && body[1] === 0x8b));
}

/**
 * Removes the compression of a body, which may be as large as a body without it, and not larger: so that a few bytes do
 * not fill the memory.
 * @param most the maximum size without the compression, in bytes
 */
export async function inflated(
  encoding: string | null,
  body: Buffer,
  most = MAX_BODY_BYTES,
): Promise<Inflated> {
  if (!isCompressed(encoding, body)) return { body };
  const named = encodingOf(encoding);
  const name = named === 'identity' ? 'gzip' : named;
  const decompress = Object.hasOwn(decompressions, name) ? decompressions[name] : undefined;
  if (!decompress) {
    return {
      status: 415,
      reason: `The body is compressed in a way that is not read (Content-Encoding: ${name.slice(0, 50)}): use gzip, deflate, br or none`,
    };
  }
  try {
    return { body: await decompress(body, { maxOutputLength: most }) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? {
          status: 413,
          reason: `The body is larger than ${Math.floor(most / 1e6)} MB without its compression: send it in parts`,
        }
      : { status: 400, reason: `The compressed body (${name}) is damaged or incomplete` };
  }
}

function encodingOf(header: string | null): string {
  return header?.trim().toLowerCase() || 'identity';
}

function hasZlibHeader([first = 0, second = 0]: Buffer): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}
