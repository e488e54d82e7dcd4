import { parse } from 'csv-parse/sync';
import { strFromU8, unzipSync } from 'fflate';
import { getDocument, OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';

// Files of reports, read by other programs than those that wrote them.

export interface ReadCsv {
  readonly records: Record<string, string>[];
  /** The lines at its end that say what it is about. */
  readonly comments: string[];
}

export const readCsv = (bytes: Uint8Array): ReadCsv => {
  const text = new TextDecoder().decode(bytes);
  const comments = text.split('\r\n').filter((line) => line.startsWith('# '));
  return {
    records: parse(text, { columns: true, bom: true, comment: '#', comment_no_infix: true }),
    comments: comments.map((line) => line.replace(/^# /, '').replace(/,+$/, '')),
  };
};

/** A cell as the XML has it: `s` is a text, none a number (a time too). */
export interface SheetCell {
  readonly type: 's' | 'n' | 'f';
  readonly value: string;
}

const fromXml = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');

/** The sheets of a workbook: rows of cells by the letter of their column. */
export const readXlsx = (bytes: Uint8Array): Record<string, SheetCell>[][] => {
  const files = unzipSync(bytes);
  const xml = (name: string): string => strFromU8(files[name] ?? new Uint8Array());
  const shared = [...xml('xl/sharedStrings.xml').matchAll(/<si>(.*?)<\/si>/gs)].map(([, item = '']) =>
    fromXml([...item.matchAll(/<t[^>]*>(.*?)<\/t>/gs)].map(([, text]) => text).join('')),
  );
  const sheets = Object.keys(files).filter((name) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name));
  return sheets.sort().map((name) =>
    [...xml(name).matchAll(/<row [^>]*>(.*?)<\/row>/gs)].map(([, row = '']) =>
      Object.fromEntries(
        [...row.matchAll(/<c r="([A-Z]+)\d+"([^>]*)>(.*?)<\/c>/gs)].map(
          ([, column, attributes, inner = '']) => {
            const value = /<v>(.*?)<\/v>/s.exec(inner)?.[1] ?? '';
            if (inner.includes('<f')) return [column, { type: 'f', value: inner }];
            return attributes?.includes('t="s"')
              ? [column, { type: 's', value: shared[Number(value)] ?? '' }]
              : [column, { type: 'n', value }];
          },
        ),
      ),
    ),
  );
};

/** The text of each page of a PDF. */
export const readPdf = async (bytes: Uint8Array): Promise<string[]> => {
  const pdf = await getDocument({ data: bytes.slice(), useSystemFonts: false, verbosity: 0 }).promise;
  const pages: string[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    pages.push(items.map((item) => ('str' in item ? item.str : '')).join(' '));
  }
  await pdf.destroy();
  return pages;
};

/** What is drawn by one order: its letters as they stand from left to right, in points. */
export interface DrawnText {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly width: number;
  readonly text: string;
}

/** What is drawn on each page, without the rules by which readers put right-to-left text into the order of reading. */
export const readDrawnTexts = async (bytes: Uint8Array): Promise<DrawnText[][]> => {
  const pdf = await getDocument({ data: bytes.slice(), useSystemFonts: false, verbosity: 0 }).promise;
  const pages: DrawnText[][] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const { fnArray, argsArray } = await (await pdf.getPage(number)).getOperatorList();
    const drawn: DrawnText[] = [];
    let [at, size] = [{ x: 0, y: 0 }, 0];
    fnArray.forEach((order: number, n: number) => {
      const args = argsArray[n];
      if (order === OPS.setTextMatrix) {
        const [x, y] = [...(args.length === 6 ? args : args[0])].slice(4);
        at = { x, y };
      }
      if (order === OPS.setFont) size = args[1];
      if (order !== OPS.showText) return;
      const glyphs = args[0].filter((glyph: unknown) => typeof glyph === 'object' && glyph !== null);
      const width = glyphs.reduce((sum: number, glyph: { width: number }) => sum + glyph.width, 0);
      const text = glyphs.map((glyph: { unicode: string }) => glyph.unicode).join('');
      drawn.push({ ...at, size, width: (width * size) / 1000, text });
    });
    pages.push(drawn);
  }
  await pdf.destroy();
  return pages;
};

/** The lines of a page from top to bottom, each as it is seen from left to right. */
export const linesSeen = (drawn: readonly DrawnText[]): string[] => {
  const lines = new Map<number, DrawnText[]>();
  for (const each of drawn) lines.set(Math.round(each.y), [...(lines.get(Math.round(each.y)) ?? []), each]);
  return [...lines]
    .sort(([a], [b]) => b - a)
    .map(([, texts]) =>
      texts
        .sort((a, b) => a.x - b.x)
        .map(({ text }) => text)
        .join('|'),
    );
};
