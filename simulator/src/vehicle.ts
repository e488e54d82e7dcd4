import { createRandom, mix, type Random, seedOf } from './random.ts';

export interface Vehicle {
  readonly plate: string;
  /** Where the plate is from, such as US-MD. */
  readonly region: string;
  readonly type: keyof typeof TYPES;
}

const TYPES = { CAR: 62, SUV: 20, TRUCK: 7, VAN: 6, BUS: 3, MOTORCYCLE: 2 };

/** The class of a vehicle, as cameras tell them apart. */
export function classOf(type: Vehicle['type']): { scheme: 'BASIC'; code: string } {
  return { scheme: 'BASIC', code: type === 'SUV' || type === 'VAN' ? 'CAR' : type };
}

/** The states of plates, with their shares. */
const STATES = { MD: 78, VA: 11, DC: 8, PA: 3 };

/** Number of vehicles from the county that pass regularly. */
const COMMUTERS = 4000;

// Without I, O and Q, which cameras confuse with digits.
const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

const PATTERNS: Record<keyof typeof STATES, string> = {
  MD: '9AA9999',
  VA: 'AAA-9999',
  DC: 'AA-9999',
  PA: 'AAA-9999',
};

/** The vehicle with a number; always the same for the same number. */
export function vehicleOf(number: number): Vehicle {
  const random = createRandom(mix(seedOf('vehicle'), number));
  const type = random.weighted(TYPES);
  const state = random.weighted(STATES);
  return { plate: fill(PATTERNS[state], random), region: `US-${state}`, type };
}

/**
 * A passing vehicle. The fuller the roads (0 to 1), the more of them are commuters, some of which drive far more than
 * others, so their plates recur most.
 */
export function passingVehicle(random: Random, fullness: number): Vehicle {
  return random.chance(0.4 + 0.4 * fullness)
    ? vehicleOf(Math.floor(COMMUTERS * random.next() ** 2))
    : vehicleOf(COMMUTERS + random.whole(0, 0x7fff_ffff));
}

/** Fills a pattern such as `9AA9999`: A is replaced by a letter, 9 by a digit. */
function fill(pattern: string, random: Random): string {
  return pattern.replace(/[A9]/g, (char) =>
    char === '9' ? String(random.whole(0, 9)) : LETTERS.charAt(random.whole(0, LETTERS.length - 1)),
  );
}
