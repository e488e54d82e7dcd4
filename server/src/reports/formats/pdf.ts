import { finished } from 'node:stream/promises';
import type { Chart, Figure, ReportDocument } from '../document.ts';
import type { FileFormat } from './format.ts';
import { drawChart, heightOf } from './pdf-chart.ts';
import { fontsOf, type Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, createPdf, page, setStyle, writeLine } from './pdf-page.ts';
import { drawTable } from './pdf-table.ts';

/** Most rows: more are no longer read on paper, and CSV has them. */
const MOST_ROWS = 5_000;
const GAP = 20;

const { margin } = page;

/** Title and what the report is about, at the top of the first page. @returns where it ends */
const drawTitle = (pdf: Pdf, title: string, facts: readonly Figure[]): number => {
  pdf.rect(0, 0, page.width, 6).fill(colors.head);
  setStyle(pdf, { size: 20, font: 'bold', color: colors.head });
  writeLine(pdf, title, { x: margin, y: margin - 6, width: contentWidth });
  let y = margin + 26;
  for (const { name, value } of facts) {
    setStyle(pdf, { size: 8.5, color: colors.faint });
    writeLine(pdf, name, { x: margin, y, width: 70 });
    setStyle(pdf, { size: 8.5 });
    // Filters may be long, and nothing of them is left out.
    fontsOf(pdf).writeWrapped(String(value), margin + 72, y, contentWidth - 72);
    y = Math.max(y + 13, pdf.y + 2);
  }
  return y + 8;
};

const FIGURE_HEIGHT = 40;
const FIGURES_IN_ROW = 5;

/** Figures as tiles. @returns where they end */
const drawFigures = (pdf: Pdf, figures: readonly Figure[], top: number): number => {
  const width = (contentWidth - (FIGURES_IN_ROW - 1) * 8) / FIGURES_IN_ROW;
  figures.forEach(({ name, value }, at) => {
    const x = margin + (at % FIGURES_IN_ROW) * (width + 8);
    const y = top + Math.floor(at / FIGURES_IN_ROW) * (FIGURE_HEIGHT + 8);
    pdf.roundedRect(x, y, width, FIGURE_HEIGHT, 3).fill(colors.stripe);
    setStyle(pdf, { size: 7.5, color: colors.faint });
    writeLine(pdf, name, { x: x + 8, y: y + 6, width: width - 16 });
    const text = typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 1 }) : value;
    setStyle(pdf, { size: text.length > 18 ? 9 : 13, font: 'bold', color: colors.head });
    writeLine(pdf, text, { x: x + 8, y: y + 18, width: width - 16 });
  });
  return (
    top + Math.ceil(figures.length / FIGURES_IN_ROW) * (FIGURE_HEIGHT + 8) + (figures.length > 0 ? 8 : 0)
  );
};

/** Courses take the whole width, comparisons stand two beside each other. */
const linesOf = (charts: readonly Chart[]): Chart[][] => {
  const lines: Chart[][] = [];
  for (const chart of charts) {
    const last = lines.at(-1);
    const joins = chart.shape === 'bars' && last?.length === 1 && last[0]?.shape === 'bars';
    if (joins) last.push(chart);
    else lines.push([chart]);
  }
  return lines;
};

/** @returns where they end */
const drawCharts = (pdf: Pdf, charts: readonly Chart[], top: number): number => {
  const half = (contentWidth - GAP) / 2;
  let y = top;
  for (const line of linesOf(charts)) {
    const height = Math.max(...line.map(heightOf));
    if (y + height > bottom) {
      pdf.addPage();
      y = margin;
    }
    line.forEach((chart, at) => {
      const width = chart.shape === 'columns' ? contentWidth : half;
      drawChart(pdf, chart, { x: margin + at * (half + GAP), y, width, height });
    });
    y += height + GAP;
  }
  return y;
};

/** Least room in which a table is worth beginning: its head and some rows. */
const ROOM_FOR_TABLE = 120;

const numberPages = (pdf: Pdf, title: string, said: string): void => {
  const { count } = pdf.bufferedPageRange();
  for (let at = 0; at < count; at++) {
    pdf.switchToPage(at);
    const y = page.height - margin - 6;
    pdf
      .moveTo(margin, y - 6)
      .lineTo(page.width - margin, y - 6)
      .lineWidth(0.5)
      .stroke(colors.line);
    setStyle(pdf, { size: 7.5, color: colors.faint });
    writeLine(pdf, `${title} · ${said}`, { x: margin, y, width: contentWidth - 100 });
    writeLine(pdf, `Page ${at + 1} of ${count}`, { x: margin, y, width: contentWidth }, 'right');
  }
};

const draw = async (pdf: Pdf, document: ReportDocument): Promise<number> => {
  const { title, facts, settings } = document;
  pdf.addPage();
  let y = drawTitle(pdf, title, facts);
  const { figures, charts } = await document.summary();
  y = drawFigures(pdf, figures, y);
  y = drawCharts(pdf, charts, y);
  if (y + ROOM_FOR_TABLE > bottom) {
    pdf.addPage();
    y = margin;
  }
  const { page: tablePage } = pdf;
  const noteAt = y;
  const { count, isCut } = await drawTable(pdf, document, y + 18, MOST_ROWS);
  const said = isCut
    ? `The first ${MOST_ROWS.toLocaleString('en')} rows; there are more. A report in the format CSV has all of them.`
    : `Rows: ${count}`;
  const pages = pdf.bufferedPageRange();
  for (let at = 0; at < pages.count; at++) {
    pdf.switchToPage(at);
    if (pdf.page !== tablePage) continue;
    setStyle(pdf, { size: 9.5, font: 'bold' });
    writeLine(pdf, count === 0 ? 'There is nothing in this range. Rows: 0' : said, {
      x: margin,
      y: noteAt,
      width: contentWidth,
    });
  }
  numberPages(pdf, title, `${settings.timezone} · ${isCut ? `first ${count} rows` : `${count} rows`}`);
  return count;
};

const write: FileFormat['write'] = async (document, to) => {
  const pdf = createPdf(document.title);
  pdf.pipe(to);
  const ended = finished(to);
  // What fails while drawing is told; that the file then ends early is no news.
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

/** Pages to be read and printed: figures, charts, then the table, as far as anybody would read it. */
export const pdf: FileFormat = { contentType: 'application/pdf', write };
