import { Canvas, type Colour, GLYPH_HEIGHT, type Point, textWidth } from './canvas.ts';
import type { EventInput } from './event.ts';
import { isFreeway, mphOf, TIME_ZONE } from './places.ts';
import { createRandom, type Random, seedOf } from './random.ts';
import type { VirtualSensor } from './sensor.ts';

/** The size of an image in pixels. */
export const WIDTH = 512;
export const HEIGHT = 288;
const QUALITY = 55;
const HORIZON = 84;
const BAR = 40;

const WHITE: Colour = [245, 245, 240];
const BLACK: Colour = [12, 12, 14];
const TYRE: Colour = [24, 24, 26];
const GLASS: Colour = [44, 56, 68];
const MARKING: Colour = [214, 212, 200];
const TAIL_LIGHT: Colour = [196, 38, 34];

/** Paints of vehicles; the most frequent ones are listed more than once. */
const PAINTS = [
  [228, 228, 226],
  [228, 228, 226],
  [36, 37, 40],
  [36, 37, 40],
  [128, 132, 136],
  [128, 132, 136],
  [176, 180, 182],
  [150, 28, 32],
  [34, 62, 128],
  [52, 84, 66],
  [146, 118, 84],
] as const satisfies readonly Colour[];

/** What is to be seen of an event. */
export interface Exposure {
  readonly sensor: Pick<VirtualSensor, 'deviceId' | 'place'>;
  /** Unix milliseconds. */
  readonly at: number;
  readonly event: EventInput;
}

/**
 * What a camera beside the road would have taken of an event, as a JPEG in a data: URL of some 20 KB: the vehicle with its class and plate
 * in its lane, by day, at dusk or by night, with a caption. The same event and random source give the same file.
 */
export function photograph(exposure: Exposure, random: Random): string {
  const { sensor, at, event } = exposure;
  const light = lightAt(at);
  const canvas = sceneOf(sensor.place, light).copy();
  if (event.eventType === 'INCIDENT') drawIncident(canvas, light, random);
  else drawVehicle(canvas, vehicleIn(event, random), light);
  canvas.grain(NOISE[light], random.whole(0, NOISE_PIXELS));
  drawCaption(canvas, exposure);
  return `data:image/jpeg;base64,${canvas.jpeg(QUALITY).toString('base64')}`;
}

type Light = 'day' | 'dusk' | 'night';

const HOUR = new Intl.DateTimeFormat('en-US', { timeZone: TIME_ZONE, hour: '2-digit', hourCycle: 'h23' });

/** The light at a time (Unix milliseconds) where the places are. */
function lightAt(at: number): Light {
  const hour = Number(HOUR.format(at));
  if (hour < 6 || hour >= 20) return 'night';
  return hour === 6 || hour === 19 ? 'dusk' : 'day';
}

const SKIES: Readonly<Record<Light, readonly [top: Colour, bottom: Colour]>> = {
  day: [
    [132, 168, 206],
    [206, 218, 226],
  ],
  dusk: [
    [66, 76, 112],
    [220, 150, 104],
  ],
  night: [
    [10, 13, 24],
    [32, 36, 50],
  ],
};
/** How bright the scene is in each light, by red, green and blue. */
const BRIGHTNESS: Readonly<Record<Light, Colour>> = {
  day: [1, 1, 1],
  dusk: [0.68, 0.6, 0.62],
  night: [0.24, 0.25, 0.31],
};

const lit = (colour: Colour, light: Light): Colour => {
  const [red, green, blue] = BRIGHTNESS[light];
  return [colour[0] * red, colour[1] * green, colour[2] * blue];
};
const between = (one: Colour, other: Colour, share: number): Colour => [
  one[0] + (other[0] - one[0]) * share,
  one[1] + (other[1] - one[1]) * share,
  one[2] + (other[2] - one[2]) * share,
];
const shaded = (colour: Colour, factor: number): Colour => [
  colour[0] * factor,
  colour[1] * factor,
  colour[2] * factor,
];

/** The noise of the sensor, which is stronger in the dark. */
const NOISE_PIXELS = 65_536;
const noiseOf = (strength: number): Int8Array => {
  const random = createRandom(0x90153);
  return Int8Array.from({ length: NOISE_PIXELS }, () => Math.round(random.normal(0, strength)));
};
const NOISE: Readonly<Record<Light, Int8Array>> = { day: noiseOf(2), dusk: noiseOf(3), night: noiseOf(4) };

