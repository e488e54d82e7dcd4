import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create, type Font, openSync } from 'fontkit';
import { runsInVisualOrder } from './pdf-bidi.ts';
import {
  type Coverage,
  fontFor,
  type HasGlyph,
  lettersOf,
  missingIn,
  settable,
  visible,
} from './pdf-script.ts';
import { fontOfWoff } from './woff.ts';

const { resolve } = createRequire(import.meta.url);

/** They have the letters of all European languages, Arabic, Hebrew and many signs; embedded, they show everywhere. */
const dejaVu = join(folderOf('dejavu-fonts-ttf'), 'ttf');
const files = {
  plain: join(dejaVu, 'DejaVuSansCondensed.ttf'),
  bold: join(dejaVu, 'DejaVuSansCondensed-Bold.ttf'),
} as const;
const further = {
  /** Coarse, but it has every letter of the basic plane: Chinese, Japanese and Korean plates, and names from everywhere. */
  rest: join(folderOf('@fontsource/unifont'), 'files', 'unifont-latin-400-normal.woff'),
  emoji: join(folderOf('@fontsource/noto-emoji'), 'files', 'noto-emoji-emoji-400-normal.woff'),
} as const;

export type Pdf = PDFKit.PDFDocument;
export type FontName = keyof typeof files;

/** Text that every font here can show, and that is written from left to right. */
const COMMON = /^[\x20-\x7e\u00a1-\u024f\u0400-\u04ff\u2010-\u2015\u2018-\u2026]*$/;

/** Letters that join, or stand in another order than they are read: the font has the rules for them. */
const SHAPED = [
  { letters: /\p{Script=Arabic}/u, tag: 'arab' },
  { letters: /\p{Script=Hebrew}/u, tag: 'hebr' },
  { letters: /\p{Script=Nko}/u, tag: 'nko ' },
] as const;

const MIRRORED = /\p{Bidi_Mirrored}/u;

/** A part of a line, and the font that has its letters. */
interface Stretch {
  readonly text: string;
  readonly font: FontName | keyof typeof further;
  /** The tag of the script (OpenType) by whose rules and in whose direction it is set; none: as its letters are. */
  readonly script?: string;
}

/** The fonts of one document: each letter is shown in the one that is set, or in another one that has it. */
export interface PdfFonts {
  /** Sets the font, and its size in points, of what is measured and written from now on. */
  use(font: FontName, size: number): void;
  /** The text in one line, with placeholders for what cannot be set. The other functions expect such text. */
  settable(text: string): string;
  /** The width of a line, in points. */
  widthOf(text: string): number;
  /** Writes a line whose top is at `y`. */
  write(text: string, x: number, y: number): void;
  /** The scripts of what stands as a placeholder, by page. */
  readonly missing: ReadonlyMap<object, ReadonlySet<string>>;
}

const ofDocuments = new WeakMap<Pdf, PdfFonts>();

/** The fonts of a document. */
export function fontsOf(pdf: Pdf): PdfFonts {
  const fonts = ofDocuments.get(pdf) ?? createFonts(pdf);
  ofDocuments.set(pdf, fonts);
  return fonts;
}

function folderOf(name: string): string {
  return dirname(resolve(`${name}/package.json`));
}

function single(font: ReturnType<typeof openSync>): Font {
  if (!('hasGlyphForCodePoint' in font)) throw new Error('A file of fonts holds more than one');
  return font;
}

/** Unpacking a font takes a moment, and most reports do not need it. */
function createFurther(pdf: Pdf, name: keyof typeof further): HasGlyph {
  let font: Font | null = null;
  return (codePoint) => {
    if (font === null) {
      const data = fontOfWoff(readFileSync(further[name]));
      font = single(create(data));
      pdf.registerFont(name, data);
    }
    return font.hasGlyphForCodePoint(codePoint);
  };
}

function createFonts(pdf: Pdf): PdfFonts {
  for (const [name, file] of Object.entries(files)) pdf.registerFont(name, file);
  const known = { plain: single(openSync(files.plain)), bold: single(openSync(files.bold)) };
  let current: FontName = 'plain';
  let size = 12;
  const coverage: Coverage = {
    own: (codePoint) => known[current].hasGlyphForCodePoint(codePoint),
    rest: createFurther(pdf, 'rest'),
    emoji: createFurther(pdf, 'emoji'),
  };
  const missing = new Map<object, Set<string>>();

  const stretchesOf = (line: string): Stretch[] => {
    if (COMMON.test(line)) return [{ text: line, font: current }];
    return runsInVisualOrder(line).flatMap(({ text, isRightToLeft }) => {
      const stretches: Stretch[] = [];
      const shaped = SHAPED.find(({ letters }) => letters.test(text))?.tag;
      // Signs alone go the way of what is around them, as do digits of Arabic, which stand from left to right.
      const script = isRightToLeft ? (shaped ?? 'hebr') : shaped && 'latn';
      for (const letter of lettersOf(text)) {
        const chosen = fontFor(letter, coverage) ?? 'own';
        const shown = visible(letter, coverage[chosen]);
        const font = chosen === 'own' ? current : chosen;
        const last = stretches.at(-1);
        // A bracket is the mirrored one already; set by the rules of a script it would be mirrored back.
        const isBracket = isRightToLeft && MIRRORED.test(letter);
        if (last?.font === font && !isBracket && last.script === script)
          stretches[stretches.length - 1] = { ...last, text: last.text + shown };
        else stretches.push({ text: shown, font, ...(script && !isBracket && { script }) });
      }
      return isRightToLeft ? stretches.reverse() : stretches;
    });
  };

  /** fontkit takes the tag of a script where it takes features, and derives the direction from it. */
  const optionsOf = ({ script }: Stretch): PDFKit.Mixins.TextOptions =>
    script === undefined ? {} : { features: script as unknown as PDFKit.Mixins.OpenTypeFeatures[] };

  /** Does something with each stretch while its font is set. */
  const eachStretch = (line: string, work: (stretch: Stretch, isLast: boolean) => void): void => {
    const stretches = stretchesOf(line);
    for (const [n, stretch] of stretches.entries()) {
      pdf.font(stretch.font);
      work(stretch, n === stretches.length - 1);
    }
    pdf.font(current);
  };

  return {
    missing,
    use(font, points) {
      current = font;
      size = points;
      pdf.font(font).fontSize(points);
    },
    settable: (text) => (COMMON.test(text) ? text.replaceAll(/ +/g, ' ') : settable(text, coverage)),
    widthOf(line) {
      let width = 0;
      eachStretch(line, (stretch) => {
        width += pdf.widthOfString(stretch.text, optionsOf(stretch));
      });
      return width;
    },
    write(line, x, y) {
      const { ascent, unitsPerEm } = known[current];
      const baseline = y + (ascent / unitsPerEm) * size;
      let at = x;
      for (const script of missingIn(line)) {
        const ofPage = missing.get(pdf.page) ?? new Set();
        missing.set(pdf.page, ofPage.add(script));
      }
      eachStretch(line, (stretch, isLast) => {
        const options = optionsOf(stretch);
        const width = isLast ? 0 : pdf.widthOfString(stretch.text, options);
        pdf.text(stretch.text, at, baseline, { ...options, baseline: 'alphabetic', lineBreak: false });
        at += width;
      });
    },
  };
}
