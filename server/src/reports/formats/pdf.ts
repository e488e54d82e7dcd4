import { finished } from 'node:stream/promises';
import type { Figure, ReportDocument } from '../document.ts';
import type { FileFormat } from './format.ts';
import { drawCharts, drawFigures } from './pdf-blocks.ts';
import { fontsOf, type Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, createPdf, page, writeText } from './pdf-page.ts';
import { drawSections } from './pdf-sections.ts';
import { drawTable } from './pdf-table.ts';
import { tagsOf } from './pdf-tags.ts';

/** Maximum number of rows of a table without sections. More are of no use on paper; CSV contains all of them. */
const MAX_ROWS = 5_000;

const { margin } = page;

/** Draws the title and the facts at the top of the first page. @returns where they end */
function drawTitle(pdf: Pdf, title: string, facts: readonly Figure[]): number {
  const tags = tagsOf(pdf);
  tags.artifact(() => pdf.rect(0, 0, page.width, 6).fill(colors.head));
  const titleAt = { x: margin, y: margin - 6, width: contentWidth };
  tags.element('H1', () => {
    writeText(pdf, title, titleAt, { size: 20, font: 'bold', color: colors.head });
  });
  let y = margin + 26;
  for (const { name, value } of facts) {
    tags.element('P', () => {
      writeText(pdf, name, { x: margin, y, width: 70 }, { size: 8.5, color: colors.faint });
      // Filters may be long and are never shortened.
      const spot = { x: margin + 72, y, width: contentWidth - 72 };
      y += Math.max(13, writeText(pdf, String(value), spot, { size: 8.5 }) + 3);
    });
  }
  return y + 8;
}

/** Minimum space in which to begin a table: its head and some rows. */
const ROOM_FOR_TABLE = 120;

/** Notes at the bottom of the current page which scripts could not be shown on it. */
function noteMissing(pdf: Pdf): void {
  const scripts = fontsOf(pdf).missing.get(pdf.page);
  if (!scripts) return;
  const names = [...scripts].map((script) => `[${script}]`).join(', ');
  const note = `Text that this file cannot show correctly is replaced by the name of its script in brackets: ${names}. A report as CSV or XLSX has it.`;
  tagsOf(pdf).element('P', () => {
    writeText(
      pdf,
      note,
      { x: margin, y: bottom + 3, width: contentWidth },
      { size: 7, least: 5, color: colors.faint, most: 1 },
    );
  });
}

function numberPages(pdf: Pdf, title: string, note: string): void {
  const { count } = pdf.bufferedPageRange();
  for (let at = 0; at < count; at++) {
    pdf.switchToPage(at);
    noteMissing(pdf);
    const y = page.height - margin - 6;
    tagsOf(pdf).artifact(() =>
      pdf
        .moveTo(margin, y - 6)
        .lineTo(page.width - margin, y - 6)
        .lineWidth(0.5)
        .stroke(colors.line),
    );
    const style = { size: 7.5, color: colors.faint } as const;
    writeText(pdf, `${title} · ${note}`, { x: margin, y, width: contentWidth - 100 }, { ...style, most: 1 });
    const number = `Page ${at + 1} of ${count}`;
    writeText(pdf, number, { x: margin, y, width: contentWidth }, { ...style, align: 'right' });
  }
}

/** Writes onto an earlier page. */
function onPage(pdf: Pdf, wanted: object, work: () => void): void {
  const { count } = pdf.bufferedPageRange();
  for (let at = 0; at < count; at++) {
    pdf.switchToPage(at);
    if (pdf.page === wanted) work();
  }
}

async function draw(pdf: Pdf, document: ReportDocument): Promise<number> {
  const { title, facts, settings, sections, columns } = document;
  pdf.addPage();
  let y = drawTitle(pdf, title, facts);
  const { figures, charts } = await document.summary();
  y = drawFigures(pdf, figures, y);
  y = drawCharts(pdf, charts, y);
  const drawn = sections && (await drawSections(pdf, document, sections, y));
  if (drawn && drawn.total > 0) {
    pdf.addPage();
    y = margin;
  } else if (y + ROOM_FOR_TABLE > bottom) {
    pdf.addPage();
    y = margin;
  }
  const { page: tablePage } = pdf;
  const noteAt = { x: margin, y, width: contentWidth };
  const drawNote = tagsOf(pdf).reserve('H2');
  if (drawn?.leftOut) {
    const spot = { ...noteAt, y: y + 16 };
    tagsOf(pdf).element('P', () => {
      y += writeText(pdf, drawn.leftOut ?? '', spot, { size: 8, color: colors.faint }) + 4;
    });
  }
  const naming = new Set(sections?.naming);
  const shown = columns.map((column) => (naming.has(column.name) ? { ...column, width: 0 } : column));
  const table = { ...document, columns: shown };
  const { count, isCut } = await drawTable(pdf, table, y + 18, MAX_ROWS, drawn?.groups);
  const isShort = isCut || (drawn !== undefined && count < drawn.total);
  const rows = count.toLocaleString('en');
  const cut = drawn
    ? `${rows} of ${drawn.total.toLocaleString('en')} rows`
    : `The first ${rows} rows; there are more. A report in the format CSV has all of them.`;
  const note = isShort ? cut : `Rows: ${count}`;
  onPage(pdf, tablePage, () => {
    const text = count === 0 ? 'This range contains no data. Rows: 0' : note;
    drawNote(() => writeText(pdf, text, noteAt, { size: 9.5, font: 'bold', most: 1 }));
  });
  numberPages(
    pdf,
    title,
    `${settings.timezone} · ${isShort && !drawn ? `first ${count} rows` : isShort ? cut : `${count} rows`}`,
  );
  return count;
}

const write: FileFormat['write'] = async (document, to) => {
  const pdf = createPdf(document.title);
  pdf.pipe(to);
  const ended = finished(to);
  // An error while drawing is reported; the early end of the file that results from it is not.
  ended.catch(() => undefined);
  try {
    const count = await draw(pdf, document);
    pdf.end();
    await ended;
    return count;
  } catch (error) {
    to.destroy();
    throw error;
  }
};

/** Pages for reading and printing: figures, charts, sections, then the table up to a limit. */
export const pdf: FileFormat = { write };
