import { directionMark } from './pdf-bidi.ts';
import { fontsOf, type Pdf } from './pdf-fonts.ts';
import { lettersOf } from './pdf-script.ts';

// Line breaking. Widths are in points, in the current font.

const ELLIPSIS = '…';

const EAST_ASIAN = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]`;

/**
 * The places where a line may end: after blanks, hyphens and similar signs, and between Chinese, Japanese and Korean
 * letters; but not within a unit in brackets, such as (km/h).
 */
const BREAKS = new RegExp(
  String.raw`(?<=[-_/·–—\s])(?<!\([^\s)]{1,8})(?=\S)|(?<=${EAST_ASIAN})(?=${EAST_ASIAN})`,
  'u',
);

function piecesOf(text: string): string[] {
  return text.split(BREAKS);
}

/** The width of the widest part that should not be broken. */
export function widestPiece(pdf: Pdf, text: string): number {
  const { widthOf, settable } = fontsOf(pdf);
  return Math.max(0, ...piecesOf(settable(text)).map((piece) => widthOf(piece.trimEnd())));
}

/** Longer texts are unrealistic and take long to measure. */
const MAX_CHARACTERS = 4_000;

/**
 * The lines of a text, none wider than `width`. Longer words are broken.
 * @param most maximum number of lines; an ellipsis marks omitted text
 */
export function linesOf(pdf: Pdf, text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  const { widthOf, settable } = fontsOf(pdf);
  const whole = settable(
    text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}${ELLIPSIS}` : text,
  ).trim();
  const mark = directionMark(whole);
  if (widthOf(whole) <= width) return [whole];
  const lines: string[] = [];
  let line = '';
  for (const piece of piecesOf(whole)) {
    if (widthOf((line + piece).trimEnd()) <= width) {
      line += piece;
      continue;
    }
    if (line !== '') lines.push(line);
    let letters = lettersOf(piece);
    for (
      let fits = beginning(pdf, letters, width);
      fits < letters.length;
      fits = beginning(pdf, letters, width)
    ) {
      lines.push(letters.slice(0, fits).join(''));
      letters = letters.slice(fits);
    }
    line = letters.join('');
  }
  if (line !== '') lines.push(line);
  if (lines.length > most) {
    const letters = lettersOf(lines.slice(most - 1).join(''));
    lines.length = most - 1;
    lines.push(
      letters
        .slice(0, beginning(pdf, letters, width, ELLIPSIS))
        .join('')
        .trimEnd() + ELLIPSIS,
    );
  }
  return lines.map((each) => mark + each.trimEnd());
}

/** The longest prefix of the letters that fits, at least one letter. */
function beginning(pdf: Pdf, letters: readonly string[], width: number, end = ''): number {
  const { widthOf } = fontsOf(pdf);
  let [least, most] = [1, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (widthOf(letters.slice(0, middle).join('').trimEnd() + end) > width) most = middle - 1;
    else least = middle;
  }
  return least;
}
