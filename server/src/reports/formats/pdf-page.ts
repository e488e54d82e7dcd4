import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import PDFDocument from 'pdfkit';

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

/** They have the letters of all European languages, Arabic and many signs; embedded, they show everywhere. */
const folder = join(dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
export const fonts = {
  plain: join(folder, 'DejaVuSansCondensed.ttf'),
  bold: join(folder, 'DejaVuSansCondensed-Bold.ttf'),
} as const;

export type Pdf = PDFKit.PDFDocument;

/** @param title what a reader's window shows */
export const createPdf = (title: string): Pdf => {
  const pdf = new PDFDocument({
    size: [page.width, page.height],
    margin: page.margin,
    // Kept until the end, because only then it is known how many there are.
    bufferPages: true,
    autoFirstPage: false,
    info: { Title: title, Creator: 'Gantry' },
    lang: 'en',
  });
  pdf.registerFont('plain', fonts.plain);
  pdf.registerFont('bold', fonts.bold);
  return pdf;
};

export interface Style {
  readonly size: number;
  readonly font?: 'plain' | 'bold';
  readonly color?: string;
  readonly align?: 'left' | 'right' | 'center';
}

export const setStyle = (pdf: Pdf, { size, font = 'plain', color = colors.ink }: Style): Pdf =>
  pdf.font(font).fontSize(size).fillColor(color);

const ELLIPSIS = '…';

/** The text in one line, cut where it is wider than `width` in the font that is set. */
export const fit = (pdf: Pdf, text: string, width: number): string => {
  const line = text.replace(/\s+/g, ' ');
  // No letter is narrower than a sixth of the font's size; a long text need not be measured whole.
  let rest = [...line.slice(0, 1_000)];
  if (pdf.widthOfString(rest.join('')) <= width) return rest.join('');
  let [least, most] = [0, rest.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    const wide = pdf.widthOfString(rest.slice(0, middle).join('') + ELLIPSIS) > width;
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
  const room = align === 'left' ? 0 : width - pdf.widthOfString(line);
  pdf.text(line, x + (align === 'center' ? room / 2 : room), y, { lineBreak: false });
};