/** The x of the road at a height of the image. @param across from -1, the left edge, to 1, the right one */
function onRoad(across: number, y: number): number {
  const nearness = (y - HORIZON) / (HEIGHT - HORIZON);
  return WIDTH / 2 + 18 * (1 - nearness) + across * (16 + 300 * nearness);
}

const scenes = new Map<string, Canvas>();

/** The view of the camera at a place without vehicles; drawn once for each light. */
function sceneOf(place: VirtualSensor['place'], light: Light): Canvas {
  const key = `${place.name} ${light}`;
  const known = scenes.get(key);
  if (known) return known;
  const made = drawScene(place, light);
  scenes.set(key, made);
  return made;
}

function drawScene(place: VirtualSensor['place'], light: Light): Canvas {
  const random = createRandom(seedOf(place.name));
  const canvas = new Canvas(WIDTH, HEIGHT);
  const [top, bottom] = SKIES[light];
  for (let y = 0; y < HORIZON; y++) canvas.fill(0, y, WIDTH, 1, between(top, bottom, y / HORIZON));
  const freeway = isFreeway(place);
  canvas.fill(0, HORIZON, WIDTH, HEIGHT - HORIZON, lit([98, 118, 74], light));
  drawBackdrop(canvas, light, random, freeway);
  const edge = (across: number): readonly Point[] => [
    [onRoad(-across, HORIZON), HORIZON],
    [onRoad(across, HORIZON), HORIZON],
    [onRoad(across, HEIGHT), HEIGHT],
    [onRoad(-across, HEIGHT), HEIGHT],
  ];
  canvas.polygon(edge(1.16), lit(freeway ? [128, 126, 120] : [164, 160, 150], light));
  canvas.polygon(edge(1), lit([88, 88, 92], light));
  drawMarkings(canvas, light, freeway);
  if (light === 'night') drawLamps(canvas, random);
  return canvas;
}

/** Trees beside a freeway, houses and trees beside other roads. */
function drawBackdrop(canvas: Canvas, light: Light, random: Random, freeway: boolean): void {
  for (let x = -20; x < WIDTH + 20; x += random.whole(14, 26)) {
    const nearRoad = Math.abs(x - WIDTH / 2) < 50;
    if (!freeway && !nearRoad && random.chance(0.35)) {
      const [width, height] = [random.whole(30, 64), random.whole(24, 58)];
      const wall: Colour = random.pick([
        [158, 120, 100],
        [182, 176, 164],
        [136, 140, 148],
      ]);
      canvas.fill(x, HORIZON - height, width, height + 4, lit(wall, light));
      for (let row = HORIZON - height + 5; row < HORIZON - 6; row += 11) {
        for (let column = x + 4; column < x + width - 5; column += 10) {
          const isBright = light !== 'day' && random.chance(0.4);
          canvas.fill(column, row, 5, 6, isBright ? [232, 200, 120] : lit([60, 68, 78], light));
        }
      }
    } else {
      const size = nearRoad ? random.whole(5, 9) : random.whole(12, 26);
      const green: Colour = [52 + random.whole(0, 20), 78 + random.whole(0, 24), 48];
      canvas.ellipse(x, HORIZON - size * 0.6, size, size, lit(green, light));
    }
  }
}

function drawMarkings(canvas: Canvas, light: Light, freeway: boolean): void {
  const paint = lit(MARKING, light);
  const stripe = (across: number, from: number, to: number, colour: Colour): void => {
    const half = (y: number): number => 0.4 + 3 * ((y - HORIZON) / (HEIGHT - HORIZON));
    canvas.polygon(
      [
        [onRoad(across, from) - half(from), from],
        [onRoad(across, from) + half(from), from],
        [onRoad(across, to) + half(to), to],
        [onRoad(across, to) - half(to), to],
      ],
      colour,
    );
  };
  for (const across of [-0.95, 0.95]) stripe(across, HORIZON, HEIGHT, paint);
  const middle: Colour = freeway ? paint : lit([214, 176, 58], light);
  if (!freeway) stripe(-0.02, HORIZON, HEIGHT, middle);
  // Dashes of equal length on the road become shorter towards the horizon.
  for (let distance = 1; distance < 26; distance += 2) {
    const place = (way: number): number => HORIZON + (HEIGHT - HORIZON) / way;
    for (const across of freeway ? [-0.33, 0.33] : [-0.5, 0.5])
      stripe(across, place(distance + 1), place(distance), paint);
  }
}

function drawLamps(canvas: Canvas, random: Random): void {
  for (const [across, y] of [
    [-1.5, 104],
    [1.5, 118],
    [-1.6, 150],
  ] as const) {
    const x = onRoad(across, y);
    const height = (y - HORIZON) * 1.6 + 20;
    canvas.fill(x, y - height, 2, height, [38, 38, 42]);
    canvas.glow(x, y - height, random.whole(24, 34), [255, 214, 150], 0.8);
  }
}

