import type { Bars, Chart, Course, Figure } from '../document.ts';
import type { Pdf } from './pdf-fonts.ts';
import {
  bottom,
  colors,
  contentWidth,
  type Fitted,
  fit,
  heightOfLines,
  page,
  widthOf,
  writeLines,
  writeText,
} from './pdf-page.ts';
import { tagsOf } from './pdf-tags.ts';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const TITLE = 18;
const BAR = 15;
const COURSE_HEIGHT = 150;
const MIN_BARS = 3;
const LABEL = 7.5;

/** The height of a chart of this width, with its title. */
function heightOf(pdf: Pdf, { shape, points }: Chart, width: number): number {
  if (shape === 'columns') return TITLE + COURSE_HEIGHT;
  const bars = points.map(({ label }) => barHeight(labelOf(pdf, label, width)));
  return (
    TITLE +
    Math.max(
      MIN_BARS * BAR,
      bars.reduce((sum, height) => sum + height, 0),
    )
  );
}

/** Maximum values of a scale that four lines divide into round numbers. */
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10];
const SMALL = [4, 8, 12];

/** The smallest round number that is not below the value, for a scale with four steps. */
function roundUp(value: number): number {
  const small = SMALL.find((top) => top >= value);
  if (small !== undefined) return small;
  const power = 10 ** Math.floor(Math.log10(value));
  return (ROUND.find((factor) => factor * power >= value) ?? 10) * power;
}

const LINES = 4;
const MAX_LABELS = 8;
const AXIS = 7;
const MIN_COLUMN = 1;

/** Draws a chart with its title into a box, or a note if it has no points. */
function drawChart(pdf: Pdf, chart: Chart, box: Box): void {
  const titleAt = { x: box.x, y: box.y, width: box.width };
  writeText(pdf, chart.title, titleAt, { size: 9.5, least: 7, font: 'bold', most: 1 });
  const inner = { ...box, y: box.y + TITLE, height: box.height - TITLE };
  if (chart.points.length > 0) {
    if (chart.shape === 'bars') drawBars(pdf, chart, inner);
    else drawCourse(pdf, chart, inner);
    return;
  }
  writeText(pdf, 'Nothing in this range.', inner, { size: 8, color: colors.faint });
}

function namesWidth(width: number): number {
  return Math.min(170, width * 0.42);
}

function labelOf(pdf: Pdf, label: string, width: number): Fitted {
  return fit(pdf, label, { width: namesWidth(width) - 6, size: LABEL, least: 6 });
}

function barHeight(label: Fitted): number {
  return Math.max(BAR, heightOfLines(label) + 5);
}

function formatValue(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 1 });
}

function drawBars(pdf: Pdf, { points }: Bars, { x, y, width }: Box): void {
  const names = namesWidth(width);
  const values = Math.max(...points.map(({ value }) => widthOf(pdf, formatValue(value), LABEL)));
  const room = width - names - values - 8;
  const largest = Math.max(1, ...points.map(({ value }) => value));
  let top = y;
  for (const { label, value } of points) {
    const bar = Math.max(1, (value / largest) * room);
    const lines = labelOf(pdf, label, width);
    const height = barHeight(lines);
    const middle = top + (height - BAR) / 2;
    const labelAt = { x, y: top + (height - heightOfLines(lines)) / 2 - 0.5, width: names - 6 };
    writeLines(pdf, lines, labelAt, { align: 'right' });
    pdf.rect(x + names, middle + 1, bar, BAR - 4).fill(colors.accent);
    const valueAt = { x: x + names + bar + 4, y: middle + 2.5, width: values };
    writeText(pdf, formatValue(value), valueAt, { size: LABEL, color: colors.faint, isWhole: true });
    top += height;
  }
}

function drawCourse(pdf: Pdf, { points }: Course, { x, y, width, height }: Box): void {
  const most = roundUp(Math.max(...points.map(({ value }) => value ?? 0)));
  const steps = Array.from({ length: LINES + 1 }, (_, n) => (most / LINES) * n);
  const scale = Math.max(30, ...steps.map((value) => widthOf(pdf, formatValue(value), AXIS))) + 6;
  const labels = 14;
  const [left, top, wide, high] = [x + scale, y + 4, width - scale - 8, height - labels - 4];
  const yOf = (value: number): number => top + high - (value / most) * high;
  for (const value of steps) {
    pdf
      .moveTo(left, yOf(value))
      .lineTo(left + wide, yOf(value))
      .lineWidth(0.5)
      .stroke(colors.line);
    const at = { x, y: yOf(value) - 4, width: scale - 5 };
    writeText(pdf, formatValue(value), at, {
      size: AXIS,
      color: colors.faint,
      align: 'right',
      isWhole: true,
    });
  }
  const slot = wide / points.length;
  const gap = Math.min(3, slot * 0.2);
  points.forEach(({ value }, at) => {
    if (value === null) return;
    // A zero is a line, unlike a gap.
    const column = Math.max(MIN_COLUMN, top + high - yOf(value));
    pdf.rect(left + at * slot + gap / 2, top + high - column, slot - gap, column).fill(colors.accent);
  });
  const widest = Math.max(...points.map(({ label }) => widthOf(pdf, label, AXIS)));
  const every = Math.max(1, Math.ceil(points.length / MAX_LABELS), Math.ceil((widest + 8) / slot));
  let end = 0;
  points.forEach(({ label }, at) => {
    if (at % every !== 0) return;
    const own = widthOf(pdf, label, AXIS);
    // The last label is moved a little to the left so that it fits, or omitted.
    const labelAt = Math.min(left + at * slot, x + width - own);
    if (at > 0 && labelAt < end + 4) return;
    end = labelAt + own;
    const spot = { x: labelAt, y: top + high + 4, width: own + 1 };
    writeText(pdf, label, spot, { size: AXIS, color: colors.faint });
  });
}

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
