import type { Chart } from '../document.ts';
import type { Pdf } from './pdf-fonts.ts';
import { colors, setStyle, writeLine } from './pdf-page.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const TITLE = 18;
const BAR = 15;
const COURSE_HEIGHT = 150;
const LEAST_BARS = 3;

/** How high a chart is with its title. */
export const heightOf = ({ shape, points }: Chart): number =>
  TITLE + (shape === 'columns' ? COURSE_HEIGHT : Math.max(LEAST_BARS, points.length) * BAR);

/** Tops of a scale that four lines divide well. */
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10];
const SMALL = [4, 8, 12];

/** The least round number that is not below the value, for a scale of four steps. */
export const roundUp = (value: number): number => {
  const small = SMALL.find((top) => top >= value);
  if (small !== undefined) return small;
  const power = 10 ** Math.floor(Math.log10(value));
  return (ROUND.find((factor) => factor * power >= value) ?? 10) * power;
};

const told = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });

const drawBars = (pdf: Pdf, { points }: Chart, { x, y, width }: Box): void => {
  const names = Math.min(170, width * 0.42);
  const room = width - names - 60;
  const largest = Math.max(1, ...points.map(({ value }) => value));
  points.forEach(({ label, value }, at) => {
    const top = y + at * BAR;
    const bar = Math.max(1, (value / largest) * room);
    setStyle(pdf, { size: 7.5 });
    writeLine(pdf, label, { x, y: top + 1, width: names - 6 }, 'right');
    pdf.rect(x + names, top + 1, bar, BAR - 4).fill(colors.accent);
    setStyle(pdf, { size: 7.5, color: colors.faint });
    writeLine(pdf, told(value), { x: x + names + bar + 4, y: top + 1, width: 56 });
  });
};

const LINES = 4;
const MOST_LABELS = 8;

const drawCourse = (pdf: Pdf, { points }: Chart, { x, y, width, height }: Box): void => {
  const scale = 44;
  const labels = 14;
  const [left, top, wide, high] = [x + scale, y + 4, width - scale - 8, height - labels - 4];
  const most = roundUp(Math.max(...points.map(({ value }) => value)));
  const yOf = (value: number): number => top + high - (value / most) * high;
  for (let n = 0; n <= LINES; n++) {
    const value = (most / LINES) * n;
    pdf
      .moveTo(left, yOf(value))
      .lineTo(left + wide, yOf(value))
      .lineWidth(0.5)
      .stroke(colors.line);
    setStyle(pdf, { size: 7, color: colors.faint });
    writeLine(pdf, told(value), { x, y: yOf(value) - 4, width: scale - 5 }, 'right');
  }
  const slot = wide / points.length;
  const gap = Math.min(3, slot * 0.2);
  points.forEach(({ value }, at) => {
    if (value <= 0) return;
    pdf.rect(left + at * slot + gap / 2, yOf(value), slot - gap, top + high - yOf(value)).fill(colors.accent);
  });
  const every = Math.max(1, Math.ceil(points.length / MOST_LABELS));
  points.forEach(({ label }, at) => {
    if (at % every !== 0) return;
    setStyle(pdf, { size: 7, color: colors.faint });
    const space = slot * every;
    writeLine(pdf, label, { x: left + at * slot, y: top + high + 4, width: Math.max(40, space) });
  });
};

const shapes = { bars: drawBars, columns: drawCourse } as const;

/** Draws a chart with its title into a box; without points it says so. */
export const drawChart = (pdf: Pdf, chart: Chart, box: Box): void => {
  setStyle(pdf, { size: 9.5, font: 'bold' });
  writeLine(pdf, chart.title, { x: box.x, y: box.y, width: box.width });
  const inner = { ...box, y: box.y + TITLE, height: box.height - TITLE };
  if (chart.points.length > 0) {
    shapes[chart.shape](pdf, chart, inner);
    return;
  }
  setStyle(pdf, { size: 8, color: colors.faint });
  writeLine(pdf, 'Nothing in this range.', { x: inner.x, y: inner.y, width: inner.width });
};
