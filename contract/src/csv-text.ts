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
export function commentLine(text: string, columns: number): string {
  return `# ${guardText(text.replaceAll(/\s+/g, ' ').replaceAll(',', ';').replaceAll('"', "'"))}${','.repeat(columns - 1)}`;
}

const GUARDED = new RegExp(`${PART}'(?='*${FORMULA})`, 'gu');

/** Reverses `guardText`: returns the original text. */
export function unguardText(text: string): string {
  return text.replace(GUARDED, '');
}
