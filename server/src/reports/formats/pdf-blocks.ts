import type { Chart, Figure } from '../document.ts';
import { drawChart, heightOf } from './pdf-chart.ts';
import type { Pdf } from './pdf-fonts.ts';
import { bottom, colors, contentWidth, fit, heightOfLines, page, writeLines } from './pdf-page.ts';
import { tagsOf } from './pdf-tags.ts';

// The content of pages besides the table. Each function returns where it ends.

const { margin } = page;
const GAP = 20;

const TILE_GAP = 8;
const MIN_TILE = 40;
const MAX_TILES_IN_ROW = 5;
const MIN_TILES_IN_ROW = 3;

/** Figures as tiles. Numbers keep all digits, whatever font size that takes. */
export function drawFigures(pdf: Pdf, figures: readonly Figure[], top: number): number {
  const lines = Math.ceil(figures.length / MAX_TILES_IN_ROW);
  const inLine = Math.max(MIN_TILES_IN_ROW, Math.ceil(figures.length / lines));
  const width = (contentWidth - (inLine - 1) * TILE_GAP) / inLine;
  const tags = tagsOf(pdf);
  let y = top;
  for (let first = 0; first < figures.length; first += inLine) {
    const tiles = figures.slice(first, first + inLine).map(({ name, value }) => {
      const isNumber = typeof value === 'number';
      const text = isNumber ? value.toLocaleString('en', { maximumFractionDigits: 1 }) : value;
      const size = text.length > 18 ? 10 : 13;
      return {
        name: fit(pdf, name, { width: width - 16, size: 7.5, least: 7 }),
        value: fit(pdf, text, { width: width - 16, size, least: 8, font: 'bold', isWhole: isNumber }),
      };
    });
    const nameHeight = Math.max(...tiles.map(({ name }) => heightOfLines(name)));
    const valueHeight = Math.max(...tiles.map(({ value }) => heightOfLines(value)));
    const height = Math.max(MIN_TILE, nameHeight + valueHeight + 15);
    tiles.forEach(({ name, value }, n) => {
      const x = margin + n * (width + TILE_GAP);
      tags.artifact(() => pdf.roundedRect(x, y, width, height, 3).fill(colors.stripe));
      const spot = { x: x + 8, y: y + 6, width: width - 16 };
      tags.element('P', () => {
        writeLines(pdf, name, spot, { color: colors.faint });
        writeLines(pdf, value, { ...spot, y: y + 9 + nameHeight }, { font: 'bold', color: colors.head });
      });
    });
    y += height + TILE_GAP;
  }
  return y + (figures.length > 0 ? 8 : 0);
}

/** Charts, two of half the width in a row. @returns the position below them in points, perhaps on another page */
export function drawCharts(pdf: Pdf, charts: readonly Chart[], top: number): number {
  const half = (contentWidth - GAP) / 2;
  const widthOf = (chart: Chart): number => (isHalf(chart) ? half : contentWidth);
  let y = top;
  for (const line of linesOf(charts)) {
    const height = Math.max(...line.map((chart) => heightOf(pdf, chart, widthOf(chart))));
    if (y + height > bottom) {
      pdf.addPage();
      y = margin;
    }
    line.forEach((chart, at) => {
      const box = { x: margin + at * (half + GAP), y, width: widthOf(chart), height };
      tagsOf(pdf).figure(inWords(chart), [box.x, y, box.x + box.width, y + height], () =>
        drawChart(pdf, chart, box),
      );
    });
    y += height + GAP;
  }
  return y;
}

function inWords({ title, points }: Chart): string {
  const values = points.map(({ label, value }) => `${label}: ${value ?? 'no data'}`);
  return `${title}: ${values.join('; ') || 'nothing in this range'}`;
}

function isHalf(chart: Chart): boolean {
  return chart.shape === 'bars' || chart.isHalf === true;
}

/** Time series take the whole width by default; comparisons are placed in pairs. */
function linesOf(charts: readonly Chart[]): Chart[][] {
  const lines: Chart[][] = [];
  for (const chart of charts) {
    const last = lines.at(-1);
    if (last?.length === 1 && last[0] && isHalf(last[0]) && isHalf(chart)) last.push(chart);
    else lines.push([chart]);
  }
  return lines;
}
