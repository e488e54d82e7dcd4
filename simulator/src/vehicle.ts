import { createRandom, mix, type Random, seedOf } from './random.ts';

export interface Vehicle {
  readonly plate: string;
  readonly type: keyof typeof TYPES;
}

const TYPES = { CAR: 62, SUV: 20, TRUCK: 7, VAN: 6, BUS: 3, MOTORCYCLE: 2 };

/** Shares of the states that plates come from. */
const STATES = { MD: 78, VA: 11, DC: 8, PA: 3 };

/** Vehicles that live in the county and pass again and again. */
const COMMUTERS = 4000;

// No I, O or Q, which cameras take for digits.
const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

const PATTERNS: Record<keyof typeof STATES, string> = {
  MD: '9AA9999',
  VA: 'AAA-9999',
  DC: 'AA-9999',
  PA: 'AAA-9999',
};

/** The vehicle of a number: always the same one for the same number. */
export function vehicleOf(number: number): Vehicle {
  const random = createRandom(mix(seedOf('vehicle'), number));
  const type = random.weighted(TYPES);
  return { plate: fill(PATTERNS[random.weighted(STATES)], random), type };
}

/**
 * A vehicle that passes. The fuller the roads (0 to 1), the more of them are commuters, and some of those
 * drive far more than others, so their plates recur most.
 */
export function passingVehicle(random: Random, fullness: number): Vehicle {
  return random.chance(0.4 + 0.4 * fullness)
    ? vehicleOf(Math.floor(COMMUTERS * random.next() ** 2))
    : vehicleOf(COMMUTERS + random.whole(0, 0x7fff_ffff));
}

/** Fills a pattern such as `9AA9999`: A stands for a letter, 9 for a digit. */
function fill(pattern: string, random: Random): string {
  return pattern.replace(/[A9]/g, (char) =>
    char === '9' ? String(random.whole(0, 9)) : LETTERS.charAt(random.whole(0, LETTERS.length - 1)),
  );
}
