import bidiFactory from 'bidi-js';

// Which letters a PDF can show correctly, and what replaces the others.

/** Whether a font has a glyph for each of these characters. */
export type HasGlyph = (codePoint: number) => boolean;

/** `own` is the current font, `rest` the coarse one with almost every letter. */
type LetterFont = 'own' | 'rest' | 'emoji';

export interface Coverage {
  readonly own: HasGlyph;
  readonly rest: HasGlyph;
  readonly emoji: HasGlyph;
}

/**
 * Scripts whose letters are placed side by side unchanged, so that fonts need no rules for them; of Thai, the letters
 * without marks above or below, as on plates.
 */
const PLAIN =
  /^[\p{Script=Common}\p{Script=Inherited}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Ethiopic}\p{Script=Cherokee}\p{Script=Canadian_Aboriginal}\p{Script=Braille}\p{Script=Runic}\p{Script=Ogham}\p{Script=Tifinagh}\u0e01-\u0e30\u0e32\u0e40-\u0e46\u0e50-\u0e59\u3130-\u318f\uac00-\ud7a3\uffa0-\uffdc]*$/u;

const NAMES = [
  'Arabic',
  'Armenian',
  'Balinese',
  'Bengali',
  'Cherokee',
  'Coptic',
  'Devanagari',
  'Ethiopic',
  'Georgian',
  'Gujarati',
  'Gurmukhi',
  'Han',
  'Hangul',
  'Hebrew',
  'Javanese',
  'Kannada',
  'Khmer',
  'Lao',
  'Malayalam',
  'Mongolian',
  'Myanmar',
  'Nko',
  'Oriya',
  'Sinhala',
  'Syriac',
  'Tamil',
  'Telugu',
  'Thaana',
  'Thai',
  'Tibetan',
] as const;
const scripts = NAMES.map((name) => ({ name, test: new RegExp(`\\p{Script=${name}}`, 'u') }));

const EMOJI = /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}/u;

/** Invisible characters: joiners, direction marks and variation selectors. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;

const DIRECTION = /[\u200e\u200f\u061c\u2066-\u2069]/u;

/** A letter without direction marks, which have been applied, and without invisible characters that the font lacks. */
export function visible(letter: string, has: HasGlyph): string {
  return [...letter]
    .filter((part) => !DIRECTION.test(part) && (!UNSEEN.test(part) || has(part.codePointAt(0) ?? 0)))
    .join('');
}

/** The font that shows a letter with its marks correctly; null for none. */
export function fontFor(letter: string, { own, rest, emoji }: Coverage): LetterFont | null {
  if (EMOJI.test(letter) && covers(emoji, letter)) return 'emoji';
  if (covers(own, letter)) return 'own';
  if (PLAIN.test(letter) && covers(rest, letter)) return 'rest';
  return covers(emoji, letter) ? 'emoji' : null;
}

const letters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Divides a text into what readers perceive as letters: grapheme clusters. */
export function lettersOf(text: string): string[] {
  return [...letters.segment(text)].map(({ segment }) => segment);
}

/** Characters that would reverse any text, so that plates could no longer be read as they were sent. */
const FORCED_DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/** The scripts of the letters that are replaced. */
export function missingIn(text: string): string[] {
  return [...text.matchAll(/\u2068\[([A-Za-z]+)\]\u2069/g)].map(([, name = '']) => name);
}

/**
 * A text as one line that can be shown correctly: white space as single blanks, control characters made visible, and
 * letters that cannot be shown replaced by the name of their script in brackets, such as [Thai], or by [sign].
 */
export function settable(text: string, coverage: Coverage): string {
  const line = text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(FORCED_DIRECTION, '')
    .replaceAll(/\p{Cc}/gu, controlPicture);
  const all = lettersOf(line);
  const missing = new Set(all.filter((letter) => fontFor(letter, coverage) === null).map(scriptOf));
  if (missing.size === 0) return line;
  let set = '';
  for (const letter of all) {
    const script = scriptOf(letter);
    // Half a word would be misleading, so a script is either shown everywhere in the text or replaced.
    const isMissing = script === 'sign' ? fontFor(letter, coverage) === null : missing.has(script);
    const instead = placeholder(script);
    if (!isMissing) set += letter;
    else if (!set.endsWith(instead)) set += instead;
  }
  return set;
}

/** The English name of the script of a text in a single script; letters of no listed script are signs. */
function scriptOf(text: string): string {
  return scripts.find(({ test }) => test.test(text))?.name ?? 'sign';
}

function covers(has: HasGlyph, letter: string): boolean {
  return [...letter].every((part) => UNSEEN.test(part) || has(part.codePointAt(0) ?? 0));
}

function controlPicture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/** A placeholder has its own direction, and is found again when it is written. */
function placeholder(name: string): string {
  return `\u2068[${name}]\u2069`;
}

const bidi = bidiFactory();

/** Letters that are written from right to left, and the digits and signs with their own rules among them. */
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\u0600-\u07ff]/u;

export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

const LEFT_TO_RIGHT_MARK = '\u200e';
const RIGHT_TO_LEFT_MARK = '\u200f';

/** The mark that gives part of a text the direction of the whole, which the first letter determines. */
export function directionMark(text: string): string {
  if (!hasRightToLeft(text)) return '';
  const [paragraph] = bidi.getEmbeddingLevels(text).paragraphs;
  return (paragraph?.level ?? 0) % 2 === 1 ? RIGHT_TO_LEFT_MARK : LEFT_TO_RIGHT_MARK;
}

/** A part of a line with one direction. Its text is in reading order. */
interface DirectedRun {
  readonly text: string;
  readonly isRightToLeft: boolean;
}

/**
 * The parts of a line from left to right, ordered by the Unicode Bidirectional Algorithm (UAX 9), with mirrored
 * brackets.
 */
export function runsInVisualOrder(line: string): DirectedRun[] {
  if (!hasRightToLeft(line)) return [{ text: line, isRightToLeft: false }];
  const embedding = bidi.getEmbeddingLevels(line);
  const mirrored = bidi.getMirroredCharactersMap(line, embedding.levels);
  const units = Array.from({ length: line.length }, (_, at) => mirrored.get(at) ?? line.charAt(at));
  const levelOf = (at: number): number => embedding.levels[at] ?? 0;
  const order = bidi.getReorderedIndices(line, embedding);
  const runs: DirectedRun[] = [];
  for (let from = 0; from < order.length; ) {
    const first = order[from] ?? 0;
    const isRightToLeft = levelOf(first) % 2 === 1;
    const step = isRightToLeft ? -1 : 1;
    let until = from + 1;
    while (order[until] === first + step * (until - from) && levelOf(order[until] ?? 0) === levelOf(first))
      until++;
    const least = isRightToLeft ? first - (until - from - 1) : first;
    runs.push({ text: units.slice(least, least + until - from).join(''), isRightToLeft });
    from = until;
  }
  return runs;
}
