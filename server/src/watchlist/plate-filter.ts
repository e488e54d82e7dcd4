/** Bits for each key and number of hashes: about 1 % of other keys are taken for one that was added. */
const BITS_PER_KEY = 10;
const HASHES = 7;

/** Fewer bits than this are not worth counting. */
const MIN_KEYS = 4_096;

/**
 * A set of texts that may answer yes for one that was not added, but never no for one that was (a Bloom filter). It takes
 * 10 bits a text: 6.3 MB for five million plates, whose texts would take more than a gigabyte.
 */
export class PlateFilter {
  readonly #words: Uint32Array;
  readonly #bits: number;
  /** The number of texts for which it is large enough. */
  readonly capacity: number;
  #added = 0;

  /** @param keys the number of texts that are expected */
  constructor(keys: number) {
    this.capacity = Math.max(MIN_KEYS, keys);
    this.#words = new Uint32Array(Math.ceil((this.capacity * BITS_PER_KEY) / 32));
    this.#bits = this.#words.length * 32;
  }

  /** How many times a text was added. */
  get added(): number {
    return this.#added;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  add(key: string): void {
    this.#added++;
    let at = hashOf(key, 0x811c9dc5);
    const step = hashOf(key, 0x9747b28c) | 1;
    for (let n = 0; n < HASHES; n++) {
      const bit = at % this.#bits;
      const word = bit >>> 5;
      this.#words[word] = (this.#words[word] as number) | (1 << (bit & 31));
      at = (at + step) >>> 0;
    }
  }

  /** Whether the text may have been added. False is certain. */
  mayHave(key: string): boolean {
    let at = hashOf(key, 0x811c9dc5);
    const step = hashOf(key, 0x9747b28c) | 1;
    for (let n = 0; n < HASHES; n++) {
      const bit = at % this.#bits;
      if (((this.#words[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false;
      at = (at + step) >>> 0;
    }
    return true;
  }
}

/** FNV-1a with the finalizer of MurmurHash3, without which similar plates would share bits. 32 bits, not negative. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
