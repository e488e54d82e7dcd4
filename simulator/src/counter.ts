import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Place } from './places.ts';
import { limitKmh } from './places.ts';
import { createRandom, mix, type Random } from './random.ts';
import type { VirtualSensor } from './sensor.ts';
import { congestion, hourOfWeek, trafficLevel } from './traffic.ts';

/** A radar beside a road of four lanes that counts quarter hours, by direction, lane and class. */

export const QUARTER_MS = 15 * MINUTE_MS;

const PLACE: Place = {
  name: 'Great Seneca Hwy @ Longdraft Rd',
  community: 'Gaithersburg',
  latitude: 39.13637,
  longitude: -77.24342,
  limitMph: 50,
};

/** Vehicles of an average quarter hour in one direction: an AADT of some 28,000 in both. */
const QUARTER_VOLUME = 146;

/** The classes of FHWA with their shares; 4 to 13 are heavy. */
const CLASSES = { 1: 0.4, 2: 68.9, 3: 22, 4: 0.7, 5: 4, 6: 0.9, 7: 0.2, 8: 0.6, 9: 2.2, 10: 0.1 };
const WEEKEND_TRUCKS = 0.45;

/** The lanes from the right, with their shares of light and of heavy vehicles, and by how much faster they are, in km/h. */
const LANES = [
  { lane: 1, light: 0.47, heavy: 0.8, faster: -2 },
  { lane: 2, light: 0.53, heavy: 0.2, faster: 3 },
] as const;

/** How much larger the flow of one direction is in its rush hour than on average of both. */
const TIDE = 0.24;

/** How much quarter hours and days differ from the usual, as standard deviations. */
const QUARTER_NOISE = 0.05;
const DAY_NOISE = 0.03;

const BIN_KMH = 5;

/** The counter of a demo; always the same for the same seed. */
export function virtualCounter(seed: number, prefix: string): VirtualSensor {
  const name = `${PLACE.name} counter`;
  return {
    deviceId: `${prefix}count`,
    name,
    type: 'RADAR',
    place: PLACE,
    eventsPerMin: 1,
    seed: mix(seed, 0xc0),
  };
}

/** What the counter reports of the quarter hour that begins at `start` (Unix milliseconds): a period for each lane. */
export function periodsOf({ seed, place }: VirtualSensor, start: number) {
  const middle = start + QUARTER_MS / 2;
  const hour = hourOfWeek(middle);
  const isWeekend = hour < 24 || hour >= 6 * 24;
  const usual =
    QUARTER_VOLUME *
    trafficLevel(middle) *
    createRandom(mix(seed, Math.floor(start / HOUR_MS / 24))).normal(1, DAY_NOISE);
  return (['SB', 'NB'] as const).flatMap((direction, index) => {
    const random = createRandom(mix(seed, start / QUARTER_MS, index));
    const tide = isWeekend ? 0 : tideAt(hour % 24) * (direction === 'SB' ? 1 : -1);
    const expected = usual * (1 + TIDE * tide) * random.normal(1, QUARTER_NOISE);
    return LANES.map((lane) => {
      const counts = countsOf(expected, lane, isWeekend ? WEEKEND_TRUCKS : 1, random);
      const volume = Object.values(counts).reduce((sum, count) => sum + count, 0);
      return {
        start: new Date(start).toISOString(),
        seconds: QUARTER_MS / 1000,
        direction,
        lane: lane.lane,
        byClass: { scheme: 'FHWA13', counts },
        ...(volume > 0 && {
          speed: speedsOf(volume, limitKmh(place), congestion(middle), lane.faster, random),
        }),
      };
    });
  });
}

/** From 1, when everybody drives to the city, to -1, when they return. */
function tideAt(hour: number): number {
  return Math.exp(-(((hour - 7.5) / 2) ** 2)) - Math.exp(-(((hour - 17.25) / 2.5) ** 2));
}

function countsOf(
  expected: number,
  lane: (typeof LANES)[number],
  trucks: number,
  random: Random,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(CLASSES).map(([code, percent]) => {
      const share = (percent / 100) * (Number(code) < 4 ? lane.light : lane.heavy * trucks);
      return [code, Math.max(0, Math.round(random.normal(expected * share, Math.sqrt(expected * share))))];
    }),
  );
}

function speedsOf(measured: number, limit: number, fullness: number, faster: number, random: Random) {
  const usual = limit * (0.97 - 0.1 * fullness ** 2) + faster;
  const speeds = Array.from({ length: measured }, () => Math.max(10, random.normal(usual, limit * 0.085)));
  const counts = new Map<number, number>();
  for (const speed of speeds) {
    const from = Math.floor(speed / BIN_KMH) * BIN_KMH;
    counts.set(from, (counts.get(from) ?? 0) + 1);
  }
  return {
    mean: Math.round((speeds.reduce((sum, speed) => sum + speed, 0) / measured) * 10) / 10,
    measured,
    bins: [...counts].sort(([a], [b]) => a - b).map(([from, count]) => ({ from, to: from + BIN_KMH, count })),
  };
}
