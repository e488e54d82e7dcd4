import type { CsvChoice } from './reports.ts';

export const USUAL_CSV: CsvChoice = { separator: ',', hasMark: true, keepsTexts: false };

/** The beginning of a file without which spreadsheets assume an old encoding. */
export function markOf({ hasMark }: CsvChoice): string {
  return hasMark ? '\uFEFF' : '';
}

/** What Excel would turn into a number, a date or a time. It contains nothing that could end the quotes. */
const LOOKS_LIKE_NUMBER = /^[.,:/ \u00a0-]*\p{Nd}[\p{Nd}.,:/ \u00a0-]*(?:e[+-]?\p{Nd}+)?$/iu;

/** A text as a cell, before quotes: guarded, or as a formula that yields the text if Excel is to keep it. */
export function textCell(text: string, { keepsTexts }: CsvChoice): string {
  return keepsTexts && LOOKS_LIKE_NUMBER.test(text) ? `="${text}"` : guardText(text);
}

/**
 * The beginning of a part of a text that a spreadsheet may treat as a formula. Quotes and blanks may precede the
 * sign, because some readers strip them; some also strip a tab or CR, or accept the full-width forms of the signs.
 */
const FORMULA = String.raw`["\p{Z}\p{Cf}\v\f\0]*[=+\-@＝＋－＠\t\r]`;

/**
 * The beginning of a text, and of each part after a semicolon, a tab or a line break where that separates cells or
 * rows.
 */
const PART = String.raw`(?<=^|[;\t\r\n])`;
const UNSAFE = new RegExp(`${PART}(?='*${FORMULA})`, 'gu');

/**
 * A text that no reader separating by comma, semicolon or tab treats as a formula: an apostrophe precedes each part
 * that looks like one. A part that looks like one behind apostrophes gets another, so that the change is reversible:
 * removing one apostrophe from each part that begins with apostrophes and a formula restores the text.
 */
export function guardText(text: string): string {
  return text.replace(UNSAFE, "'");
}

/**
 * A line that readers either skip as a comment or accept as a row: it has the same number of cells, and nothing in it
 * needs quotes, which would hide the `#`. The text is guarded as by `guardText`.
 */
export function commentLine(text: string, columns: number, { separator }: CsvChoice): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('"', "'");
  const plain = separator === ';' ? line.replaceAll(/ ?[,;] ?/g, ' | ') : line.replaceAll(',', ';');
  return `# ${guardText(plain)}${separator.repeat(columns - 1)}`;
}

const GUARDED = new RegExp(`${PART}'(?='*${FORMULA})`, 'gu');

/** Reverses `guardText`: returns the original text. */
export function unguardText(text: string): string {
  return text.replace(GUARDED, '');
}
