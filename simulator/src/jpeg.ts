// An encoder of baseline JPEG (ITU-T T.81) for many small images: a general one prepares its tables anew for each image, which takes
// longer than the image.

/** Brightness and colour are rounded by these at a quality of 50 (T.81, tables K.1 and K.2), row by row. */
const LUMINANCE =
  '16 11 10 16 24 40 51 61 12 12 14 19 26 58 60 55 14 13 16 24 40 57 69 56 14 17 22 29 51 87 80 62 18 22 37 56 68 109 103 77 24 35 55 64 81 104 113 92 49 64 78 87 103 121 120 101 72 92 95 98 112 100 103 99';
const CHROMINANCE =
  '17 18 24 47 99 99 99 99 18 21 26 66 99 99 99 99 24 26 56 99 99 99 99 99 47 66 99 99 99 99 99 99';

/** Huffman codes (T.81, tables K.3 and K.5): how many there are of each length from 1 to 16 bits, and their symbols. */
const DC = { counts: '00010501010101010100000000000000', symbols: '000102030405060708090a0b' };
const AC = {
  counts: '0002010303020403050504040000017d',
  symbols:
    '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
};

const ZERO_RUN = 0xf0;
const END_OF_BLOCK = 0;

/** The places of a block of 8 × 8 in the order of their frequencies. */
const ZIGZAG = Array.from({ length: 64 }, (_, at) => at).sort((one, other) => {
  const [row, column, otherRow, otherColumn] = [one >> 3, one & 7, other >> 3, other & 7];
  const [sum, otherSum] = [row + column, otherRow + otherColumn];
  return sum - otherSum || (sum % 2 === 0 ? otherRow - row : row - otherRow);
});

/** By how much the fast transform of eight samples enlarges each frequency, apart from a factor of √8. */
const ENLARGED = Array.from({ length: 8 }, (_, frequency) =>
  frequency === 0 ? 1 : Math.SQRT2 * Math.cos((frequency * Math.PI) / 16),
);
const COS_4 = Math.SQRT1_2;
const SIN_2 = Math.sin(Math.PI / 8);
const LESS = Math.cos(Math.PI / 8) - SIN_2;
const MORE = Math.cos(Math.PI / 8) + SIN_2;

/**
 * The cosine transform of eight numbers in their place, after Arai, Agui and Nakajima: five multiplications in place of 64.
 * @param from the place of the first one
 * @param apart how far each is from the next
 */
function transform(all: Float64Array, from: number, apart: number): void {
  const [last, middle] = [from + 7 * apart, from + 3 * apart];
  const sum0 = (all[from] ?? 0) + (all[last] ?? 0);
  const difference0 = (all[from] ?? 0) - (all[last] ?? 0);
  const sum1 = (all[from + apart] ?? 0) + (all[last - apart] ?? 0);
  const difference1 = (all[from + apart] ?? 0) - (all[last - apart] ?? 0);
  const sum2 = (all[from + 2 * apart] ?? 0) + (all[last - 2 * apart] ?? 0);
  const difference2 = (all[from + 2 * apart] ?? 0) - (all[last - 2 * apart] ?? 0);
  const sum3 = (all[middle] ?? 0) + (all[middle + apart] ?? 0);
  const difference3 = (all[middle] ?? 0) - (all[middle + apart] ?? 0);
  const outer = sum0 + sum3;
  const inner = sum1 + sum2;
  const across = sum0 - sum3;
  const even = (sum1 - sum2 + across) * COS_4;
  all[from] = outer + inner;
  all[from + 2 * apart] = across + even;
  all[from + 4 * apart] = outer - inner;
  all[from + 6 * apart] = across - even;
  const low = difference3 + difference2;
  const high = difference1 + difference0;
  const between = (difference2 + difference1) * COS_4;
  const turned = (low - high) * SIN_2;
  const odd = LESS * low + turned;
  const other = MORE * high + turned;
  all[from + apart] = difference0 + between + other;
  all[middle] = difference0 - between - odd;
  all[from + 5 * apart] = difference0 - between + odd;
  all[last] = difference0 + between - other;
}