/** A vehicle as seen from behind or from the front. Sizes are relative to the width of a car. */
interface Body {
  readonly width: number;
  readonly height: number;
  /** How much of the height the roof and windows are, and how much narrower the roof is. */
  readonly cabin: number;
  readonly taper: number;
  readonly ground: number;
}

const BODIES: Readonly<Record<string, Body>> = {
  CAR: { width: 1, height: 0.74, cabin: 0.44, taper: 0.15, ground: 0.1 },
  SUV: { width: 1.06, height: 0.94, cabin: 0.45, taper: 0.1, ground: 0.13 },
  VAN: { width: 1.08, height: 1.1, cabin: 0.5, taper: 0.06, ground: 0.11 },
  TRUCK: { width: 1.25, height: 1.5, cabin: 0, taper: 0, ground: 0.2 },
  BUS: { width: 1.3, height: 1.55, cabin: 0.5, taper: 0.02, ground: 0.14 },
  MOTORCYCLE: { width: 0.34, height: 0.62, cabin: 0, taper: 0, ground: 0.08 },
};

interface Seen {
  readonly type: string;
  readonly plate: string | null;
  readonly paint: Colour;
  /** From -1 to 1 across the road. */
  readonly across: number;
  /** Whether the front is to be seen. */
  readonly comes: boolean;
  /** The lowest row of the vehicle. */
  readonly y: number;
}

function vehicleIn(
  { vehicleType, licensePlateNumber, lane, direction, violationType }: EventInput,
  random: Random,
): Seen {
  const plate = licensePlateNumber ?? null;
  const type = String(vehicleType ?? 'CAR');
  const isLeft = direction === 'SB' || direction === 'WB';
  const wrong = violationType === 'WRONG_WAY';
  const inLane = lane === 2 ? 0.24 : 0.62;
  const parked = violationType === 'ILLEGAL_PARKING' ? 0.92 : inLane;
  return {
    type,
    plate,
    // A vehicle has one colour wherever it is seen.
    paint:
      type === 'BUS' ? [224, 176, 52] : createRandom(seedOf(plate ?? String(random.next()))).pick(PAINTS),
    across: (isLeft ? -parked : parked) * 0.86,
    comes: isLeft !== wrong,
    y: random.whole(206, 226),
  };
}

function drawVehicle(canvas: Canvas, seen: Seen, light: Light): void {
  const { type, across, y, comes, paint, plate } = seen;
  const body = BODIES[type] ?? BODIES.CAR;
  if (!body) return;
  const unit = 78 + (y - 200) * 0.9;
  const [width, height] = [unit * 1.5 * body.width, unit * 1.5 * body.height];
  const x = onRoad(across, y);
  const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height, y - height * body.ground];
  const colour = lit(paint, light === 'night' ? 'dusk' : light);
  canvas.ellipse(x, y, width * 0.56, height * 0.07, BLACK, 0.55);
  for (const wheel of type === 'MOTORCYCLE' ? [x - width * 0.2] : [left + width * 0.04, right - width * 0.2])
    canvas.fill(wheel, y - height * 0.22, width * (type === 'MOTORCYCLE' ? 0.4 : 0.16), height * 0.22, TYRE);
  const waist = top + height * body.cabin;
  canvas.polygon(bowed(left, right, waist, bottom), colour);
  canvas.fill(left + 2, bottom - height * 0.1, width - 4, height * 0.1, shaded(colour, 0.6));
  if (body.cabin > 0) drawCabin(canvas, { left, right, top, waist }, body, colour, light);
  if (type === 'TRUCK') canvas.fill(left + 4, top + 4, width - 8, height * 0.55, shaded(colour, 0.92));
  if (type === 'MOTORCYCLE') canvas.ellipse(x, top + 6, width * 0.5, height * 0.24, [40, 42, 48]);
  drawLights(
    canvas,
    { left, right, row: (waist + bottom) / 2 - height * 0.08, size: height * 0.09 },
    comes,
    light,
  );
  drawPlate(canvas, x, bottom - height * 0.13, plate, type);
}

/** A body whose lower edge is narrower. */
function bowed(left: number, right: number, top: number, bottom: number): readonly Point[] {
  const inset = (right - left) * 0.03;
  return [
    [left + inset, top],
    [right - inset, top],
    [right, top + (bottom - top) * 0.35],
    [right - inset, bottom],
    [left + inset, bottom],
    [left, top + (bottom - top) * 0.35],
  ];
}

