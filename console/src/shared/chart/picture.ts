import type { ECharts } from './echarts.ts';
import { readLook } from './look.ts';

/** Pixels of the picture per CSS pixel, so that it is sharp when printed. */
const SCALE = 2;
const MARGIN = 16;
const TITLE = 16;
const LINE = 18;

/** The chart as a PNG in the colours of the page, with its title and notes above it. */
export async function pictureOf(chart: ECharts, title: string, notes: readonly string[]): Promise<Blob> {
  const look = readLook();
  const head = MARGIN + TITLE + notes.length * LINE + MARGIN / 2;
  const drawn = chart.renderToCanvas({ pixelRatio: SCALE, backgroundColor: look.surface });
  const canvas = document.createElement('canvas');
  canvas.width = drawn.width + 2 * MARGIN * SCALE;
  canvas.height = drawn.height + (head + MARGIN) * SCALE;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('This browser cannot draw');
  context.fillStyle = look.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(drawn, MARGIN * SCALE, head * SCALE);
  context.scale(SCALE, SCALE);
  const isRtl = document.documentElement.dir === 'rtl';
  const width = canvas.width / SCALE - 2 * MARGIN;
  const at = isRtl ? MARGIN + width : MARGIN;
  context.direction = isRtl ? 'rtl' : 'ltr';
  context.textAlign = 'start';
  context.fillStyle = look.text;
  context.font = `600 ${TITLE}px ${look.font}`;
  context.fillText(title, at, MARGIN + TITLE - 2, width);
  context.fillStyle = look.muted;
  context.font = `13px ${look.font}`;
  for (const [line, note] of notes.entries())
    context.fillText(note, at, MARGIN + TITLE + (line + 1) * LINE, width);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('This browser cannot make a PNG'))));
  });
}
