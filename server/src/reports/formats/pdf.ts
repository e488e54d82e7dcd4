import { finished } from 'node:stream/promises';
import type { Figure, FileFormat, ReportDocument, Section, StudyContents } from '../document.ts';
import { drawCharts, drawFigures } from './pdf-chart.ts';
import { fontsOf, type Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, createPdf, page, writeText } from './pdf-page.ts';
import { drawStudy } from './pdf-study.ts';
import { drawTable, type Groups } from './pdf-table.ts';
import { tagsOf } from './pdf-tags.ts';
import { hasRightToLeft } from './pdf-text.ts';

const { margin } = page;

/** Maximum number of sections with a page of their own. All are in the list. */
const MAX_PAGES = 60;

/** Maximum number of rows of all sections together. */
const MAX_SECTION_ROWS = 1_500;

/** Maximum number of names in a sentence. */
const MAX_NAMES = 60;

/** Minimum space in which to begin the list. */
const ROOM_FOR_LIST = 90;

type Sections = NonNullable<ReportDocument['sections']>;

/** The parts of a section that are kept until its rows are drawn. */
type Kept = Pick<Section, 'id' | 'title' | 'rowCount' | 'row'>;

/** The number of rows for each section, and a sentence about omitted content; null if it is complete. */
export interface SectionsDrawn {
  readonly groups: Groups;
  readonly leftOut: string | null;
  readonly total: number;
}

/** Draws the list of all sections, then a page for each. @returns the data for their rows */
export async function drawSections(
  pdf: Pdf,
  document: ReportDocument,
  sections: Sections,
  y: number,
): Promise<SectionsDrawn> {
  const read = await readSections(sections);
  if (read.all.length > 0) await drawList(pdf, document, sections, read, y);
  for (const section of read.whole) drawSection(pdf, section);
  return shareRows(sections, read.all);
}

/** A name that does not affect the order of the text after it, whatever its direction. */
function withinSentence(name: string): string {
  return hasRightToLeft(name) ? `${name}\u200e` : name;
}

function listNames(names: readonly string[]): string {
  return names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;
}

/** Reads all sections, and keeps the data of those with a page of their own: those with the largest weight. */
async function readSections(sections: Sections): Promise<{ all: Kept[]; whole: Section[] }> {
  const all: Kept[] = [];
  let whole: Section[] = [];
  for await (const section of sections.list()) {
    const { id, title, rowCount, row } = section;
    all.push({ id, title, rowCount, row });
    whole.push(section);
    if (whole.length <= MAX_PAGES) continue;
    const lightest = whole.reduce((least, each) => (each.weight < least.weight ? each : least));
    whole = whole.filter((each) => each !== lightest);
  }
  return { all, whole };
}

async function drawList(
  pdf: Pdf,
  { settings }: ReportDocument,
  { name, columns }: Sections,
  { all, whole }: { all: Kept[]; whole: Section[] },
  top: number,
): Promise<void> {
  let y = top;
  if (y + ROOM_FOR_LIST > bottom) {
    pdf.addPage();
    y = margin;
  }
  const tags = tagsOf(pdf);
  tags.element('H2', () => {
    const title = `All ${name} (${all.length})`;
    y += writeText(pdf, title, { x: margin, y, width: contentWidth }, { size: 9.5, font: 'bold' }) + 4;
  });
  const withPage = new Set(whole.map(({ id }) => id));
  const without = all.filter(({ id }) => !withPage.has(id)).map((section) => withinSentence(section.title));
  if (without.length > 0) {
    const said = `Summary pages are left out for the ${name} with the least traffic: ${listNames(without)}.`;
    tags.element('P', () => {
      y += writeText(pdf, said, { x: margin, y, width: contentWidth }, { size: 8, color: colors.faint }) + 4;
    });
  }
  const rows = (async function* () {
    yield all.map(({ row }) => row);
  })();
  await drawTable(pdf, { columns, rows, settings }, y, all.length);
}

function drawSection(pdf: Pdf, { title, subtitle, figures, charts }: Section): void {
  pdf.addPage();
  const tags = tagsOf(pdf);
  tags.artifact(() => pdf.rect(0, 0, page.width, 6).fill(colors.head));
  const spot = { x: margin, y: margin - 8, width: contentWidth };
  const style = { size: 17, least: 11, font: 'bold', color: colors.head } as const;
  let { y } = spot;
  tags.element('H2', () => {
    y += writeText(pdf, title, spot, style);
  });
  tags.element('P', () => {
    y += writeText(pdf, subtitle, { ...spot, y }, { size: 8.5, color: colors.faint }) + 8;
  });
  y = drawFigures(pdf, figures, y);
  drawCharts(pdf, charts, y);
}

function shareRows({ idOf }: Sections, all: readonly Kept[]): SectionsDrawn {
  const shares = shareOut(new Map(all.map(({ id, rowCount }) => [id, rowCount])), MAX_SECTION_ROWS);
  const titles = new Map(all.map(({ id, title }) => [id, title]));
  const cut = all
    .filter(({ id, rowCount }) => (shares.get(id) ?? 0) < rowCount)
    .map(
      ({ id, title, rowCount }) =>
        `${withinSentence(title)} (the first ${shares.get(id)} of ${rowCount} are shown)`,
    );
  return {
    groups: { idOf, titleOf: (id) => titles.get(id) ?? id, shares },
    leftOut:
      cut.length === 0
        ? null
        : `Detail rows are left out for: ${listNames(cut)}; the CSV and XLSX have them all.`,
    total: all.reduce((sum, { rowCount }) => sum + rowCount, 0),
  };
}

/**
 * Divides `room` rows among groups. Each gets as many as it needs or, if there is not enough room, an equal share of
 * what the smaller groups leave.
 * @param needs the number of rows of each group
 */
export function shareOut(needs: ReadonlyMap<string, number>, room: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = room;
  const byNeed = [...needs].sort(([, a], [, b]) => a - b);
  for (const [n, [id, need]] of byNeed.entries()) {
    const share = Math.min(need, Math.floor(left / (byNeed.length - n)));
    shares.set(id, share);
    left -= share;
  }
  return shares;
}

/** Maximum number of rows of a table without sections. More are of no use on paper; CSV contains all of them. */
const MAX_ROWS = 5_000;

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

/** @returns the number of rows of its data */
async function drawPagesOfStudy(pdf: Pdf, document: ReportDocument, study: StudyContents): Promise<number> {
  await drawStudy(pdf, document, study);
  const { count } = pdf.bufferedPageRange();
  for (let at = 0; at < count; at++) {
    pdf.switchToPage(at);
    const spot = { x: margin, y: 14, width: contentWidth };
    const text = `${study.status} · ${study.header}`;
    writeText(pdf, text, spot, { size: 7.5, color: colors.faint, most: 1 });
  }
  numberPages(pdf, `${study.status} · ${document.title}`, document.settings.timezone);
  return (await document.count?.()) ?? 0;
}

async function draw(pdf: Pdf, document: ReportDocument): Promise<number> {
  if (document.study) return drawPagesOfStudy(pdf, document, document.study);
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
