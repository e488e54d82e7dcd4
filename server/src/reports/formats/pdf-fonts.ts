import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { create, type Font, openSync } from 'fontkit';
import {
  type Coverage,
  fontFor,
  type HasGlyph,
  lettersOf,
  missingIn,
  runsInVisualOrder,
  settable,
  visible,
} from './pdf-text.ts';

const { resolve } = createRequire(import.meta.url);

/** They contain the letters of all European languages, Arabic, Hebrew and many signs; embedding makes them portable. */
const dejaVu = join(folderOf('dejavu-fonts-ttf'), 'ttf');
const files = {
  plain: join(dejaVu, 'DejaVuSansCondensed.ttf'),
  bold: join(dejaVu, 'DejaVuSansCondensed-Bold.ttf'),
} as const;
const further = {
  /** Coarse, but it contains the whole basic plane: Chinese, Japanese and Korean plates, and names from everywhere. */
  rest: join(folderOf('@fontsource/unifont'), 'files', 'unifont-latin-400-normal.woff'),
  emoji: join(folderOf('@fontsource/noto-emoji'), 'files', 'noto-emoji-emoji-400-normal.woff'),
} as const;

export type Pdf = PDFKit.PDFDocument;
export type FontName = keyof typeof files;

/** Text that every font here contains and that is written from left to right. */
const COMMON = /^[\x20-\x7e\u00a1-\u024f\u0400-\u04ff\u2010-\u2015\u2018-\u2026]*$/;

/** Letters that join, or whose visual order differs from reading order, according to rules of the font. */
const SHAPED = [
  { letters: /\p{Script=Arabic}/u, tag: 'arab' },
  { letters: /\p{Script=Hebrew}/u, tag: 'hebr' },
  { letters: /\p{Script=Nko}/u, tag: 'nko ' },
] as const;

const MIRRORED = /\p{Bidi_Mirrored}/u;

/** A part of a line with the font that contains its letters. */
interface Run {
  readonly text: string;
  readonly font: FontName | keyof typeof further;
  /** The OpenType script tag that determines rules and direction; without one, the letters are set as they are. */
  readonly script?: string;
}

/** The fonts of one document. Each letter is shown in the current font or in another one that contains it. */
export interface PdfFonts {
  /** Sets the font and its size in points. */
  use(font: FontName, size: number): void;
  /** The text as one line, with placeholders for letters that cannot be set. The other functions expect such text. */
  settable(text: string): string;
  /** The width of a line in points. */
  widthOf(text: string): number;
  /** Writes a line with its top at `y`. */
  write(text: string, x: number, y: number): void;
  /** The scripts that were replaced by placeholders, by page. */
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
  if (!('hasGlyphForCodePoint' in font)) throw new Error('A font file contains more than one font');
  return font;
}

/** Unpacking a font takes some time, and most reports do not need it. */
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

  const runsOf = (line: string): Run[] => {
    if (COMMON.test(line)) return [{ text: line, font: current }];
    return runsInVisualOrder(line).flatMap(({ text, isRightToLeft }) => {
      const runs: Run[] = [];
      const shaped = SHAPED.find(({ letters }) => letters.test(text))?.tag;
      // Signs by themselves take the direction of their surroundings, as do Arabic digits, which run from left to
      // right.
      const script = isRightToLeft ? (shaped ?? 'hebr') : shaped && 'latn';
      for (const letter of lettersOf(text)) {
        const chosen = fontFor(letter, coverage) ?? 'own';
        const shown = visible(letter, coverage[chosen]);
        const font = chosen === 'own' ? current : chosen;
        const last = runs.at(-1);
        // A bracket has been mirrored already; the rules of a script would mirror it again.
        const isBracket = isRightToLeft && MIRRORED.test(letter);
        if (last?.font === font && !isBracket && last.script === script)
          runs[runs.length - 1] = { ...last, text: last.text + shown };
        else runs.push({ text: shown, font, ...(script && !isBracket && { script }) });
      }
      return isRightToLeft ? runs.reverse() : runs;
    });
  };

  /** fontkit accepts the script tag in place of features, and derives the direction from it. */
  const optionsOf = ({ script }: Run): PDFKit.Mixins.TextOptions =>
    script === undefined ? {} : { features: script as unknown as PDFKit.Mixins.OpenTypeFeatures[] };

  /** Calls a function for each run while its font is set. */
  const eachStretch = (line: string, work: (run: Run, isLast: boolean) => void): void => {
    const runs = runsOf(line);
    for (const [n, run] of runs.entries()) {
      pdf.font(run.font);
      work(run, n === runs.length - 1);
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
      eachStretch(line, (run) => {
        width += pdf.widthOfString(run.text, optionsOf(run));
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
      eachStretch(line, (run, isLast) => {
        const options = optionsOf(run);
        const width = isLast ? 0 : pdf.widthOfString(run.text, options);
        pdf.text(run.text, at, baseline, { ...options, baseline: 'alphabetic', lineBreak: false });
        at += width;
      });
    },
  };
}

const HEADER = 44;
const ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/**
 * Converts a WOFF file (W3C, WOFF File Format 1.0) to OpenType. Drawing from WOFF directly unpacks its tables again
 * for every letter: 600 different ones took five minutes, and a third of a second from the result of this.
 * @throws RangeError or an error of zlib when it is not such a file
 */
function fontOfWoff(woff: Buffer): Buffer {
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER + SFNT_ENTRY * count);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  const parts: Buffer[] = [head];
  let end = head.length;
  for (let n = 0; n < count; n++) {
    const from = HEADER + ENTRY * n;
    const [offset, packedLength, length] = [4, 8, 12].map((at) => woff.readUInt32BE(from + at));
    const packed = woff.subarray(offset, (offset ?? 0) + (packedLength ?? 0));
    const table = packed.length < (length ?? 0) ? inflateSync(packed) : packed;
    const to = SFNT_HEADER + SFNT_ENTRY * n;
    woff.copy(head, to, from, from + 4);
    woff.copy(head, to + 4, from + 16, from + 20);
    head.writeUInt32BE(end, to + 8);
    head.writeUInt32BE(table.length, to + 12);
    const padded = Buffer.alloc(Math.ceil(table.length / 4) * 4);
    table.copy(padded);
    parts.push(padded);
    end += padded.length;
  }
  return Buffer.concat(parts);
}
