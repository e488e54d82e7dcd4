/**
 * What a part of a text begins with that a spreadsheet may take for a formula: quotes and blanks may stand before the
 * sign, because some readers strip them; some also strip a tab or CR, or take the wide forms of the signs for the same.
 */
const FORMULA = String.raw`["\p{Zs}\p{Cf}\v\f\0]*[=+\-@＝＋－＠\t\r]`;

/** A text begins a cell, and so does each part after a semicolon, a tab or a line break where that separates cells or rows. */
const PART = String.raw`(?<=^|[;\t\r\n])`;
const UNSAFE = new RegExp(`${PART}(?='*${FORMULA})`, 'gu');

/**
 * A text of which no reader that separates by comma, semicolon or tab makes a formula: an apostrophe stands before each
 * part that looks like one. A part that looks like one behind apostrophes gets one more, so that what was written can be
 * told: whoever takes one apostrophe from each part that begins with apostrophes and a formula has the text again.
 */
export function guardText(text: string): string {
  return text.replace(UNSAFE, "'");
}
