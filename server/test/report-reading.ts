import { Worker } from 'node:worker_threads';
import { parse } from 'csv-parse/sync';
import { strFromU8, unzipSync } from 'fflate';

// Reads the files of reports with libraries other than those that write them.

export interface ReadCsv {
  readonly records: Record<string, string>[];
  /** The lines at its end with facts about the report. */
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

/**
 * A cell in the XML: `s` is a text, `n` a number or a time, and `f` a formula, whose value is the XML within the cell.
 */
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
            const own = /<is><t[^>]*>(.*?)<\/t><\/is>/s.exec(inner)?.[1];
            if (own !== undefined) return [column, { type: 's', value: fromXml(own) }];
            return attributes?.includes('t="s"')
              ? [column, { type: 's', value: shared[Number(value)] ?? '' }]
              : [column, { type: 'n', value }];
          },
        ),
      ),
    ),
  );
};

/** The text of one drawing operation, with its letters from left to right. The numbers are in points. */
export interface DrawnText {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly width: number;
  readonly text: string;
}

/** An element for assistive technology. */
export interface PdfElement {
  readonly role?: string;
  readonly alt?: string;
  readonly children?: readonly PdfElement[];
}

export interface PdfStructure {
  readonly root: PdfElement;
  /** The number of drawing operations that neither belong to an element nor are marked as an artifact. */
  readonly unmarked: number;
}

interface PdfAnswers {
  readonly texts: string[];
  readonly drawn: DrawnText[][];
  readonly structures: PdfStructure[];
}

let thread: Worker | undefined;
let questions = 0;

/**
 * Sends a request to the thread that reads PDFs. It is a thread because pdf.js replaces JSON.parse and
 * Array.prototype.push wherever it is loaded.
 */
const askThread = <What extends keyof PdfAnswers>(
  what: What,
  bytes: Uint8Array,
): Promise<PdfAnswers[What]> => {
  thread ??= new Worker(new URL('./pdf-thread.js', import.meta.url), { execArgv: [] });
  thread.setMaxListeners(0);
  // The thread must not keep the process alive; a pending request does.
  thread.ref();
  const asked = thread;
  const id = ++questions;
  return new Promise((resolve, reject) => {
    const hear = (answer: { id: number; pages?: PdfAnswers[What]; error?: string }): void => {
      if (answer.id !== id) return;
      asked.off('message', hear);
      asked.off('error', reject);
      if (asked.listenerCount('message') === 0) asked.unref();
      if (answer.pages) resolve(answer.pages);
      else reject(new Error(answer.error));
    };
    asked.on('message', hear);
    asked.once('error', reject);
    asked.postMessage({ id, what, bytes });
  });
};

/** The text of each page of a PDF. */
export const readPdf = (bytes: Uint8Array): Promise<string[]> => askThread('texts', bytes);

/**
 * The content of each page of a PDF, without the rules by which readers restore the reading order of right-to-left
 * text.
 */
export const readDrawnTexts = (bytes: Uint8Array): Promise<DrawnText[][]> => askThread('drawn', bytes);

/** The structure of each page of a PDF. */
export const readStructures = (bytes: Uint8Array): Promise<PdfStructure[]> => askThread('structures', bytes);

/** The lines of a page from top to bottom, each in visual order from left to right. */
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
