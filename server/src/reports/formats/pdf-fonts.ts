import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openSync } from 'fontkit';
import { fontOfWoff } from './woff.ts';

const { resolve } = createRequire(import.meta.url);
const folderOf = (name: string): string => dirname(resolve(`${name}/package.json`));

/** They have the letters of all European languages, Arabic and many signs; embedded, they show everywhere. */
const dejaVu = join(folderOf('dejavu-fonts-ttf'), 'ttf');
const files = {
  plain: join(dejaVu, 'DejaVuSansCondensed.ttf'),
  bold: join(dejaVu, 'DejaVuSansCondensed-Bold.ttf'),
} as const;
/** Coarse, but it has every letter of the basic plane: Chinese, Japanese and Korean plates, and names from everywhere. */
const unifont = join(folderOf('@fontsource/unifont'), 'files', 'unifont-latin-400-normal.woff');
const LAST_OF_BASIC_PLANE = 0xffff;

export type Pdf = PDFKit.PDFDocument;
export type FontName = keyof typeof files;

/** Text that every font here can show. */
const COMMON = /^[\x20-\u024f\u0400-\u04ff\u2010-\u2026]*$/;

/** A part of a text, and the font that has its letters. */
interface Stretch {
  readonly text: string;
  readonly font: FontName | 'rest';
}

/** The fonts of one document: each letter is shown in the one that is set, or in another one that has it. */
export interface PdfFonts {
  /** Sets the font of what is measured and written from now on. */
  use(font: FontName): void;
  /** The width of a line, in points. */
  widthOf(text: string): number;
  /** Writes a line. */
  write(text: string, x: number, y: number): void;
  /** Writes text that may take several lines of this width; the document's `y` is then below it. */
  writeWrapped(text: string, x: number, y: number, width: number): void;
}

const createFonts = (pdf: Pdf): PdfFonts => {
  for (const [name, file] of Object.entries(files)) pdf.registerFont(name, file);
  const known = openSync(files.plain);
  if (!('hasGlyphForCodePoint' in known)) throw new Error(`${files.plain} holds more than one font`);
  let current: FontName = 'plain';
  let hasRest = false;

  const fontFor = (codePoint: number): Stretch['font'] =>
    known.hasGlyphForCodePoint(codePoint) || codePoint > LAST_OF_BASIC_PLANE ? current : 'rest';

  const stretchesOf = (text: string): Stretch[] => {
    if (COMMON.test(text)) return [{ text, font: current }];
    const stretches: Stretch[] = [];
    for (const letter of text) {
      const font = fontFor(letter.codePointAt(0) ?? 0);
      const last = stretches.at(-1);
      if (last?.font === font) stretches[stretches.length - 1] = { text: last.text + letter, font };
      else stretches.push({ text: letter, font });
    }
    return stretches;
  };

  /** Does something with each stretch while its font is set. */
  const eachStretch = (text: string, work: (stretch: string, isLast: boolean) => void): void => {
    const stretches = stretchesOf(text);
    for (const [n, stretch] of stretches.entries()) {
      if (stretch.font === 'rest' && !hasRest) {
        // Unpacking takes a moment, and most reports do not need it.
        pdf.registerFont('rest', fontOfWoff(readFileSync(unifont)));
        hasRest = true;
      }
      if (stretches.length > 1 || stretch.font === 'rest') pdf.font(stretch.font);
      work(stretch.text, n === stretches.length - 1);
    }
    if (stretches.some(({ font }) => font === 'rest')) pdf.font(current);
  };

  return {
    use(font) {
      current = font;
      pdf.font(font);
    },
    widthOf(text) {
      let width = 0;
      eachStretch(text, (stretch) => {
        width += pdf.widthOfString(stretch);
      });
      return width;
    },
    write(text, x, y) {
      let at = x;
      eachStretch(text, (stretch, isLast) => {
        const width = isLast ? 0 : pdf.widthOfString(stretch);
        pdf.text(stretch, at, y, { lineBreak: false });
        at += width;
      });
    },
    writeWrapped(text, x, y, width) {
      let isFirst = true;
      eachStretch(text, (stretch, isLast) => {
        if (isFirst) pdf.text(stretch, x, y, { width, continued: !isLast });
        else pdf.text(stretch, { width, continued: !isLast });
        isFirst = false;
      });
    },
  };
};

const ofDocuments = new WeakMap<Pdf, PdfFonts>();

/** The fonts of a document. */
export const fontsOf = (pdf: Pdf): PdfFonts => {
  const fonts = ofDocuments.get(pdf) ?? createFonts(pdf);
  ofDocuments.set(pdf, fonts);
  return fonts;
};
