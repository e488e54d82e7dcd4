import type {
  Chapter,
  Figure,
  FigureTable,
  ReportDocument,
  Row,
  Signature,
  StudyContents,
} from '../document.ts';
import { drawFigures } from './pdf-chart.ts';
import { drawDrawing } from './pdf-drawings.ts';
import type { Pdf } from './pdf-fonts.ts';
import {
  bottom,
  colors,
  contentWidth,
  fit,
  heightOfLines,
  page,
  setStyle,
  writeLines,
  writeText,
} from './pdf-page.ts';
import { drawTable, type Groups } from './pdf-table.ts';
import { tagsOf } from './pdf-tags.ts';

// The pages of a study: a title page with its status, facts and signatures, its chapters, and its methods.

const { margin } = page;

const STATUS_COLORS: Readonly<Record<string, string>> = {
  DRAFT: '#b3261e',
  REJECTED: '#b3261e',
  FROZEN: '#22405e',
  SIGNED: '#1d6b3a',
};
/** Those that no page may hide. */
const NOT_FOR_USE: ReadonlySet<string> = new Set(['DRAFT', 'REJECTED']);

/** Draws all pages. Of the rows of its data, which are in the other formats, none is drawn. */
export async function drawStudy(pdf: Pdf, document: ReportDocument, study: StudyContents): Promise<void> {
  if (NOT_FOR_USE.has(study.status)) pdf.on('pageAdded', () => drawWatermark(pdf, study.status));
  pdf.addPage();
  await drawCover(pdf, document, study);
  pdf.addPage();
  let y: number = margin;
  for (const chapter of study.chapters) y = await drawChapter(pdf, chapter, document, y);
  drawMethods(pdf, study.methods, y);
}

function drawWatermark(pdf: Pdf, text: string): void {
  tagsOf(pdf).artifact(() => {
    setStyle(pdf, { size: 150, font: 'bold', color: '#f7dedc' });
    pdf.save();
    pdf.rotate(-28, { origin: [page.width / 2, page.height / 2] });
    writeText(
      pdf,
      text,
      { x: 0, y: page.height / 2 - 95, width: page.width },
      { size: 170, font: 'bold', color: '#f9e3e1', align: 'center', isWhole: true },
    );
    pdf.restore();
  });
}

const STATUS_WIDTH = 190;

async function drawCover(pdf: Pdf, document: ReportDocument, study: StudyContents): Promise<void> {
  const tags = tagsOf(pdf);
  const color = STATUS_COLORS[study.status] ?? colors.head;
  tags.artifact(() => pdf.rect(0, 0, page.width, 6).fill(color));
  let y: number = margin;
  const room = contentWidth - STATUS_WIDTH - 16;
  tags.element('H1', () => {
    const style = { size: 20, least: 14, font: 'bold', color: colors.head } as const;
    y += writeText(pdf, document.title, { x: margin, y, width: room }, style);
  });
  const box = { x: page.width - margin - STATUS_WIDTH, y: margin - 2, width: STATUS_WIDTH };
  tags.artifact(() => pdf.roundedRect(box.x, box.y, box.width, 44, 4).fill(color));
  tags.element('P', () => {
    const spot = { ...box, x: box.x + 8, y: box.y + 6, width: box.width - 16 };
    writeText(pdf, study.status, spot, {
      size: 27,
      font: 'bold',
      color: '#ffffff',
      align: 'center',
      isWhole: true,
    });
  });
  y = Math.max(y, margin + 46) + 6;
  tags.element('P', () => {
    const style = { size: 10, font: 'bold', color } as const;
    y += writeText(pdf, study.statement, { x: margin, y, width: contentWidth }, style) + 8;
  });
  y = drawFacts(pdf, document.facts, y) + 6;
  y = drawFigures(pdf, (await document.summary()).figures, y);
  y = drawNotes(pdf, study, y);
  drawSignatures(pdf, study.signatures, y);
}

const FACT_NAME = 74;

