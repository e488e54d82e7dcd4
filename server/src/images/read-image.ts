import { hash } from 'node:crypto';
import { invalidInput } from '../platform/error.ts';
import { type MediaType, mediaTypeOf, type PixelSize, pixelSizeOf } from './pixel-size.ts';

/** A picture as a device sent it, checked. */
export interface Picture extends PixelSize {
  /** SHA-256 of its bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly mediaType: MediaType;
  readonly bytes: Buffer;
}

/** Pixels. A picture of the largest size takes 200 MB where it is decoded. */
const MAX_PIXELS = 50_000_000;
const MAX_SIDE = 20_000;

const DATA_URL = /^data:/i;
const IMAGE_URL = /^data:image\/(jpeg|png|webp);base64,/i;

/** How base64 of the three formats begins. */
const IMAGE_BASE64 = /^(?:\/9j\/|iVBORw0KGgo|UklGR)/;

/** Markup, and base64 of markup, of GIF and of PDF: files that are no pictures we keep, and no addresses either. */
const OTHER_FILE = /^\s*<|^(?:PHN2Zy|PD94bWwg|PCFET0NUWVBF|PCFkb2N0eXBl|PGh0bWw|PEhUTUw|R0lGOD|JVBERi)/;

/** Of a short text: longer ones are base64 or refused. */
const REFERENCE_MAX = 2048;
const ONLY_BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

const ONE_OF_THREE = 'send a JPEG, PNG or WebP image in base64, or its address';

/**
 * Decodes a picture out of one of an event's `images`, checks by its bytes that it is what it claims to be, and by its
 * header that it is of a size that somebody can open. Decoding and hashing 7 MB takes some 10 to 50 ms.
 * @param path of the value in the input, for messages
 * @returns null when the value is an address or another short text
 * @throws AppError `badRequest` for everything that claims to be a picture and is none
 */
export function readImage(value: string, path: string): Picture | null {
  if (OTHER_FILE.test(value)) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
  if (!isImageData(value)) return null;
  const url = IMAGE_URL.exec(value);
  if (!url && DATA_URL.test(value)) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
  const bytes = decodeBase64(url ? value.slice(url[0].length) : value);
  if (!bytes) throw invalidInput(path, 'The image is not valid base64');
  const mediaType = mediaTypeOf(bytes);
  if (!mediaType) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
  const [, subtype] = url ?? [];
  if (subtype !== undefined && claimedType(subtype) !== mediaType) {
    throw invalidInput(
      path,
      `The image claims to be ${claimedType(subtype)}, but its bytes are ${mediaType}`,
    );
  }
  const size = pixelSizeOf(bytes, mediaType);
  if (!size)
    throw invalidInput(path, 'The image is damaged or incomplete: its header does not contain its size');
  const { width, height } = size;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    throw invalidInput(
      path,
      `The image has ${width} × ${height} pixels: send at most ${MAX_PIXELS / 1e6} million, and ${MAX_SIDE} per side`,
    );
  }
  return { sha256: hash('sha256', bytes, 'hex'), mediaType, width, height, bytes };
}

/** Where a picture is served. */
export function addressOfImage(sha256: string): string {
  return `/images/${sha256}`;
}

function isImageData(value: string): boolean {
  return (
    DATA_URL.test(value) ||
    (IMAGE_BASE64.test(value) && (value.length > REFERENCE_MAX || ONLY_BASE64.test(value)))
  );
}

/** The bytes, or null when it is not base64 throughout: what Node skips shows in the length. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === Buffer.byteLength(text, 'base64')) return bytes;
  const dense = text.replace(/\s+/g, '');
  return dense.length < text.length ? decodeBase64(dense) : null;
}

function claimedType(subtype: string) {
  return `image/${subtype.toLowerCase()}`;
}