interface Codes {
  readonly code: Uint16Array;
  readonly length: Uint8Array;
}

function codesOf({ counts, symbols }: typeof DC): Codes {
  const codes = { code: new Uint16Array(256), length: new Uint8Array(256) };
  let [code, at] = [0, 0];
  for (const [index, count] of Buffer.from(counts, 'hex').entries()) {
    for (let left = count; left > 0; left--) {
      const symbol = Number.parseInt(symbols.slice(at, at + 2), 16);
      codes.code[symbol] = code++;
      codes.length[symbol] = index + 1;
      at += 2;
    }
    code <<= 1;
  }
  return codes;
}

const DC_CODES = codesOf(DC);
const AC_CODES = codesOf(AC);

/** The steps of a table at a quality from 1 to 100, as other encoders understand it. */
function stepsOf(table: string, quality: number): Uint8Array {
  const scale = quality < 50 ? 5_000 / quality : 200 - 2 * quality;
  const given = table.split(' ').map(Number);
  return Uint8Array.from({ length: 64 }, (_, at) =>
    Math.max(1, Math.min(255, Math.floor(((given[at] ?? 99) * scale + 50) / 100))),
  );
}

/** Bits that are written one after another. A byte of ones is followed by a zero, so that it is no marker. */
class Bits {
  #bytes = Buffer.alloc(65_536);
  #used = 0;
  #waiting = 0;
  #count = 0;

  write(value: number, length: number): void {
    this.#waiting = (this.#waiting << length) | value;
    this.#count += length;
    while (this.#count >= 8) {
      this.#count -= 8;
      this.#byte((this.#waiting >> this.#count) & 0xff);
    }
    this.#waiting &= (1 << this.#count) - 1;
  }

  /** The bytes, of which the last one is filled with ones. */
  end(): Buffer {
    if (this.#count > 0) this.write((1 << (8 - this.#count)) - 1, 8 - this.#count);
    return this.#bytes.subarray(0, this.#used);
  }

  #byte(byte: number): void {
    if (this.#used + 2 > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    this.#bytes[this.#used++] = byte;
    if (byte === 0xff) this.#bytes[this.#used++] = 0;
  }
}

/** One component of the image: brightness, or one of two differences of colour. */
class Component {
  readonly #samples: Float32Array;
  readonly #width: number;
  /** What a transformed block is multiplied by to count in steps of the table. */
  readonly #factors: Float64Array;
  readonly #block = new Float64Array(64);
  readonly #levels = new Int32Array(64);
  #before = 0;

  constructor(samples: Float32Array, width: number, steps: Uint8Array) {
    this.#samples = samples;
    this.#width = width;
    this.#factors = Float64Array.from(
      steps,
      (step, at) => 1 / (8 * step * (ENLARGED[at >> 3] ?? 1) * (ENLARGED[at & 7] ?? 1)),
    );
  }

