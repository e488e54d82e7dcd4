/** A source of random numbers that gives the same sequence for the same seed on every machine. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Whether an event of the probability (0 to 1) occurs. */
  chance(probability: number): boolean;
  /** A whole number from `min` to `max`, both inclusive. */
  whole(min: number, max: number): number;
  /** Normally distributed. */
  normal(mean: number, deviation: number): number;
  /** Exponentially distributed: mostly small, occasionally large. */
  exponential(mean: number): number;
  pick<const Items extends readonly [unknown, ...unknown[]]>(items: Items): Items[number];
  /** One of the keys, with probabilities by weight. */
  weighted<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key;
}

/** A 32-bit seed from numbers; similar numbers give unrelated seeds (the finaliser of MurmurHash3). */
export function mix(...values: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const value of values) {
    hash = Math.imul(
      hash ^ (value | 0) ^ Math.imul(Math.floor(value / 0x1_0000_0000), 0x27d4eb2f),
      0x85ebca6b,
    );
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}

/** A 32-bit seed from a text. */
export function seedOf(text: string): number {
  return mix(text.length, ...Array.from(text, (char) => char.codePointAt(0) ?? 0));
}

/** mulberry32: small, fast and good enough for traffic. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    chance: (probability) => next() < probability,
    whole: (min, max) => min + Math.floor(next() * (max - min + 1)),
    normal: (mean, deviation) =>
      mean + deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    exponential: (mean) => -mean * Math.log(1 - next()),
    pick: (items) => items[Math.floor(next() * items.length)],
    weighted: <Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key => {
      const entries = Object.entries<number | undefined>(weights) as [Key, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      throw new RangeError('Nothing to choose from: the weights are all zero');
    },
  };
}
