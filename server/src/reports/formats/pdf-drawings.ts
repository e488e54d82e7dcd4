import type { Crossing, Histogram, PlacedImage } from '../document.ts';
import type { Pdf } from './pdf-fonts.ts';
import { colors, widthOf, writeText } from './pdf-page.ts';
import { tagsOf } from './pdf-tags.ts';

// Drawings of studies and cases: distributions of speeds, intersections, and images.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const TITLE = 18;
const LABEL = 7.5;
const LIMIT = '#b3261e';
const CURVE = '#8a5a00';
const BAND = '#e6eef6';

/** Draws a figure with its title into a box. */
export function drawDrawing(pdf: Pdf, drawing: Histogram | Crossing | PlacedImage, box: Box): void {
  const { x, y, width, height } = box;
  tagsOf(pdf).figure(drawing.alt, [x, y, x + width, y + height], () => {
    writeText(pdf, drawing.title, box, { size: 9.5, least: 7, font: 'bold', most: 1 });
    const inner = { ...box, y: y + TITLE, height: height - TITLE };
    if (drawing.shape === 'histogram') drawHistogram(pdf, drawing, inner);
    else if (drawing.shape === 'image') drawImage(pdf, drawing, inner);
    else drawCrossing(pdf, drawing, inner);
  });
}

function drawImage(pdf: Pdf, { content }: PlacedImage, { x, y, width, height }: Box): void {
  try {
    pdf.image(Buffer.from(content), x, y, { fit: [width, height] });
  } catch {
    // The header of an image was read when it was received, not all of it.
    const note = 'This image cannot be shown here: see its file.';
    writeText(pdf, note, { x, y, width }, { size: 9, color: colors.faint });
  }
}

/** Numbers of a scale with about five steps, up to the first that is not below the largest value. */
function scaleOf(largest: number): number[] {
  const rough = Math.max(1, largest / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough,
  );
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, n) => n * step);
}

interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly xOf: (speed: number) => number;
}

const MARK_LINES = 34;

function drawHistogram(pdf: Pdf, histogram: Histogram, { x, y, width, height }: Box): void {
  const { from, until, unit } = histogram;
  const [left, top, wide, high] = [x + 34, y + MARK_LINES, width - 74, height - MARK_LINES - 30];
  const xOf = (speed: number): number => left + ((speed - from) / (until - from)) * wide;
  const plot = { left, top, width: wide, height: high, xOf };
  if (histogram.band) drawBand(pdf, histogram.band, plot);
  drawColumns(pdf, histogram, plot);
  drawCurve(pdf, histogram, plot);
  drawMarks(pdf, histogram, plot);
  if (histogram.band) nameBand(pdf, histogram.band, plot);
  const step = until - from > 100 ? 20 : 10;
  for (let speed = from; speed <= until; speed += step) {
    const at = { x: xOf(speed) - 15, y: top + high + 4, width: 30 };
    pdf
      .moveTo(xOf(speed), top + high)
      .lineTo(xOf(speed), top + high + 3)
      .lineWidth(0.5)
      .stroke(colors.faint);
    writeText(pdf, String(speed), at, { size: LABEL, align: 'center', isWhole: true });
  }
  const axis = `Speed (${unit})`;
  writeText(pdf, axis, { x: left, y: top + high + 15, width: wide }, { size: LABEL, align: 'center' });
  writeText(pdf, 'Vehicles', { x, y: top - 13, width: 60 }, { size: LABEL, color: colors.accent });
  const right = { x: left + wide - 40, y: top - 13, width: 80 };
  writeText(pdf, 'Cumulative', right, { size: LABEL, color: CURVE, align: 'right' });
}

function drawBand(pdf: Pdf, { from, to }: NonNullable<Histogram['band']>, { top, height, xOf }: Plot): void {
  pdf.rect(xOf(from), top, xOf(to) - xOf(from), height).fill(BAND);
}

/** The name of the band, over the lines that cross it. */
function nameBand(pdf: Pdf, { label, from, to }: NonNullable<Histogram['band']>, { top, xOf }: Plot): void {
  const width = widthOf(pdf, label, LABEL) + 6;
  const at = { x: (xOf(from) + xOf(to) - width) / 2, y: top + 3, width };
  pdf.rect(at.x, at.y - 1, width, 11).fill(BAND);
  writeText(pdf, label, at, { size: LABEL, color: colors.head, align: 'center', isWhole: true });
}

