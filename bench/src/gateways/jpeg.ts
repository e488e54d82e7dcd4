import { randomBytes } from 'node:crypto';

const WIDTH = 1920;
const HEIGHT = 1080;

/** The offset of the number of an image in the file: after the SOI marker, and the marker and length of the comment. */
const NUMBER_AT = 6;
const NUMBER_LENGTH = 16;

const segment = (marker: number, content: readonly number[] | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 0xff]),
    Buffer.from(content),
  ]);

/** A file with the structure of a JPEG of 1920 × 1080 pixels. Its content is random, because nothing decodes it. */
export function makeJpeg(bytes: number): Buffer {
  const beginning = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xfe, Buffer.alloc(NUMBER_LENGTH, '0')),
    segment(0xc0, [8, HEIGHT >> 8, HEIGHT & 0xff, WIDTH >> 8, WIDTH & 0xff, 1, 1, 0x11, 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
  ]);
  // Without 0xff, so that the scan contains no marker.
  const scan = randomBytes(Math.max(0, bytes - beginning.length - 2)).map((byte) => byte % 0xff);
  return Buffer.concat([beginning, scan, Buffer.from([0xff, 0xd9])]);
}

/** Writes a number into the comment of a JPEG made by `makeJpeg`, so that it counts as another image. */
export function numberJpeg(jpeg: Buffer, number: number): void {
  jpeg.write(String(number).padStart(NUMBER_LENGTH, '0'), NUMBER_AT, 'latin1');
}
