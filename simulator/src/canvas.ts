import { encodeJpeg } from './jpeg.ts';

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** A point in pixels from the top left corner. */
export type Point = readonly [x: number, y: number];

const GLYPH_WIDTH = 5;
/** Height of a letter, and from one letter to the next, in dots. */
export const GLYPH_HEIGHT = 7;
const ADVANCE = GLYPH_WIDTH + 1;

/** The letters of displays of 5 × 7 dots: a number for each column, whose lowest bit is the top row. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = Object.fromEntries(
  `-0808080808 .0060600000 /2010080402 ,0050300000 03e5149453e 100427f4000 24261514946 32141454b31 41814127f10
52745454539 63c4a494930 70171090503 83649494936 9064949291e :0036360000 @324979413e A7e1111117e B7f49494936
C3e41414122 D7f4141221c E7f49494941 F7f09090901 G3e4149497a H7f0808087f I00417f4100 J2040413f01 K7f08142241
L7f40404040 M7f020c027f N7f0408107f O3e4141413e P7f09090906 Q3e4151215e R7f09192946 S4649494931 T01017f0101
U3f4040403f V1f2040201f W3f4038403f X6314081463 Y0708700807 Z6151494543`
    .split(/\s+/)
    .map((glyph) => [
      glyph.charAt(0),
      glyph
        .slice(1)
        .match(/../g)
        ?.map((column) => Number.parseInt(column, 16)) ?? [],
    ]),
);

/** The width of a text in pixels, without the gap after it. @param dot the size of a dot in pixels */
export function textWidth(text: string, dot: number): number {
  return (text.length * ADVANCE - 1) * dot;
}

/** An image in memory on which simple shapes are drawn. What lies outside is not drawn. */
export class Canvas {
  readonly width: number;
  readonly height: number;
  readonly #pixels: Uint8ClampedArray<ArrayBuffer>;

  constructor(width: number, height: number, pixels = new Uint8ClampedArray(4 * width * height).fill(255)) {
    this.width = width;
    this.height = height;
    this.#pixels = pixels;
  }

  copy(): Canvas {
    return new Canvas(this.width, this.height, this.#pixels.slice());
  }

  /** Fills a rectangle. @param cover from 0 to 1: how much of what was there is covered */
  fill(left: number, top: number, width: number, height: number, colour: Colour, cover = 1): void {
    for (let y = top; y < top + height; y++) this.#fillRow(y, left, left + width, colour, cover);
  }

  /** Fills a convex or concave polygon, by its rows. */
  polygon(points: readonly Point[], colour: Colour, cover = 1): void {
    const rows = points.map(([, y]) => y);
    const first = Math.max(0, Math.ceil(Math.min(...rows)));
    for (let y = first; y < Math.min(this.height, Math.max(...rows)); y++) {
      const crossings: number[] = [];
      for (const [at, [x, top]] of points.entries()) {
        const [otherX, bottom] = points[(at + 1) % points.length] ?? [x, top];
        if (top <= y !== bottom <= y) crossings.push(x + ((y - top) / (bottom - top)) * (otherX - x));
      }
      crossings.sort((one, other) => one - other);
      for (let at = 0; at + 1 < crossings.length; at += 2)
        this.#fillRow(y, crossings[at] ?? 0, crossings[at + 1] ?? 0, colour, cover);
    }
  }

  ellipse(x: number, y: number, width: number, height: number, colour: Colour, cover = 1): void {
    for (let row = Math.ceil(y - height); row <= y + height; row++) {
      const half = width * Math.sqrt(Math.max(0, 1 - ((row - y) / height) ** 2));
      this.#fillRow(row, x - half, x + half, colour, cover);
    }
  }

  /** Light that fades from the centre. */
  glow(x: number, y: number, radius: number, colour: Colour, strength: number): void {
    for (let row = Math.ceil(y - radius); row <= y + radius; row++) {
      for (let column = Math.ceil(x - radius); column <= x + radius; column++) {
        const distance = Math.hypot(column - x, row - y) / radius;
        if (distance < 1) this.#fillRow(row, column, column + 1, colour, strength * (1 - distance) ** 2);
      }
    }
  }

  /** Writes capital letters, digits and a few signs; others are left blank. @param dot the size of a dot in pixels */
  write(text: string, left: number, top: number, dot: number, colour: Colour): void {
    for (const [place, letter] of [...text.toUpperCase()].entries()) {
      for (const [column, bits] of (GLYPHS[letter] ?? []).entries()) {
        for (let row = 0; row < GLYPH_HEIGHT; row++) {
          if (bits & (1 << row))
            this.fill(left + (place * ADVANCE + column) * dot, top + row * dot, dot, dot, colour);
        }
      }
    }
  }

  /** Adds the noise of a sensor. @param noise is added to pixels one after another, again and again */
  grain(noise: Int8Array, from: number): void {
    for (let at = 0; at < this.#pixels.length; at += 4) {
      const more = noise[(from + at / 4) % noise.length] ?? 0;
      for (let part = at; part < at + 3; part++) this.#pixels[part] = (this.#pixels[part] ?? 0) + more;
    }
  }

  /** The image as JPEG. @param quality from 1 to 100 */
  jpeg(quality: number): Buffer {
    return encodeJpeg(this.#pixels, this.width, this.height, quality);
  }

  #fillRow(y: number, left: number, right: number, [red, green, blue]: Colour, cover: number): void {
    const row = Math.round(y);
    if (row < 0 || row >= this.height) return;
    const end = 4 * (row * this.width + Math.min(this.width, Math.round(right)));
    for (let at = 4 * (row * this.width + Math.max(0, Math.round(left))); at < end; at += 4) {
      this.#pixels[at] = red * cover + (this.#pixels[at] ?? 0) * (1 - cover);
      this.#pixels[at + 1] = green * cover + (this.#pixels[at + 1] ?? 0) * (1 - cover);
      this.#pixels[at + 2] = blue * cover + (this.#pixels[at + 2] ?? 0) * (1 - cover);
    }
  }
}
