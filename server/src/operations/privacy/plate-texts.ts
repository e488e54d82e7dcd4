import { gunzipSync, inflateSync } from 'node:zlib';
import { HIDDEN_PLATE } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { plateFinder } from '../../events/plate-rules.ts';

/** Shorter plates would be found in ordinary words. */
const MIN_CHARACTERS = 3;
const MAX_CHARACTERS = 20;

/** Why a plate cannot be searched for; null if it can. */
export function refusalOf(plate: string): string | null {
  if (/[*?\ufffd]/u.test(plate)) {
    return 'Give one whole plate, without * and ?: what belongs to several people is not searched at once';
  }
  const { length } = [...plateKey(plate)];
  if (length >= MIN_CHARACTERS && length <= MAX_CHARACTERS) return null;
  return `A plate has ${MIN_CHARACTERS} to ${MAX_CHARACTERS} letters and digits, such as 34 ABC 123: ${length === 0 ? 'this one has none' : `this one has ${length}`}`;
}

const BESIDE = /[\p{L}\p{M}\p{N}]/u;
/** More than that between the parts of a plate does not belong to it. */
const FAR_APART = /[^\p{L}\p{M}\p{N}]{4}|[\n\r]/u;

/** Where devices may send a plate as a number. Other numbers are figures of Gantry, which a text in their place would break. */
const MAY_BE_PLATE = /^metadata$|plate/i;

/** Finds one plate in texts, in any spelling with the same key, and masks it. A longer word that contains it is another one. */
export class PlateTexts {
  readonly key: string;
  readonly #find: ReturnType<typeof plateFinder>;

  constructor(plate: string) {
    this.key = plateKey(plate);
    this.#find = plateFinder([this.key]);
  }

  /** A text without the plate; the same one if it does not name it. */
  mask(text: string): string {
    if (text.length < 100 && plateKey(text) === this.key) return HIDDEN_PLATE;
    const plain = this.#maskPlain(text);
    if (plain !== text) return plain;
    // Escapes of JSON in JSON, of XML, and of addresses may be part of a spelling.
    const read = unescaped(text);
    return read !== text && this.#maskPlain(read) !== read ? HIDDEN_PLATE : text;
  }

  /**
   * A value of a column without the plate: JSON, a text or an array of them, or a text that is JSON.
   * @param column its name
   */
  maskValue(value: unknown, column = ''): unknown {
    const mayBePlate = MAY_BE_PLATE.test(column);
    if (typeof value !== 'string' || !/^[[{]/.test(value)) return this.#maskJson(value, mayBePlate);
    const parsed = parseJson(value);
    if (parsed === undefined) return this.mask(value);
    const masked = this.#maskJson(parsed, mayBePlate);
    return masked === parsed ? value : JSON.stringify(masked);
  }

  /** Whether bytes that were stored because they are no text in UTF-8 name the plate: text in another encoding, or compressed. */
  isInBytes(bytes: Buffer): boolean {
    const content = decompressed(bytes);
    if (!mayBeText(content)) return false;
    return ENCODINGS.some((encoding) => {
      const text = new TextDecoder(encoding).decode(content);
      return this.mask(text) !== text;
    });
  }

  /** Whether a value names the plate. @param column its name */
  isIn(value: unknown, column = ''): boolean {
    return this.maskValue(value, column) !== value;
  }

  /** @param mayBePlate whether a number may be a plate @returns the same value if it does not name the plate */
  #maskJson(value: unknown, mayBePlate: boolean): unknown {
    if (typeof value === 'string') return this.mask(value);
    if (typeof value === 'number')
      return mayBePlate && plateKey(String(value)) === this.key ? HIDDEN_PLATE : value;
    if (Array.isArray(value)) {
      const masked = value.map((each) => this.#maskJson(each, mayBePlate));
      return masked.some((each, at) => each !== value[at]) ? masked : value;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const masked = entries.map(
      ([name, each]) =>
        [
          this.mask(name),
          name === 'base64' && typeof each === 'string' && this.isInBytes(Buffer.from(each, 'base64'))
            ? HIDDEN_PLATE
            : this.#maskJson(each, mayBePlate || MAY_BE_PLATE.test(name)),
        ] as const,
    );
    const isSame = masked.every(([name, each], at) => name === entries[at]?.[0] && each === entries[at]?.[1]);
    return isSame ? value : Object.fromEntries(masked);
  }

  #maskPlain(text: string): string {
    let shown = '';
    let shownUntil = 0;
    for (const { from, until } of this.#find(text)) {
      if (BESIDE.test(characterBefore(text, from)) || BESIDE.test(characterAt(text, until))) continue;
      if (FAR_APART.test(text.slice(from, until))) continue;
      shown += text.slice(shownUntil, from) + HIDDEN_PLATE;
      shownUntil = until;
    }
    return shownUntil === 0 ? text : shown + text.slice(shownUntil);
  }
}

/** The encodings in which devices send texts, and in which lists of plates are. */
export const ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'] as const;

/** More is not decompressed: messages are smaller. */
const MAX_DECOMPRESSED = 64_000_000;

function decompressed(bytes: Buffer): Buffer {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  // The first byte of zlib, and a multiple of 31 (RFC 1950).
  const isZlib = bytes[0] === 0x78 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;
  if (!isGzip && !isZlib) return bytes;
  try {
    return (isGzip ? gunzipSync : inflateSync)(bytes, { maxOutputLength: MAX_DECOMPRESSED });
  } catch {
    return bytes;
  }
}

/** Number of bytes by which text is told from others: in those of an image, short plates are found by chance. */
const TRIED_BYTES = 4_096;

/** Whether bytes may be text: few of them are control characters, or every other one is zero, as in UTF-16. */
function mayBeText(bytes: Buffer): boolean {
  const beginning = bytes.subarray(0, TRIED_BYTES);
  const controls = beginning.filter((byte) => byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 13);
  const zeros = controls.filter((byte) => byte === 0).length;
  return controls.length - zeros <= beginning.length / 50 && (zeros === 0 || zeros > beginning.length / 4);
}

function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
}

function characterBefore(text: string, at: number): string {
  const isPair = /[\udc00-\udfff]/.test(text[at - 1] ?? '') && /[\ud800-\udbff]/.test(text[at - 2] ?? '');
  return text.slice(Math.max(0, at - (isPair ? 2 : 1)), at);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text in which escapes of JSON, XML and addresses are the characters that they stand for. */
function unescaped(text: string): string {
  const letters = text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/&#(?:x([0-9a-f]{1,5})|(\d{1,6}));/gi, (_, hex?: string, decimal?: string) =>
      String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    );
  if (!/[%+]/.test(letters)) return letters;
  return letters
    .replaceAll('+', ' ')
    .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
    );
}

/**
 * A regular expression of PostgreSQL that finds texts that may name the plate, in any spelling with ASCII characters; null if
 * there is none. Texts with other characters, with escapes or with bytes in base64 have to be read in any case.
 */
export function patternOf(key: string): string | null {
  return /^[A-Z0-9]+$/.test(key) ? [...key].join('[^[:alnum:]]{0,8}') : null;
}
