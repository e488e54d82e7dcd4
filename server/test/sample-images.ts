import { open } from 'node:fs/promises';
import { deflateSync, crc32 as zlibCrc32 } from 'node:zlib';
import type { Gantry } from './harness.ts';

// Small real images, made by hand so that the size in their header can be wrong.

const CRC_TABLE = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc32 = (bytes: Buffer): number => {
  if (typeof zlibCrc32 === 'function') return zlibCrc32(bytes);
  let c = 0xffffffff;
  for (const byte of bytes) c = (CRC_TABLE[(c ^ byte) & 0xff] ?? 0) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};

/** A chunk of a PNG. */
export const pngChunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A grey PNG of one pixel that claims this size; each shade is a different file. */
export const png = ({ width = 1, height = 1, shade = 0 } = {}): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const note = pngChunk('tEXt', Buffer.from(`shade\0${shade}`, 'latin1'));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    note,
    pngChunk('IDAT', deflateSync(Buffer.from([0, shade % 256]))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
};

/** A segment of a JPEG. */
export const jpegSegment = (marker: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};

/** The headers of a JPEG of this size, with a comment of the given number of bytes, and the end. */
export const jpeg = ({ width = 2, height = 2, comment = 'x', frame = 0xc0 } = {}): Buffer => {
  const sof = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  sof.writeUInt16BE(height, 1);
  sof.writeUInt16BE(width, 3);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    jpegSegment(0xfe, Buffer.from(comment)),
    jpegSegment(frame, sof),
    jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0, 0xff, 0xd9]),
  ]);
};

/** The header of a lossless WebP of this size. */
export const webp = ({ width = 3, height = 3 } = {}): Buffer => {
  const bits = Buffer.alloc(4);
  bits.writeUInt32LE((((height - 1) << 14) | (width - 1)) >>> 0);
  const data = Buffer.concat([Buffer.from([0x2f]), bits, Buffer.alloc(5)]);
  const head = Buffer.alloc(20);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(12 + data.length, 4);
  head.write('WEBPVP8L', 8, 'latin1');
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, data]);
};

/** A chunk of a WebP. */
export const webpChunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};

/** A WebP of these chunks. */
export const webpOf = (chunks: readonly Buffer[]): Buffer => {
  const content = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks]);
  return webpChunk('RIFF', content);
};

/** A WebP of 16 × 8 pixels with transparency, as Chromium makes it from a canvas, without its ICC profile. */
export const LOSSY_WEBP = Buffer.from(
  'UklGRmwAAABXRUJQVlA4WAoAAAAQAAAADwAABwAAQUxQSBUAAAABDzCAERFCQds2TPmT/huGiP4nHwwAVlA4IDAAAA' +
    'CwAQCdASoQAAgAAsBMJZwAAcuBohRAAP7vi+cRmiBZFlb1tpgj4se2PKP/3BQAAAA=',
  'base64',
);
/** The same, lossless and opaque. */
export const LOSSLESS_WEBP = Buffer.from(
  'UklGRgIBAABXRUJQVlA4WAoAAAAAAAAADwAABwAAVlA4TOMAAAAvD8ABAJ/CoG0jSYnULJflD/EeDGbato0lRzoMM5' +
    'C2baxlvajPfx3u/3NnRdFSQbXUgBQrCMGKag1IsQakqCBWBKgaEOJpWkSINSDBNiDBFsEKQtQGtEaEaKmgalB/qQDx' +
    'UiuoGlAb1crZ2QYOAwAgk9m2zWzb5v/X1BER/W8CAKMUp5pBVGn0BrPVCURwRtLcMKu2++P5/gxhBK9YXlw2O8Pp+n' +
    'BDcEbQnTCttfuj5fZ8/93wo0r979cXTkuaE+a1dn+82J0fb5KXLT8pmt3hZH28PT+sqNlhVmv1x4vN5fH+AgA=',
  'base64',
);

export const dataUrl = (bytes: Buffer, type: string): string =>
  `data:${type};base64,${bytes.toString('base64')}`;

/**
 * Replaces the stored bytes of an image. In a segment they keep their length: what is longer is cut, and zeros take the place
 * of what is missing.
 * @param bytes null for none
 */
export async function damageStored(
  { app }: Pick<Gantry, 'app'>,
  sha256: string,
  bytes: Buffer | null,
): Promise<void> {
  const { images } = app.context;
  const image = await images.find(sha256);
  if (!image) throw new Error('The image is not stored');
  if (image.segment === null || image.position === null) {
    await images.files.blobs.delete(sha256);
    if (bytes) await images.files.blobs.put(sha256, bytes);
    return;
  }
  const content = Buffer.alloc(image.bytes);
  bytes?.copy(content);
  const file = await open(images.files.segments.pathOf(image.segment), 'r+');
  await file.write(content, 0, content.length, image.position);
  await file.close();
}
