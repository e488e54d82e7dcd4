import { type ColorToken, tokenColor } from '../../ui/token-color.ts';

/** The colours of a chart, and the font of the page. */
export type Look = Readonly<Record<ColorToken, string>> & { readonly font: string };

const TOKENS: readonly ColorToken[] = [
  'bg',
  'surface',
  'raised',
  'line',
  'line-strong',
  'text',
  'muted',
  'accent',
  'critical',
  'high',
  'medium',
  'low',
  'good',
];

/** Reads the colours and the font from the page. @param scheme absent: the current colour scheme */
export function readLook(scheme?: 'light'): Look {
  const colors = Object.fromEntries(TOKENS.map((token) => [token, tokenColor(token, scheme)]));
  return { ...(colors as Record<ColorToken, string>), font: getComputedStyle(document.body).fontFamily };
}

/** A stripe pattern that distinguishes an area from others without relying on colour. */
export function stripes(color: string) {
  return {
    color,
    dashArrayX: [1, 0] as [number, number],
    dashArrayY: [2, 5] as [number, number],
    rotation: -Math.PI / 4,
  };
}
