import { hash } from 'node:crypto';
import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';
import { invalidInput } from '../platform/error.ts';

/** Width and height in pixels. */
interface PixelSize {
  readonly width: number;
  readonly height: number;
}

export type MediaType = 'image/jpeg' | 'image/png' | 'image/webp';

/** Contains everything that a PNG or WebP file states about its size. */
const HEADER_BYTES = 64;

/** Start of the image data, which follows the frame header. */
const SCAN = 0xda;

const END_OF_JPEG = Buffer.from([0xff, 0xd9]);

/** The chunk IEND with its check sum. */
const END_OF_PNG = Buffer.from('IEND\xaeB`\x82', 'latin1');

interface Format {
  readonly mediaType: MediaType;
  readonly begins: (bytes: Buffer) => boolean;
  readonly size: (bytes: Buffer) => PixelSize | null;
  /** The length of the file in bytes, which may be followed by other data; null when its end is missing. */
  readonly length: (bytes: Buffer) => number | null;
}

const FORMATS: readonly Format[] = [
  {
    mediaType: 'image/jpeg',
    begins: (bytes) => bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff,
    size: jpegSize,
    length: jpegLength,
  },
  {
    mediaType: 'image/png',
    begins: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
    size: (bytes) => headerSize(PNG, bytes),
    length: pngLength,
  },
  {
    mediaType: 'image/webp',
    begins: (bytes) =>
      bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
      bytes.subarray(8, 12).toString('latin1') === 'WEBP',
    size: (bytes) => (isWholeRiff(bytes) ? headerSize(WEBP, bytes) : null),
    length: (bytes) => (isWholeRiff(bytes) ? bytes.readUInt32LE(4) + 8 : null),
  },
];

/** The format of a file by its first bytes; null if it is not supported. */
export function mediaTypeOf(bytes: Buffer): MediaType | null {
  return FORMATS.find(({ begins }) => begins(bytes))?.mediaType ?? null;
}

/** The size in the header of an image, without decoding the image; null when the header is invalid. */
function pixelSizeOf(bytes: Buffer, mediaType: MediaType): PixelSize | null {
  const size = FORMATS.find((format) => format.mediaType === mediaType)?.size(bytes) ?? null;
  return size !== null && size.width >= 1 && size.height >= 1
    ? { width: size.width, height: size.height }
    : null;
}

/**
 * The length in bytes of the image at the beginning of `bytes`, which other data may follow; null when its end is
 * missing, because it is truncated.
 */
export function imageLengthOf(bytes: Buffer, mediaType: MediaType): number | null {
  return FORMATS.find((format) => format.mediaType === mediaType)?.length(bytes) ?? null;
}

/**
 * The frame headers of JPEG (ITU-T T.81, table B.1): SOF0 to SOF15, except for DHT, JPG and DAC, which share the
 * range.
 */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/**
 * The size in the frame header of a JPEG; null when it is missing. Segments are read in order: searching for the
 * marker could take a second for a malicious file, and find it where no decoder looks.
 */
function jpegSize(bytes: Buffer): PixelSize | null {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    const length = bytes.readUInt16BE(at + 2);
    if (marker === SCAN || marker < 0xc0 || length < 2) return null;
    at += 2 + length;
  }
  return null;
}

/**
 * The end of a JPEG after its first scan. Encoded data contains no markers (ITU-T T.81, B.1.1.5), so that the first
 * end-of-image marker after the scan is the one of the image and not of a thumbnail in its header.
 */
function jpegLength(bytes: Buffer): number | null {
  let at = 2;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && bytes[at + 1] !== SCAN) {
    at += bytes[at + 1] === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  const end = bytes.indexOf(END_OF_JPEG, at);
  return at + 4 <= bytes.length && bytes[at + 1] === SCAN && end !== -1 ? end + END_OF_JPEG.length : null;
}

function pngLength(bytes: Buffer): number | null {
  const end = bytes.indexOf(END_OF_PNG);
  return end === -1 ? null : end + END_OF_PNG.length;
}

function headerSize(format: typeof PNG, bytes: Buffer): PixelSize | null {
  // Copied, because the parsers read beyond the end of a view that is too short.
  const header = Uint8Array.from(bytes.subarray(0, HEADER_BYTES));
  try {
    return format.validate(header) ? format.calculate(header) : null;
  } catch {
    // Parsers and buffer reads throw when the header is invalid.
    return null;
  }
}

/** Whether the file has the length it states and contains the header of its first chunk. */
function isWholeRiff(bytes: Buffer): boolean {
  return bytes.length > 25 && bytes.readUInt32LE(4) + 8 <= bytes.length;
}

