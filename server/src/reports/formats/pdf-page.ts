import PDFDocument from 'pdfkit';
import { type FontName, fontsOf, type Pdf } from './pdf-fonts.ts';

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
export const createPdf = (title: string): Pdf =>
  new PDFDocument({
    size: [page.width, page.height],
    margin: page.margin,
    // Kept until the end, because only then it is known how many there are.
    bufferPages: true,
    autoFirstPage: false,
    info: { Title: title, Creator: 'Gantry' },
    lang: 'en',
  });

export interface Style {
  readonly size: number;
  readonly font?: FontName;
  readonly color?: string;
  readonly align?: 'left' | 'right' | 'center';
}

export const setStyle = (pdf: Pdf, { size, font = 'plain', color = colors.ink }: Style): void => {
  fontsOf(pdf).use(font);
  pdf.fontSize(size).fillColor(color);
};

const ELLIPSIS = '…';

/** The text in one line, cut where it is wider than `width` in the font that is set. */
export const fit = (pdf: Pdf, text: string, width: number): string => {
  const { widthOf } = fontsOf(pdf);
  const line = text.replace(/\s+/g, ' ');
  // No letter is narrower than a sixth of the font's size; a long text need not be measured whole.
  let rest = [...line.slice(0, 1_000)];
  if (widthOf(rest.join('')) <= width) return rest.join('');
  let [least, most] = [0, rest.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    const wide = widthOf(rest.slice(0, middle).join('') + ELLIPSIS) > width;
    if (wide) most = middle - 1;
    else least = middle;
  }
  rest = rest.slice(0, least);
  return rest.join('') + ELLIPSIS;
};

/** Writes one line into a box; its style must be set. */
export const writeLine = (
  pdf: Pdf,
  text: string,
  { x, y, width }: { x: number; y: number; width: number },
  align: Style['align'] = 'left',
): void => {
  const line = fit(pdf, text, width);
  const { widthOf, write } = fontsOf(pdf);
  const room = align === 'left' ? 0 : width - widthOf(line);
  write(line, x + (align === 'center' ? room / 2 : room), y);
};