function drawColumns(pdf: Pdf, { bins }: Histogram, { left, top, width, height, xOf }: Plot): void {
  const scale = scaleOf(Math.max(1, ...bins.map(({ count }) => count)));
  const most = scale.at(-1) ?? 1;
  for (const value of scale) {
    const y = top + height - (value / most) * height;
    pdf
      .moveTo(left, y)
      .lineTo(left + width, y)
      .lineWidth(0.5)
      .stroke(colors.line);
    const at = { x: left - 34, y: y - 4.5, width: 30 };
    writeText(pdf, value.toLocaleString('en'), at, { size: LABEL, align: 'right', isWhole: true });
  }
  for (const { from, to, count } of bins) {
    if (count === 0) continue;
    const [start, end] = [xOf(from), xOf(to + 1)];
    const tall = (count / most) * height;
    pdf.rect(start + 0.4, top + height - tall, Math.max(0.6, end - start - 0.8), tall).fill(colors.accent);
  }
}

/** The share of vehicles that are not faster, with the scale at the right. */
function drawCurve(pdf: Pdf, { bins }: Histogram, { left, top, width, height, xOf }: Plot): void {
  const all = bins.reduce((sum, { count }) => sum + count, 0);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = { x: left + width + 4, y: top + height - share * height - 4.5, width: 36 };
    writeText(pdf, `${share * 100} %`, at, { size: LABEL, color: CURVE, isWhole: true });
  }
  if (all === 0) return;
  let below = 0;
  const first = bins[0]?.from ?? 0;
  pdf.moveTo(xOf(first), top + height);
  for (const { to, count } of bins) {
    below += count;
    pdf.lineTo(xOf(to + 1), top + height - (below / all) * height);
  }
  pdf.lineWidth(1.4).stroke(CURVE);
}

/** Lines at percentiles and at the limit, whose labels stand above the plot in two lines, so that close ones can be read. */
function drawMarks(pdf: Pdf, { marks }: Histogram, { left, top, width, height, xOf }: Plot): void {
  let end = Number.NEGATIVE_INFINITY;
  let line = 0;
  for (const { label, speed, isLimit = false } of marks.toSorted((a, b) => a.speed - b.speed)) {
    const at = xOf(speed);
    const color = isLimit ? LIMIT : colors.ink;
    pdf
      .moveTo(at, top - 3)
      .lineTo(at, top + height)
      .lineWidth(isLimit ? 1.4 : 0.8);
    if (isLimit) pdf.stroke(color);
    else pdf.dash(2, { space: 2 }).stroke(color).undash();
    const wide = widthOf(pdf, label, LABEL, 'bold') + 2;
    const x = Math.min(Math.max(at - wide / 2, left), left + width - wide);
    line = x < end + 3 ? (line + 1) % 3 : 0;
    end = x + wide;
    const spot = { x, y: top - 13 - line * 10, width: wide };
    writeText(pdf, label, spot, { size: LABEL, font: 'bold', color, align: 'center', isWhole: true });
  }
}

interface Vector {
  readonly x: number;
  readonly y: number;
}

/** The measures of an intersection, in points. */
interface Measures {
  readonly middle: Vector;
  /** Between the arrows of an approach. */
  readonly spacing: number;
  /** Half the width of a road. */
  readonly half: number;
  /** From the middle to where roads begin. */
  readonly mouth: number;
  /** The length of an arrow. */
  readonly stem: number;
  /** The font size of volumes. */
  readonly size: number;
  /** How much farther out every other volume stands, so that narrow ones do not touch. */
  readonly stagger: number;
}

