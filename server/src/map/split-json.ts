import { RoadsRefused } from './road-file.ts';

const [TAB, NEW_LINE, RETURN, RECORD, SPACE, QUOTE, COMMA] = [9, 10, 13, 30, 32, 34, 44];
const [OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [91, 92, 93, 123, 125];
/** What may stand between values. */
const BETWEEN: ReadonlySet<number> = new Set([TAB, NEW_LINE, RETURN, RECORD, SPACE, COMMA]);
/** The mark with which some programs begin a file (U+FEFF in UTF-8). */
const MARK: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf]);
const FEATURES = Buffer.from('features');

/** Maximum length of one value, such as a feature, in bytes, and of the levels of brackets in a file. */
const MAX_VALUE_BYTES = 33_554_432;
const MAX_DEPTH = 64;

/** Receives a value and the line, from 1, in which it begins. */
type Receiver = (text: string, line: number) => void;

/**
 * Divides a file of JSON into values that fit into memory, whatever its length: each element of the list `features` of an object,
 * and each object at the top without its features. One object is a usual GeoJSON file; several, also with the separators of
 * RFC 8142, are one with a feature on each line.
 */
export class JsonSplitter {
  readonly #receivers: { readonly top: Receiver; readonly feature: Receiver };
  readonly #parts: { readonly top: Buffer[]; readonly feature: Buffer[] } = { top: [], feature: [] };
  /** The value to which the bytes belong that are read now. */
  #into: 'top' | 'feature' | null = null;
  #bytes = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  #isInFeatures = false;
  /** How many characters of a text at depth 1 are those of the key `features`; -1: it is another one. */
  #matched = -1;
  #line = 1;
  readonly #startLines = { top: 1, feature: 1 };

  /** @param receivers `top` receives an object after its features */
  constructor(receivers: { readonly top: Receiver; readonly feature: Receiver }) {
    this.#receivers = receivers;
  }

  /** Reads on. @throws RoadsRefused when it is not JSON, or what a receiver throws */
  push(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === NEW_LINE) this.#line++;
      if (this.#isInText) this.#readText(byte);
      else if (byte === OPEN || byte === OPEN_LIST) from = this.#open(chunk, from, at);
      else if (byte === CLOSE || byte === CLOSE_LIST) from = this.#close(chunk, from, at);
      else if (this.#into === null && !BETWEEN.has(byte) && !MARK.has(byte)) throw this.#noObject();
      else if (byte === QUOTE) {
        this.#isInText = true;
        this.#matched = this.#depth === 1 ? 0 : -1;
      }
    }
    this.#keep(chunk, from, chunk.length);
  }

  /** Ends the file. @throws RoadsRefused when it ends in the middle of a value */
  end(): void {
    if (this.#depth === 0) return;
    throw new RoadsRefused(
      `The file ends in the middle of a value that begins in line ${this.#startLines[this.#into ?? 'top']}: it is not complete. Copy or export it again`,
    );
  }

  #readText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#isInText = false;
      return;
    }
    if (this.#matched >= 0) this.#matched = byte === FEATURES[this.#matched] ? this.#matched + 1 : -1;
  }

  /** @returns where the bytes of the chunk begin that are not kept yet */
  #open(chunk: Buffer, from: number, at: number): number {
    const isList = chunk[at] === OPEN_LIST;
    if (++this.#depth > MAX_DEPTH) throw this.#refusal(`more than ${MAX_DEPTH} levels of brackets`);
    if (this.#depth === 1 && isList) throw this.#noObject();
    if (this.#depth === 1 || (this.#depth === 3 && this.#isInFeatures)) {
      this.#into = this.#depth === 1 ? 'top' : 'feature';
      this.#startLines[this.#into] = this.#line;
      this.#bytes = 0;
      return at;
    }
    if (this.#depth !== 2 || !isList || this.#matched !== FEATURES.length) return from;
    this.#keep(chunk, from, at + 1);
    this.#into = null;
    this.#isInFeatures = true;
    return at + 1;
  }

  #close(chunk: Buffer, from: number, at: number): number {
    if (this.#depth === 0) throw this.#noObject();
    this.#depth--;
    const isFeature = this.#depth === 2 && this.#isInFeatures;
    if (isFeature || this.#depth === 0) {
      const kind = isFeature ? 'feature' : 'top';
      this.#keep(chunk, from, at + 1);
      this.#into = null;
      const text = Buffer.concat(this.#parts[kind]).toString();
      this.#parts[kind].length = 0;
      this.#receivers[kind](text, this.#startLines[kind]);
      return at + 1;
    }
    if (this.#depth !== 1 || !this.#isInFeatures) return from;
    this.#isInFeatures = false;
    this.#into = 'top';
    this.#matched = -1;
    return at;
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#into === null || from >= to) return;
    this.#bytes += to - from;
    if (this.#bytes > MAX_VALUE_BYTES)
      throw this.#refusal('a value of more than 32 MB; every road must be a feature');
    // A copy, because the chunk may be reused.
    this.#parts[this.#into].push(Buffer.from(chunk.subarray(from, to)));
  }

  #noObject(): RoadsRefused {
    return this.#refusal('JSON with one object, or with one on each line, is needed here');
  }

  #refusal(problem: string): RoadsRefused {
    return new RoadsRefused(`Line ${this.#line}: ${problem}. This is not GeoJSON`);
  }
}