  /** Writes the block of 8 × 8 samples whose first one is at `left` and `top`. */
  write(left: number, top: number, bits: Bits): void {
    this.#transform(left, top);
    const levels = this.#levels;
    const level = levels[0] ?? 0;
    writeValue(bits, DC_CODES, 0, level - this.#before);
    this.#before = level;
    let run = 0;
    for (let at = 1; at < 64; at++) {
      const value = levels[ZIGZAG[at] ?? 0] ?? 0;
      if (value === 0) {
        run++;
        continue;
      }
      for (; run > 15; run -= 16) bits.write(AC_CODES.code[ZERO_RUN] ?? 0, AC_CODES.length[ZERO_RUN] ?? 0);
      writeValue(bits, AC_CODES, run << 4, value);
      run = 0;
    }
    if (run > 0) bits.write(AC_CODES.code[END_OF_BLOCK] ?? 0, AC_CODES.length[END_OF_BLOCK] ?? 0);
  }

  /** The cosine transform of the block, first of its rows and then of its columns, in steps of the table. */
  #transform(left: number, top: number): void {
    const [block, levels, factors] = [this.#block, this.#levels, this.#factors];
    for (let row = 0; row < 8; row++) {
      const from = (top + row) * this.#width + left;
      for (let n = 0; n < 8; n++) block[row * 8 + n] = this.#samples[from + n] ?? 0;
      transform(block, row * 8, 1);
    }
    for (let column = 0; column < 8; column++) transform(block, column, 8);
    for (let at = 0; at < 64; at++) levels[at] = Math.round((block[at] ?? 0) * (factors[at] ?? 0));
  }
}

/** Writes a value as its number of bits in a symbol, and these bits; a negative one in the complement of ones. */
function writeValue(bits: Bits, { code, length }: Codes, upper: number, value: number): void {
  const size = 32 - Math.clz32(Math.abs(value));
  const symbol = upper | size;
  bits.write(code[symbol] ?? 0, length[symbol] ?? 0);
  if (size > 0) bits.write(value < 0 ? value + (1 << size) - 1 : value, size);
}

const segment = (marker: number, content: readonly number[] | Uint8Array): Buffer => {
  const length = content.length + 2;
  return Buffer.concat([Buffer.from([0xff, marker, length >> 8, length & 0xff]), Buffer.from(content)]);
};
const [SOI, APP0, DQT, SOF0, DHT, SOS, EOI] = [0xd8, 0xe0, 0xdb, 0xc0, 0xc4, 0xda, 0xd9];
const JFIF = [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0];

/**
 * Encodes an image; of four pixels, the colours are one.
 * @param pixels red, green, blue and a fourth byte for each pixel, row by row
 * @param width in pixels, a multiple of 16, as is the height
 * @param quality from 1 to 100
 */
export function encodeJpeg(
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
  quality: number,
): Buffer {
  const half = width / 2;
  const brightness = new Float32Array(width * height);
  const [blue, red] = [new Float32Array((width * height) / 4), new Float32Array((width * height) / 4)];
  for (let at = 0, x = 0, y = 0; at < width * height; at++) {
    const [r, g, b] = [pixels[4 * at] ?? 0, pixels[4 * at + 1] ?? 0, pixels[4 * at + 2] ?? 0];
    brightness[at] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
    const place = (y >> 1) * half + (x >> 1);
    blue[place] = (blue[place] ?? 0) + (b * 0.5 - r * 0.168736 - g * 0.331264) / 4;
    red[place] = (red[place] ?? 0) + (r * 0.5 - g * 0.418688 - b * 0.081312) / 4;
    if (++x === width) {
      x = 0;
      y++;
    }
  }
  const tables = [stepsOf(LUMINANCE, quality), stepsOf(CHROMINANCE, quality)] as const;
  const ofBrightness = new Component(brightness, width, tables[0]);
  const ofColours = [new Component(blue, half, tables[1]), new Component(red, half, tables[1])];
  const bits = new Bits();
  for (let top = 0; top < height; top += 16) {
    for (let left = 0; left < width; left += 16) {
      for (const [x, y] of QUARTERS) ofBrightness.write(left + x, top + y, bits);
      for (const component of ofColours) component.write(left / 2, top / 2, bits);
    }
  }
  const huffman = ({ counts, symbols }: typeof DC, id: number): Buffer =>
    segment(DHT, [id, ...Buffer.from(counts, 'hex'), ...Buffer.from(symbols, 'hex')]);
  return Buffer.concat([
    Buffer.from([0xff, SOI]),
    segment(APP0, JFIF),
    ...tables.map((steps, id) => segment(DQT, [id, ...ZIGZAG.map((at) => steps[at] ?? 1)])),
    segment(SOF0, [
      8,
      height >> 8,
      height & 0xff,
      width >> 8,
      width & 0xff,
      3,
      1,
      0x22,
      0,
      2,
      0x11,
      1,
      3,
      0x11,
      1,
    ]),
    huffman(DC, 0x00),
    huffman(AC, 0x10),
    segment(SOS, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
    bits.end(),
    Buffer.from([0xff, EOI]),
  ]);
}

const QUARTERS = [
  [0, 0],
  [8, 0],
  [0, 8],
  [8, 8],
] as const;