/** Roads at an angle of 45 degrees begin farther from the middle, so that they do not overlap. */
function measuresOf(legs: Crossing['legs'], { x, y, width, height }: Box): Measures {
  const all = new Set(legs.map(({ eighth }) => eighth));
  const isNarrow = legs.some(({ eighth }) => all.has((eighth + 1) % 8));
  const spacing = isNarrow ? 15 : 25;
  const half = spacing * 3.1;
  return {
    middle: { x: x + width / 2, y: y + height / 2 },
    spacing,
    half,
    mouth: isNarrow ? half / Math.tan(Math.PI / 8) : half,
    stem: isNarrow ? 24 : 46,
    size: isNarrow ? 7 : 8.5,
    stagger: isNarrow ? 8 : 0,
  };
}

function plus(a: Vector, b: Vector, times = 1): Vector {
  return { x: a.x + b.x * times, y: a.y + b.y * times };
}

/** From the middle of an intersection along a leg; `y` grows downwards. */
function alongLeg(eighth: number): Vector {
  const angle = (eighth * Math.PI) / 4;
  return { x: Math.sin(angle), y: -Math.cos(angle) };
}

/** To the right of somebody who travels in a direction. */
function rightOf({ x, y }: Vector): Vector {
  return { x: -y, y: x };
}

/**
 * An intersection from above: for each approach, arrows in the order of its turns with their volumes, and where vehicles
 * leave, their number. Vehicles keep to the right; no lanes are meant.
 */
function drawCrossing(pdf: Pdf, { legs, movements }: Crossing, box: Box): void {
  const plan = { ...box, height: box.height - NOTE };
  const measures = measuresOf(legs, plan);
  for (const leg of legs) {
    const out = alongLeg(leg.eighth);
    drawRoad(pdf, measures, out);
    drawExit(pdf, measures, out, leg.out);
    for (const { turn, volume } of movements.filter(({ eighth }) => eighth === leg.eighth))
      drawMovement(pdf, measures, { out, turn, volume });
    nameLeg(pdf, measures, leg, plan);
  }
  drawNorth(pdf, { x: box.x + 14, y: box.y + box.height - 34 });
  const note = 'Blue: vehicles by turn. Grey: vehicles that leave. Not to scale.';
  const spot = { x: box.x, y: box.y + box.height - 11, width: box.width };
  writeText(pdf, note, spot, { size: LABEL, color: colors.faint, align: 'center' });
}

/** The height of the line below an intersection. */
const NOTE = 14;

/** How far a road goes beyond its arrows, for the volumes. */
const BEYOND = 26;

function drawRoad(pdf: Pdf, { middle, half, mouth, stem }: Measures, out: Vector): void {
  const side = rightOf(out);
  const near = plus(middle, out, mouth);
  const far = plus(near, out, stem + BEYOND);
  for (const times of [-1, 1]) {
    const [start, end] = [plus(near, side, times * half), plus(far, side, times * half)];
    pdf.moveTo(start.x, start.y).lineTo(end.x, end.y).lineWidth(1).stroke(colors.faint);
  }
  pdf.moveTo(near.x, near.y).lineTo(far.x, far.y).lineWidth(0.8).dash(4, { space: 3 });
  pdf.stroke(colors.line).undash();
}

interface DrawnMovement {
  readonly out: Vector;
  readonly turn: keyof typeof PLACES;
  readonly volume: number;
}

/** The place of the arrow of a turn, in spacings from the middle of the road. */
const PLACES = { U: 0.1, L: 0.65, T: 1.55, R: 2.55 } as const;
/** How far the tip is to the right of the arrow, and out along the leg. */
const TIPS = { U: [-9, 22], L: [-16, 2], T: [0, -6], R: [16, 2] } as const;

function drawMovement(pdf: Pdf, measures: Measures, { out, turn, volume }: DrawnMovement): void {
  const { middle, mouth, spacing, stem, size, stagger } = measures;
  const travel = { x: -out.x, y: -out.y };
  const right = rightOf(travel);
  const start = plus(plus(middle, out, mouth), right, PLACES[turn] * spacing);
  const [aside, along] = TIPS[turn];
  const tip = plus(plus(start, right, aside), out, along);
  const [tail, bend, corner] = [plus(start, out, stem), plus(start, out, 12), plus(start, out, 2)];
  pdf.moveTo(tail.x, tail.y);
  if (turn === 'T') pdf.lineTo(tip.x, tip.y);
  else if (turn === 'U') {
    const back = plus(corner, right, aside);
    pdf.lineTo(bend.x, bend.y).bezierCurveTo(corner.x, corner.y, back.x, back.y, tip.x, tip.y);
  } else pdf.lineTo(bend.x, bend.y).quadraticCurveTo(corner.x, corner.y, tip.x, tip.y);
  pdf.lineWidth(1.6).stroke(colors.head);
  const ahead = { T: travel, U: out, L: { x: -right.x, y: -right.y }, R: right }[turn];
  drawHead(pdf, tip, ahead, colors.head);
  const beyond = 10 + (turn === 'L' || turn === 'R' ? 0 : stagger);
  writeNumber(pdf, volume, plus(tail, out, beyond), { size, color: colors.ink });
}

