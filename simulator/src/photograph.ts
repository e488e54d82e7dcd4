import { encode } from 'jpeg-js';
import { createRandom, type Random } from './random.ts';

const WIDTH = 96;
const HEIGHT = 54;
/** Pixels of the file for each of the drawing, so that its edges stay sharp on a page. */
const SCALE = 3;
const QUALITY = 50;

type Colour = readonly [red: number, green: number, blue: number];
const SKY: Colour = [168, 190, 210];
const ROAD: Colour = [74, 74, 78];
const LINE: Colour = [220, 220, 210];
const GLASS: Colour = [40, 52, 64];
const PLATE: Colour = [245, 240, 200];
const TYRE: Colour = [22, 22, 24];
const LIGHT: Colour = [214, 60, 50];
const PAINTS = [
  [180, 30, 34],
  [30, 60, 140],
  [225, 225, 228],
  [28, 28, 30],
  [120, 124, 128],
] as const satisfies readonly Colour[];

/** Number of different drawings, which are cached: compressing one takes some 50 ms. */
const DRAWINGS = 24;
const drawn = new Map<number, Buffer>();

/**
 * An image of a vehicle as a JPEG in a data: URL of some 4 KB. The same random source gives the same file; otherwise a
 * random comment in the file makes it different even if the drawing is the same.
 */
export function photograph(random: Random): string {
  const jpeg = drawing(random.whole(1, DRAWINGS));
  const note = Buffer.from(`frame ${random.whole(0, 2 ** 40)}`);
  const comment = Buffer.from([0xff, 0xfe, 0, note.length + 2, ...note]);
  const bytes = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]);
  return `data:image/jpeg;base64,${bytes.toString('base64')}`;
}

/** Fills a rectangle of the drawing, clipped at its right and bottom edges. A pixel of the file is one number. */
function paint(
  pixels: Uint32Array,
  left: number,
  top: number,
  width: number,
  height: number,
  colour: Colour,
) {
  const [red, green, blue] = colour;
  const pixel = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const right = SCALE * Math.min(WIDTH, left + width);
  for (let y = SCALE * top; y < SCALE * Math.min(HEIGHT, top + height); y++)
    pixels.fill(pixel, y * SCALE * WIDTH + SCALE * left, y * SCALE * WIDTH + right);
}

/** A small drawing of a vehicle on a road. */
function draw(random: Random): Buffer {
  const pixels = new Uint32Array(SCALE ** 2 * WIDTH * HEIGHT);
  const horizon = random.whole(12, 20);
  paint(pixels, 0, 0, WIDTH, HEIGHT, ROAD);
  paint(pixels, 0, 0, WIDTH, horizon, SKY);
  for (let y = horizon + random.whole(1, 5); y < HEIGHT; y += 11) paint(pixels, 46, y, 2, 5, LINE);
  const [left, top, width] = [random.whole(5, 52), random.whole(20, 28), random.whole(24, 36)];
  for (const wheel of [left + 2, left + width - 7]) paint(pixels, wheel, top + 18, 5, 4, TYRE);
  const colour = random.pick(PAINTS);
  paint(pixels, left + 3, top, width - 6, 9, colour);
  paint(pixels, left, top + 8, width, 11, colour);
  paint(pixels, left + 5, top + 2, width - 10, 6, GLASS);
  for (const light of [left, left + width - 4]) paint(pixels, light, top + 11, 4, 2, LIGHT);
  paint(pixels, left + (width >> 1) - 5, top + 13, 10, 3, PLATE);
  return encode({ data: Buffer.from(pixels.buffer), width: SCALE * WIDTH, height: SCALE * HEIGHT }, QUALITY)
    .data;
}

function drawing(number: number): Buffer {
  const known = drawn.get(number);
  if (known) return known;
  const made = draw(createRandom(number));
  drawn.set(number, made);
  return made;
}
