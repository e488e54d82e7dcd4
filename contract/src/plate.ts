import { plateConfusables } from './plate-confusables.ts';

const PLAIN = /^[A-Z0-9]*$/;
const NOT_ASCII = /[^\0-\x7f]/gu;

/** Characters that Unicode counts as letters but that only raise, stretch or separate others. */
const NO_LETTERS = '\\u02b0-\\u02ff\\u0640\\u07fa\\u30fc';

/** `*` is the wildcard of patterns; `?` and the replacement character stand for a character that was not read. */
const IGNORED = new RegExp(
  `[^\\p{L}\\p{M}\\p{N}*?\\ufffd]\\p{M}*|[\\p{Me}\\p{Default_Ignorable_Code_Point}${NO_LETTERS}]`,
  'gu',
);

/**
 * The form in which plates are compared: only letters and digits, without separators, symbols and invisible characters;
 * letters of every script in upper case, with I, İ, ı and i as one; digits of every script as 0 to 9; full-width and
 * similar forms as the usual ones; NFC. `*` and `?` remain. The key of a key is the key itself.
 */
export function plateKey(plate: string): string {
  if (PLAIN.test(plate)) return plate;
  const letters = plate.replace(NOT_ASCII, usualForm).replace(IGNORED, '');
  // Upper case alone leaves some letters distinct from their own other case: ẞ and ß, İ and i̇.
  return letters.toLowerCase().toUpperCase().normalize('NFC').replaceAll('İ', 'I');
}

/** The rules of `plateKey` for patterns, for users. */
export const PLATE_RULES =
  'Case and separators are ignored, and digits of all scripts are equal; `*` matches any sequence of characters.';

/** The version of the rules of `plateKey`. A higher one makes the service bring the stored keys along. */
export const PLATE_KEY_VERSION = 2;

/**
 * A plate's key, or a pattern's, with one character for all that look alike: those that cameras confuse (0/O/Q/D,
 * 1/I/L, 8/B, 5/S, 2/Z) and those of different scripts (Unicode Technical Standard 39). Each character is replaced
 * independently of the others.
 */
export function confusableKey(key: string): string {
  const latin = key.replace(NOT_ASCII, (letter) => likenesses().get(letter) ?? letter);
  return latin.replace(CONFUSED, (letter) => CONFUSIONS[letter] ?? letter);
}

/** The digits that cameras confuse with these letters. */
const CONFUSIONS: Readonly<Record<string, string>> = {
  O: '0',
  Q: '0',
  D: '0',
  I: '1',
  L: '1',
  B: '8',
  S: '5',
  Z: '2',
};
const CONFUSED = /[OQDILBSZ]/g;

let parsed: ReadonlyMap<string, string> | undefined;

function likenesses(): ReadonlyMap<string, string> {
  parsed ??= new Map(
    plateConfusables.split(' ').map((entry) => {
      const [letter = '', ...like] = entry;
      return [letter, like.join('')];
    }),
  );
  return parsed;
}

/** Longer compatibility forms are words, whose keys would exceed what an index can hold. */
const MAX_USUAL_LENGTH = 4;

function usualForm(character: string): string {
  const usual = character.normalize('NFKC');
  return (usual.length > MAX_USUAL_LENGTH ? character : usual).replace(/\p{Nd}/gu, asciiDigit);
}

/** Unicode encodes the digits of a script one after another, and those of several scripts directly in succession. */
function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((point - zero) % 10);
}
