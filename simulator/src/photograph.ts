import { encode } from 'jpeg-js';
import { createRandom, type Random } from './random.ts';

const WIDTH = 96;
const HEIGHT = 54;
const QUALITY = 50;

type Colour = readonly [red: number, green: number, blue: number];
const SKY: Colour = [168, 190, 210];
const ROAD: Colour = [74, 74, 78];
const LINE: Colour = [220, 220, 210];
const GLASS: Colour = [40, 52, 64];
const PLATE: Colour = [245, 240, 200];
const PAINTS = [
  [180, 30, 34],
  [30, 60, 140],
  [225, 225, 228],
  [28, 28, 30],
  [120, 124, 128],
] as const satisfies readonly Colour[];

/** Number of different drawings, which are cached: compressing one takes 20 ms, most of it for the setup of the encoder. */
const DRAWINGS = 24;
const drawn = new Map<number, Buffer>();

/**
 * An image of a vehicle as a JPEG in a data: URL of some 2 KB. The same random source gives the same file; otherwise a
 * random comment in the file makes it different even if the drawing is the same.
 */
export function photograph(random: Random): string {
  const jpeg = drawing(random.whole(1, DRAWINGS));
  const note = Buffer.from(`frame ${random.whole(0, 2 ** 40)}`);
  const comment = Buffer.from([0xff, 0xfe, 0, note.length + 2, ...note]);
  const bytes = Buffer.concat([jpeg.subarray(0, 2), comment, jpeg.subarray(2)]);
  return `data:image/jpeg;base64,${bytes.toString('base64')}`;
}

/** Fills a rectangle, clipped at the right and bottom edges of the image. A pixel is one number. */
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
  const right = Math.min(WIDTH, left + width);
  for (let y = top; y < Math.min(HEIGHT, top + height); y++)
    pixels.fill(pixel, y * WIDTH + left, y * WIDTH + right);
}

/** A small drawing of a vehicle on a road. */
function draw(random: Random): Buffer {
  const pixels = new Uint32Array(WIDTH * HEIGHT);
  const horizon = random.whole(12, 20);
  paint(pixels, 0, 0, WIDTH, HEIGHT, ROAD);
  paint(pixels, 0, 0, WIDTH, horizon, SKY);
  for (let y = horizon + random.whole(1, 5); y < HEIGHT; y += 11) paint(pixels, 46, y, 2, 5, LINE);
  const [left, top, width] = [random.whole(5, 52), random.whole(20, 28), random.whole(24, 36)];
  paint(pixels, left, top, width, 19, random.pick(PAINTS));
  paint(pixels, left + 3, top + 2, width - 6, 6, GLASS);
  paint(pixels, left + (width >> 1) - 5, top + 13, 10, 3, PLATE);
  return encode({ data: Buffer.from(pixels.buffer), width: WIDTH, height: HEIGHT }, QUALITY).data;
}

function drawing(number: number): Buffer {
  const known = drawn.get(number);
  if (known) return known;
  const made = draw(createRandom(number));
  drawn.set(number, made);
  return made;
}