interface Cabin {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly waist: number;
}

function drawCabin(
  canvas: Canvas,
  { left, right, top, waist }: Cabin,
  { taper }: Body,
  colour: Colour,
  light: Light,
): void {
  const inset = (right - left) * taper;
  const shape = (margin: number): readonly Point[] => [
    [left + inset + margin, top + margin * 0.7],
    [right - inset - margin, top + margin * 0.7],
    [right - margin * 1.4, waist + 1],
    [left + margin * 1.4, waist + 1],
  ];
  canvas.polygon(shape(0), shaded(colour, 0.94));
  const margin = (right - left) * 0.05;
  canvas.polygon(shape(margin), lit(GLASS, light));
  // A reflection of the sky.
  const [x, y] = [left + inset + margin, top + margin * 0.7];
  canvas.polygon(
    [
      [x + margin, y + 2],
      [x + margin * 4, y + 2],
      [x + margin * 2.4, waist - 2],
      [x + margin * 0.4, waist - 2],
    ],
    SKIES[light][1],
    0.22,
  );
}

interface Lights {
  readonly left: number;
  readonly right: number;
  readonly row: number;
  readonly size: number;
}

function drawLights(canvas: Canvas, { left, right, row, size }: Lights, comes: boolean, light: Light): void {
  const colour = comes ? WHITE : TAIL_LIGHT;
  const inset = (right - left) * 0.05;
  for (const x of [left + inset, right - inset - size * 1.6]) {
    canvas.fill(x, row, size * 1.6, size, colour);
    if (light !== 'day') canvas.glow(x + size * 0.8, row + size / 2, size * (comes ? 4 : 2.6), colour, 0.75);
  }
}

/** The plate; bars where none was read, as in the original of a plate that cannot be made out. */
function drawPlate(canvas: Canvas, x: number, y: number, plate: string | null, type: string): void {
  const dot = type === 'MOTORCYCLE' ? 1 : 2;
  const text = plate ?? '       ';
  const width = textWidth(text, dot);
  const [left, top] = [Math.round(x - width / 2), Math.round(y - (GLYPH_HEIGHT * dot) / 2)];
  // Plates reflect the flash, so they are bright by night, too.
  canvas.fill(left - 5, top - 4, width + 10, GLYPH_HEIGHT * dot + 8, shaded(WHITE, 0.55));
  canvas.fill(left - 4, top - 3, width + 8, GLYPH_HEIGHT * dot + 6, WHITE);
  if (plate === null) canvas.fill(left, top + dot, width, GLYPH_HEIGHT * dot - 2 * dot, [150, 150, 150], 0.7);
  else canvas.write(plate, left, top, dot, BLACK);
}

/** A stopped vehicle and a lorry of the road service with its light, in the distance. */
function drawIncident(canvas: Canvas, light: Light, random: Random): void {
  const paint = random.pick(PAINTS);
  drawVehicle(canvas, { type: 'CAR', plate: null, paint, across: 0.55, comes: false, y: 212 }, light);
  const x = onRoad(0.15, 178);
  for (const [offset, y] of [
    [-26, 232],
    [4, 238],
    [36, 232],
  ] as const) {
    canvas.polygon(
      [
        [x + offset, y - 22],
        [x + offset + 8, y],
        [x + offset - 8, y],
      ],
      lit([232, 104, 30], light === 'night' ? 'dusk' : light),
    );
    canvas.fill(x + offset - 4, y - 12, 8, 4, WHITE);
  }
}

const TIME = new Intl.DateTimeFormat('en-US', {
  timeZone: TIME_ZONE,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** Where and when, by the clock of the place, and how fast; and that nobody took the image. */
function drawCaption(canvas: Canvas, { sensor, at, event }: Exposure): void {
  const top = HEIGHT - BAR;
  canvas.fill(0, top, WIDTH, BAR, BLACK);
  const { vehicleSpeed } = event;
  const speed = vehicleSpeed ? ` ${mphOf(vehicleSpeed)}/${sensor.place.limitMph} MPH` : '';
  canvas.write(sensor.place.name, 6, top + 4, 2, WHITE);
  canvas.write(`${TIME.format(at).replace(',', '').replace('\u202f', ' ')}${speed}`, 6, top + 22, 2, WHITE);
  const label = `${sensor.deviceId} SIMULATED`;
  canvas.fill(0, 0, textWidth(label, 1) + 12, GLYPH_HEIGHT + 8, BLACK, 0.6);
  canvas.write(label, 6, 4, 1, WHITE);
}
