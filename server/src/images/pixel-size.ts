import { PNG } from 'image-size/types/png';
import { WEBP } from 'image-size/types/webp';

/** Width and height in pixels. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

export type MediaType = 'image/jpeg' | 'image/png' | 'image/webp';

/** Up to here all that a PNG or a WebP says of its size has been said. */
const HEADER_BYTES = 64;

/** Where the picture's data begins: a frame header comes before it. */
const SCAN = 0xda;

interface Format {
  readonly mediaType: MediaType;
  readonly begins: (bytes: Buffer) => boolean;
  readonly size: (bytes: Buffer) => PixelSize | null;
}

const FORMATS: readonly Format[] = [
  {
    mediaType: 'image/jpeg',
    begins: (bytes) => bytes.length > 3 && bytes.readUIntBE(0, 3) === 0xffd8ff,
    size: jpegSize,
  },
  {
    mediaType: 'image/png',
    begins: (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
    size: (bytes) => headerSize(PNG, bytes),
  },
  {
    mediaType: 'image/webp',
    begins: (bytes) =>
      bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
      bytes.subarray(8, 12).toString('latin1') === 'WEBP',
    size: (bytes) => (isWholeRiff(bytes) ? headerSize(WEBP, bytes) : null),
  },
];

/** What a file is by its first bytes; null when it is none of the formats that are kept. */
export function mediaTypeOf(bytes: Buffer): MediaType | null {
  return FORMATS.find(({ begins }) => begins(bytes))?.mediaType ?? null;
}

/** The size that the header of a picture names, without decoding the picture; null when the header is broken. */
export function pixelSizeOf(bytes: Buffer, mediaType: MediaType): PixelSize | null {
  const size = FORMATS.find((format) => format.mediaType === mediaType)?.size(bytes) ?? null;
  return size !== null && size.width >= 1 && size.height >= 1
    ? { width: size.width, height: size.height }
    : null;
}

/** The frame headers of JPEG (ITU-T T.81, table B.1): SOF0 to SOF15 without the tables DHT, JPG and DAC among them. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

/**
 * The size that a JPEG names in its frame header; null when there is none where one has to be. Read strictly from segment to
 * segment: a search for the marker would take a second of a hostile file, and find it where no decoder looks.
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

function headerSize(format: typeof PNG, bytes: Buffer): PixelSize | null {
  // Copied, because they read on in the memory behind a view that is too short.
  const header = Uint8Array.from(bytes.subarray(0, HEADER_BYTES));
  try {
    return format.validate(header) ? format.calculate(header) : null;
  } catch {
    // It throws of its own accord and of the buffer's when the header is not what it must be.
    return null;
  }
}

/** Whether the file is as long as it says, and holds the header of its first chunk. */
function isWholeRiff(bytes: Buffer): boolean {
  return bytes.length > 25 && bytes.readUInt32LE(4) + 8 <= bytes.length;
}
