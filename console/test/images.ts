import { crc32, deflateSync } from 'node:zlib';

type Color = readonly [red: number, green: number, blue: number];

/** A PNG image, in base64. @param colorAt the color of a pixel, by its column and row */
export function png(
  { width, height }: { readonly width: number; readonly height: number },
  colorAt: (x: number, y: number) => Color,
): string {
  const chunk = (type: string, content: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), content]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each of red, green and blue.
  header.set([8, 2], 8);
  const rows = Array.from({ length: height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: width }, (__, x) => colorAt(x, y)).flat()]),
  );
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

/** An image of a road and the sky, as a BMP of the size of a photo from a phone, unless `width` is given. */
export function photo(name: string, shade = 90, width = 2_200) {
  const height = width / 2;
  const header = Buffer.alloc(54);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(54 + width * height * 3, 2);
  header.writeUInt32LE(54, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  const road = Buffer.alloc(width * height * 0.6 * 3, shade);
  const sky = Buffer.alloc(width * height * 0.4 * 3, 200);
  return { name, mimeType: 'image/bmp', buffer: Buffer.concat([header, road, sky]) };
}
