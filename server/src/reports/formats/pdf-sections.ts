import type { ReportDocument, Section } from '../document.ts';
import { hasRightToLeft } from './pdf-bidi.ts';
import { drawCharts, drawFigures } from './pdf-blocks.ts';
import type { Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, page, writeText } from './pdf-page.ts';
import { drawTable, type Groups } from './pdf-table.ts';
import { tagsOf } from './pdf-tags.ts';

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