/** Facts in two columns; those that are too long for one come last, over the whole width. */
function drawFacts(pdf: Pdf, facts: readonly Figure[], top: number): number {
  const half = contentWidth / 2;
  const sized = facts.map((fact) => ({
    ...fact,
    lines: fit(pdf, String(fact.value), { width: half - FACT_NAME - 12, size: 8.5, least: 8 }),
  }));
  const isLong = ({ value, lines }: (typeof sized)[number]): boolean =>
    lines.lines.length > 1 || String(value).length > 63;
  const short = sized.filter((fact) => !isLong(fact));
  const inColumn = Math.ceil(short.length / 2);
  const write = ({ name, value }: Figure, x: number, y: number, width: number): number => {
    let height = 0;
    tagsOf(pdf).element('P', () => {
      writeText(pdf, name, { x, y, width: FACT_NAME }, { size: 8.5, least: 7, color: colors.faint });
      const spot = { x: x + FACT_NAME, y, width: width - FACT_NAME };
      height = writeText(pdf, String(value), spot, { size: 8.5 });
    });
    return Math.max(13, height + 3);
  };
  short.forEach((fact, n) => {
    write(fact, margin + (n < inColumn ? 0 : half), top + (n % inColumn) * 13, half - 12);
  });
  let y = top + inColumn * 13;
  for (const fact of sized.filter(isLong)) y += write(fact, margin, y, contentWidth);
  return y;
}

/** What limits the figures, as a list. */
function drawNotes(pdf: Pdf, { limits, notes }: StudyContents, top: number): number {
  const all = [
    ...limits.map((text) => ({ text, font: 'bold' as const })),
    ...notes.map((text) => ({ text, font: 'plain' as const })),
  ];
  if (all.length === 0) return top;
  const tags = tagsOf(pdf);
  let y = top;
  tags.element('H2', () => {
    const style = { size: 10.5, font: 'bold', color: colors.head } as const;
    y += writeText(pdf, 'What the reader should know', { x: margin, y, width: contentWidth }, style) + 2;
  });
  for (const { text, font } of all) {
    const lines = fit(pdf, `• ${text}`, { width: contentWidth, size: 9, least: 9, font });
    if (y + heightOfLines(lines) > bottom) {
      pdf.addPage();
      y = margin;
    }
    tags.element('P', () => writeLines(pdf, lines, { x: margin, y, width: contentWidth }, { font }));
    y += heightOfLines(lines) + 3;
  }
  return y;
}

const SIGNATURE = 62;

/** A box for each signature, at the bottom of the page, with a line to sign on by hand. */
function drawSignatures(pdf: Pdf, signatures: readonly Signature[], after: number): void {
  if (after + SIGNATURE > bottom) pdf.addPage();
  const y = bottom - SIGNATURE;
  const width = (contentWidth - 24) / 3;
  const tags = tagsOf(pdf);
  signatures.forEach(({ act, by, at }, n) => {
    const x = margin + n * (width + 12);
    tags.artifact(() => {
      pdf.rect(x, y, width, SIGNATURE).lineWidth(0.8).stroke(colors.faint);
      pdf
        .moveTo(x + 8, y + 46)
        .lineTo(x + width - 8, y + 46)
        .lineWidth(0.5)
        .stroke(colors.faint);
    });
    tags.element('P', () => {
      const spot = { x: x + 8, y: y + 5, width: width - 16 };
      writeText(pdf, act, spot, { size: 8, color: colors.faint });
      const name = { size: 11, least: 8, font: 'bold', most: 1 } as const;
      writeText(
        pdf,
        by ?? 'Nobody yet',
        { ...spot, y: y + 27 },
        by === null ? { ...name, color: colors.faint } : name,
      );
      writeText(
        pdf,
        at ?? 'Date',
        { ...spot, y: y + 49 },
        { size: 8, ...(at === null && { color: colors.faint }) },
      );
    });
  });
}

const ROW = 10.8;
/** Font sizes of tables, of which the smaller is for those with many columns. */
const [USUAL, SMALL, MANY] = [7.5, 6.5, 22];
const ROOM_FOR_ROWS = 7 * ROW + 40;
const DRAWING_GAP = 20;

/** Room that a chapter needs in order to begin on a page: its title and words, its drawings, and some rows or all. */
function roomFor({ words = [], drawings = [], table }: Chapter): number {
  const rows = table ? Math.min(ROOM_FOR_ROWS, table.rows.length * ROW + 50) : 0;
  return 24 + words.length * 13 + (drawings.length > 0 ? drawingHeight(drawings) : 0) + rows;
}

