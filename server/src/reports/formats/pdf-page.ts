import PDFDocument from 'pdfkit';
import { type FontName, fontsOf, type Pdf } from './pdf-fonts.ts';
import { tagsOf } from './pdf-tags.ts';
import { directionMark, lettersOf } from './pdf-text.ts';

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

/** A4 in landscape format, in points. */
export const page = { width: 841.89, height: 595.28, margin: 36, footer: 26 } as const;

/** The end of the content area of a page. */
export const bottom = page.height - page.margin - page.footer;
export const contentWidth = page.width - 2 * page.margin;

export const colors = {
  ink: '#1d2733',
  faint: '#66717d',
  line: '#c9d1d9',
  stripe: '#f4f6f8',
  head: '#22405e',
  accent: '#2f6ea5',
  area: '#dbe8f3',
} as const;

/** @param title shown by PDF viewers */
export function createPdf(title: string): Pdf {
  const pdf = new PDFDocument({
    size: [page.width, page.height],
    margin: page.margin,
    // Pages are kept until the end, when their number is known.
    bufferPages: true,
    autoFirstPage: false,
    info: { Title: title, Creator: 'Gantry' },
    lang: 'en',
    // PDF/UA-1: readable by assistive technology.
    displayTitle: true,
    pdfVersion: '1.7',
    // The types do not list it.
    subset: 'PDF/UA' as string as PDFKit.Mixins.PDFSubsets,
    tagged: true,
  });
  let last: PDFKit.PDFPage | null = null;
  pdf.on('pageAdded', () => {
    if (last) joinContent(last);
    last = pdf.page;
  });
  return pdf;
}

/**
 * Joins what was drawn on a page: pdfkit keeps each operation in an array of its own until the end, which takes ten times
 * the bytes.
 */
function joinContent(page: PDFKit.PDFPage): void {
  const { content } = page as unknown as { readonly content: { buffer: Uint8Array[] } };
  content.buffer = [Buffer.concat(content.buffer)];
}

interface Style {
  readonly size: number;
  readonly font?: FontName;
  readonly color?: string;
  readonly align?: 'left' | 'right' | 'center';
}

export function setStyle(pdf: Pdf, { size, font = 'plain', color = colors.ink }: Style): void {
  fontsOf(pdf).use(font, size);
  pdf.fillColor(color);
}

/** Lines of text with the font size (points) in which they fit. */
export interface Fitted {
  readonly lines: readonly string[];
  readonly size: number;
}

interface Fitting {
  readonly width: number;
  /** The initial font size, and the minimum before words are broken, in points. */
  readonly size: number;
  readonly least: number;
  readonly font?: FontName;
  /** Whether it must stay on one line at any size, because a partial number would be wrong. */
  readonly isWhole?: boolean;
  /** Maximum number of lines; an ellipsis marks omitted text. */
  readonly most?: number;
}

const STEP = 0.5;

/** The text in lines not wider than `width`. The font size is reduced before words are broken. */
export function fit(pdf: Pdf, text: string, fitting: Fitting): Fitted {
  const { width, font = 'plain', isWhole = false, most } = fitting;
  const fonts = fontsOf(pdf);
  let { size } = fitting;
  fonts.use(font, size);
  const widest = isWhole ? fonts.widthOf(fonts.settable(text)) : widestPiece(pdf, text);
  const enough = widest > width ? Math.floor((size * width) / widest / STEP) * STEP : size;
  if (isWhole) size = widest > width ? (size * width) / widest : size;
  else size = Math.max(Math.min(fitting.least, size), enough);
  fonts.use(font, size);
  return { size, lines: isWhole ? [fonts.settable(text)] : linesOf(pdf, text, width, most) };
}

/** The distance between lines, as a multiple of the font size. */
const LEADING = 1.2;

/** In points. */
export function heightOfLines({ lines, size }: Fitted): number {
  return lines.length * size * LEADING;
}

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Writes lines one below another. */
export function writeLines(
  pdf: Pdf,
  { lines, size }: Fitted,
  { x, y, width }: Spot,
  { font = 'plain', color = colors.ink, align = 'left' }: Omit<Style, 'size'> = {},
): void {
  setStyle(pdf, { size, font, color });
  const { widthOf, write } = fontsOf(pdf);
  tagsOf(pdf).text(() => {
    lines.forEach((line, at) => {
      const room = align === 'left' ? 0 : width - widthOf(line);
      write(line, x + (align === 'center' ? room / 2 : room), y + at * size * LEADING);
    });
  });
}

/** Writes text into a box as `fit` does. @returns the height */
export function writeText(
  pdf: Pdf,
  text: string,
  spot: Spot,
  style: Style & Partial<Omit<Fitting, 'width' | 'font' | 'size'>>,
): number {
  const { size, font, least = size, isWhole, most } = style;
  const fitted = fit(pdf, text, {
    width: spot.width,
    size,
    least,
    ...(font && { font }),
    ...(isWhole && { isWhole }),
    ...(most && { most }),
  });
  writeLines(pdf, fitted, spot, style);
  return heightOfLines(fitted);
}

/** The width of a text on one line, in points. */
export function widthOf(pdf: Pdf, text: string, size: number, font: FontName = 'plain'): number {
  const fonts = fontsOf(pdf);
  fonts.use(font, size);
  return fonts.widthOf(fonts.settable(text));
}