/** An image as sent by a device, after validation. */
export interface Picture extends PixelSize {
  /** SHA-256 of its bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly mediaType: MediaType;
  readonly bytes: Buffer;
}

/** Maximum size of an image, in pixels. An image of this size takes 200 MB when decoded. */
const MAX_PIXELS = 50_000_000;
const MAX_SIDE = 20_000;

const DATA_URL = /^data:/i;
/** The type is not read, because devices write `image/jpg`, `image/pjpeg`, parameters or none: the bytes determine it. */
const IMAGE_URL = /^data:[^,]{0,200};base64,\s{0,10}/i;

/** The first characters of the three formats in base64. */
const IMAGE_BASE64 = /^(?:\/9j\/|iVBORw0KGgo|UklGR)/;

/** Markup, and base64 of markup, GIF and PDF: neither supported images nor addresses. */
const OTHER_FILE = /^\s*<|^(?:PHN2Zy|PD94bWwg|PCFET0NUWVBF|PCFkb2N0eXBl|PGh0bWw|PEhUTUw|R0lGOD|JVBERi)/;

/**
 * An address is a URL or a path, without blanks unless it is an absolute path in a file system. The other characters
 * that RFC 3986 excludes are allowed where makers of devices use them.
 */
const ADDRESS = /^(?:[^\s<>"\p{Cc}]+|(?:[A-Za-z]:[\\/]|\\\\|\/)[^<>"\p{Cc}]*)$/u;
const SCRIPT_URL = /^\s*(?:javascript|vbscript):/i;
const NO_ADDRESS =
  'This is neither an address nor an image: send the address of an image without blanks, or a JPEG, PNG or WebP image in base64';

/**
 * A text that begins like an image in base64 is decoded as one if it is longer than this, in characters; a shorter one
 * only if it contains nothing but base64.
 */
const REFERENCE_MAX = 2048;
const ONLY_BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/;

const ONE_OF_THREE = 'send a JPEG, PNG or WebP image in base64, or its address';

/**
 * Decodes an image from one of an event's `images` and checks, by its bytes, that it is of a supported format and, by
 * its header, that its size is reasonable. Decoding and hashing 7 MB takes some 10 to 50 ms.
 * @param path of the value in the input, for messages
 * @returns null when the value is an address or another short text
 * @throws AppError `badRequest` for a value that appears to be an image and is not valid
 */
export function readImage(value: string, path: string): Picture | null {
  if (OTHER_FILE.test(value)) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
  if (!isImageData(value)) return null;
  const url = IMAGE_URL.exec(value);
  if (!url && DATA_URL.test(value)) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
  const bytes = decodeBase64(url ? value.slice(url[0].length) : value);
  if (!bytes) throw invalidInput(path, 'The image is not valid base64');
  return readPicture(bytes, path);
}

/**
 * Checks, by its bytes, that an image is of a supported format and, by its header, that its size is reasonable.
 * @param path of the image in the input, for messages
 * @throws AppError `badRequest`
 */
export function readPicture(bytes: Buffer, path: string): Picture {
  const mediaType = mediaTypeOf(bytes);
  if (!mediaType) throw invalidInput(path, `This is not an image: ${ONE_OF_THREE}`);
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

/** Whether the end of an image is missing. */
export function isTruncated({ bytes, mediaType }: Picture): boolean {
  return imageLengthOf(bytes, mediaType) === null;
}

/** @throws AppError `badRequest` for a text that is not an address */
export function requireAddress(value: string, path: string): void {
  if (!ADDRESS.test(value) || SCRIPT_URL.test(value)) throw invalidInput(path, NO_ADDRESS);
}

const SERVED = /^\/images\/([0-9a-f]{64})$/;

/** The address at which an image is served. */
export function addressOfImage(sha256: string): string {
  return `/images/${sha256}`;
}

/** The hashes of those of the addresses at which the service serves images. */
export function hashesOfServed(addresses: readonly string[]): string[] {
  return addresses.flatMap((address) => SERVED.exec(address)?.[1] ?? []);
}

function isImageData(value: string): boolean {
  return (
    DATA_URL.test(value) ||
    (IMAGE_BASE64.test(value) && (value.length > REFERENCE_MAX || ONLY_BASE64.test(value.trimEnd())))
  );
}

/** The bytes, or null if it is not valid base64: characters that Node skips change the length. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === Buffer.byteLength(text, 'base64')) return bytes;
  const dense = text.replace(/\s+/g, '');
  return dense.length < text.length ? decodeBase64(dense) : null;
}
