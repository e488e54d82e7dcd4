import { hash } from 'node:crypto';
import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';

/** Width and height in pixels. */
interface PixelSize {
  readonly width: number;
  readonly height: number;
}

export type MediaType = 'image/jpeg' | 'image/png' | 'image/webp';

/** An image that a device sent, after validation. */
export interface ReceivedImage extends PixelSize {
  /** SHA-256 of its bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  readonly mediaType: MediaType;
  readonly bytes: Buffer;
}

/** Maximum size of an image, in pixels. An image of this size takes 200 MB when decoded. */
const MAX_PIXELS = 50_000_000;
const MAX_SIDE = 20_000;

export const NOT_AN_IMAGE = 'This is not an image: send a JPEG, PNG or WebP image in base64, or its address';

/** Contains everything that a PNG or WebP file states about its size. */
const HEADER_BYTES = 64;

/** Start of the image data, which follows the frame header. */
const SCAN = 0xda;

const END_OF_JPEG = Buffer.from([0xff, 0xd9]);

/** The chunk IEND with its check sum. */
const END_OF_PNG = Buffer.from('IEND\xaeB`\x82', 'latin1');

interface ImageFormat {
  readonly mediaType: MediaType;
  readonly begins: (bytes: Buffer) => boolean;
  readonly size: (bytes: Buffer) => PixelSize | null;
  /** The length of the file in bytes, which may be followed by other data; null when its end is missing. */
  readonly length: (bytes: Buffer) => number | null;
}

const FORMATS: readonly ImageFormat[] = [
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

/**
 * Checks, by its bytes, that an image is of a supported format and, by its header, that its size is reasonable. Hashing
 * 7 MB takes some 10 ms.
 * @returns the image, or why it cannot be used, as a sentence
 */
export function readImageBytes(bytes: Buffer): ReceivedImage | { readonly refusal: string } {
  const mediaType = mediaTypeOf(bytes);
  if (!mediaType) return { refusal: NOT_AN_IMAGE };
  const size = pixelSizeOf(bytes, mediaType);
  if (!size) return { refusal: 'The image is damaged or incomplete: its header does not contain its size' };
  const { width, height } = size;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) {
    return {
      refusal: `The image has ${width} × ${height} pixels: send at most ${MAX_PIXELS / 1e6} million, and ${MAX_SIDE} per side`,
    };
  }
  return { sha256: hash('sha256', bytes, 'hex'), mediaType, width, height, bytes };
}

/** Whether the end of an image is missing. */
export function isTruncated({ bytes, mediaType }: Pick<ReceivedImage, 'bytes' | 'mediaType'>): boolean {
  return imageLengthOf(bytes, mediaType) === null;
}

/** The address at which an image is served. */
export function imageUrl(sha256: string): string {
  return `/images/${sha256}`;
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
