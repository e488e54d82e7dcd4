import PDFDocument from 'pdfkit';
import { type FontName, fontsOf, type Pdf } from './pdf-fonts.ts';
import { linesOf, widestPiece } from './pdf-lines.ts';

/** A4 on its side, in points. */
export const page = { width: 841.89, height: 595.28, margin: 36, footer: 26 } as const;

/** Where the content of a page ends. */
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

/** @param title what a reader's window shows */
export function createPdf(title: string): Pdf {
  return new PDFDocument({
    size: [page.width, page.height],
    margin: page.margin,
    // Kept until the end, because only then it is known how many there are.
    bufferPages: true,
    autoFirstPage: false,
    info: { Title: title, Creator: 'Gantry' },
    lang: 'en',
  });
}

export interface Style {
  readonly size: number;
  readonly font?: FontName;
  readonly color?: string;
  readonly align?: 'left' | 'right' | 'center';
}

export function setStyle(pdf: Pdf, { size, font = 'plain', color = colors.ink }: Style): void {
  fontsOf(pdf).use(font, size);
  pdf.fillColor(color);
}

/** Lines of text, and the size of the font (points) at which they have room. */
export interface Fitted {
  readonly lines: readonly string[];
  readonly size: number;
}

export interface Fitting {
  readonly width: number;
  /** The size to begin with, and the least to come down to before a word is broken. In points. */
  readonly size: number;
  readonly least: number;
  readonly font?: FontName;
  /** Whether it stays in one line, whatever size that takes: a number of which a part is missing is wrong. */
  readonly isWhole?: boolean;
  /** Most lines; what is left out shows in an ellipsis. */
  readonly most?: number;
}

const STEP = 0.5;

/** The text in lines that are not wider than `width`: its font is made smaller before a word is broken. */
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

/** How far one line is below the other, as a multiple of the size of the font. */
export const LEADING = 1.2;

/** In points. */
export function heightOfLines({ lines, size }: Fitted): number {
  return lines.length * size * LEADING;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Writes lines below each other. */
export function writeLines(
  pdf: Pdf,
  { lines, size }: Fitted,
  { x, y, width }: Spot,
  { font = 'plain', color = colors.ink, align = 'left' }: Omit<Style, 'size'> = {},
): void {
  setStyle(pdf, { size, font, color });
  const { widthOf, write } = fontsOf(pdf);
  lines.forEach((line, at) => {
    const room = align === 'left' ? 0 : width - widthOf(line);
    write(line, x + (align === 'center' ? room / 2 : room), y + at * size * LEADING);
  });
}

/** Writes text into a box as `fit` does. @returns how high it is */
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

/** The width of a text in one line, in points. */
export function widthOf(pdf: Pdf, text: string, size: number, font: FontName = 'plain'): number {
  const fonts = fontsOf(pdf);
  fonts.use(font, size);
  return fonts.widthOf(fonts.settable(text));
}
