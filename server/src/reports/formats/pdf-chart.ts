import type { Bars, Chart, Course } from '../document.ts';
import type { Pdf } from './pdf-fonts.ts';
import { colors, type Fitted, fit, heightOfLines, widthOf, writeLines, writeText } from './pdf-page.ts';

export interface Box {
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
export function heightOf(pdf: Pdf, { shape, points }: Chart, width: number): number {
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
export function drawChart(pdf: Pdf, chart: Chart, box: Box): void {
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