function drawingHeight(drawings: NonNullable<Chapter['drawings']>): number {
  const [first] = drawings;
  if (first?.shape === 'crossing') return 430;
  return drawings.length > 1 ? 330 : 425;
}

/** Draws a chapter from `top` on, or on the next page. @returns where it ends */
async function drawChapter(
  pdf: Pdf,
  chapter: Chapter,
  document: ReportDocument,
  top: number,
): Promise<number> {
  const { title, words = [], drawings = [], table } = chapter;
  const tags = tagsOf(pdf);
  let y = top;
  if (y > margin && y + roomFor(chapter) > bottom) {
    pdf.addPage();
    y = margin;
  }
  tags.element('H2', () => {
    const style = { size: 13, font: 'bold', color: colors.head } as const;
    y += writeText(pdf, title, { x: margin, y, width: contentWidth }, style) + 4;
  });
  for (const each of words)
    tags.element('P', () => {
      y += writeText(pdf, each, { x: margin, y, width: contentWidth }, { size: 8.5 }) + 3;
    });
  if (drawings.length > 0) {
    const height = drawingHeight(drawings);
    const width = drawings.length > 1 ? (contentWidth - DRAWING_GAP) / 2 : contentWidth;
    for (const [n, drawing] of drawings.entries())
      drawDrawing(pdf, drawing, { x: margin + n * (width + DRAWING_GAP), y, width, height });
    y += height + 8;
  }
  return table ? (await drawFigureTable(pdf, table, document, y + 2)) + 18 : y + 8;
}

async function drawFigureTable(
  pdf: Pdf,
  { columns, rows }: FigureTable,
  { settings }: ReportDocument,
  top: number,
): Promise<number> {
  const looks = new Map(rows.map((row) => [row.cells, row]));
  const cells = (async function* () {
    yield rows.map((row): Row => row.cells);
  })();
  const idOf = (row: Row): string => looks.get(row)?.group ?? '';
  const shares = new Map<string, number>();
  for (const row of rows) shares.set(row.group ?? '', (shares.get(row.group ?? '') ?? 0) + 1);
  const groups: Groups | undefined = rows.some(({ group }) => group !== undefined)
    ? { idOf, titleOf: (id) => id, shares }
    : undefined;
  const content = {
    columns,
    rows: cells,
    settings,
    lookOf: (row: Row) => looks.get(row),
    rowHeight: ROW,
    indent: 8,
    fontSize: columns.length > MANY ? SMALL : USUAL,
  };
  return (await drawTable(pdf, content, top, rows.length, groups)).y;
}

const METHOD_NAME = 120;

/** Definitions and formulas, each beside its name. */
function drawMethods(pdf: Pdf, methods: readonly Figure[], top: number): void {
  const tags = tagsOf(pdf);
  let y = top;
  const laid = methods.map(({ name, value }) => ({
    name: fit(pdf, name, { width: METHOD_NAME - 8, size: 8, least: 7, font: 'bold' }),
    value: fit(pdf, String(value), { width: contentWidth - METHOD_NAME, size: 8, least: 8 }),
  }));
  const heights = laid.map(({ name, value }) => Math.max(heightOfLines(name), heightOfLines(value)) + 3.5);
  if (y > margin && y + heights.reduce((sum, height) => sum + height, 22) > bottom) {
    pdf.addPage();
    y = margin;
  }
  tags.element('H2', () => {
    const style = { size: 13, font: 'bold', color: colors.head } as const;
    y += writeText(pdf, 'How this was computed', { x: margin, y, width: contentWidth }, style) + 6;
  });
  laid.forEach(({ name, value }, n) => {
    const height = heights[n] ?? 0;
    if (y + height > bottom) {
      pdf.addPage();
      y = margin;
    }
    tags.element('P', () => {
      writeLines(pdf, name, { x: margin, y, width: METHOD_NAME - 8 }, { font: 'bold' });
      writeLines(pdf, value, { x: margin + METHOD_NAME, y, width: contentWidth - METHOD_NAME });
    });
    y += height;
  });
}