/** Vehicles that leave through a leg, on the other side of it. */
function drawExit(
  pdf: Pdf,
  { middle, mouth, spacing, stem, size }: Measures,
  out: Vector,
  volume: number,
): void {
  const start = plus(plus(middle, out, mouth + 6), rightOf(out), spacing * 1.5);
  const tip = plus(start, out, stem - 10);
  pdf.moveTo(start.x, start.y).lineTo(tip.x, tip.y).lineWidth(1.6).stroke(colors.faint);
  drawHead(pdf, tip, out, colors.faint);
  writeNumber(pdf, volume, plus(tip, out, 16), { size, color: colors.faint });
}

function drawHead(pdf: Pdf, tip: Vector, ahead: Vector, color: string): void {
  const side = rightOf(ahead);
  const [point, back] = [plus(tip, ahead, 5), plus(tip, ahead, -2)];
  const [one, other] = [plus(back, side, 4), plus(back, side, -4)];
  pdf.polygon([point.x, point.y], [one.x, one.y], [other.x, other.y]).fill(color);
}

function writeNumber(pdf: Pdf, value: number, at: Vector, style: { size: number; color: string }): void {
  const text = value.toLocaleString('en');
  const width = widthOf(pdf, text, style.size, 'bold') + 2;
  const spot = { x: at.x - width / 2, y: at.y - style.size * 0.62, width };
  writeText(pdf, text, spot, { ...style, font: 'bold', align: 'center', isWhole: true });
}

const NAME_WIDTH = 190;
const NAME_HEIGHT = 30;

/** The name and the sums of a leg: beyond its end, or, where there is no room for them, above it. */
function nameLeg(
  pdf: Pdf,
  measures: Measures,
  { eighth, name, lines }: Crossing['legs'][number],
  box: Box,
): void {
  const { middle, half, mouth, stem } = measures;
  const out = alongLeg(eighth);
  const isVertical = eighth % 4 === 0;
  const end = mouth + stem + BEYOND;
  const width = isVertical ? NAME_WIDTH : Math.min(120, box.width / 2 - half - 8);
  const align = isVertical ? 'center' : out.x > 0 ? 'right' : 'left';
  const x = isVertical ? middle.x - width / 2 : out.x > 0 ? box.x + box.width - width : box.x;
  const height = isVertical ? NAME_HEIGHT : NAME_HEIGHT + 9;
  const beyond = middle.y + out.y * (end + 18) - height / 2;
  const wanted = eighth % 4 === 2 ? middle.y - half - height - 6 : beyond;
  let y = Math.min(Math.max(wanted, box.y), box.y + box.height - height);
  const style = { size: LABEL, least: 6, align } as const;
  // Beside a road, the direction and the approach are on a line each.
  for (const part of isVertical ? [name] : name.split(/ (?=\()/))
    y += writeText(pdf, part, { x, y, width }, { ...style, font: 'bold', color: colors.head });
  for (const line of lines) y += writeText(pdf, line, { x, y: y + 1, width }, style);
}

function drawNorth(pdf: Pdf, at: Vector): void {
  const tip = { x: at.x, y: at.y - 12 };
  pdf
    .moveTo(at.x, at.y + 14)
    .lineTo(tip.x, tip.y)
    .lineWidth(1.2)
    .stroke(colors.ink);
  drawHead(pdf, tip, { x: 0, y: -1 }, colors.ink);
  writeText(pdf, 'N', { x: at.x - 6, y: at.y + 16, width: 12 }, { size: 9, font: 'bold', align: 'center' });
}
