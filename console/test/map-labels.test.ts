import { describe, expect, it } from 'vitest';
import { placeLabels } from '../src/shared/map/dot-labels.ts';

const RADIUS = 9;
const area = { width: 400, height: 300 };
const widthOf = (text: string) => 7 * [...text].length;
const dot = (id: string, x: number, y: number, name = `Street ${id}`) => ({ id, name, x, y });
const place = (...dots: ReturnType<typeof dot>[]) => placeLabels(dots, RADIUS, area, widthOf);

describe('the names on the map of dots', () => {
  it('are left out rather than cover another name, a dot or the edge', () => {
    const dots = Array.from({ length: 60 }, (_, at) => dot(`${at}`, (at * 97) % 400, (at * 61) % 300));
    const labels = place(...dots);
    expect(labels.length).toBeGreaterThan(5);
    expect(labels.length).toBeLessThan(dots.length);
    for (const { id, text, x, y } of labels) {
      const half = widthOf(text) / 2;
      expect(Math.min(x - half, y - 8, area.width - x - half, area.height - y - 8)).toBeGreaterThanOrEqual(0);
      for (const other of dots)
        expect(Math.abs(other.x - x) >= half + RADIUS || Math.abs(other.y - y) >= 8 + RADIUS).toBe(true);
      for (const other of labels.filter((label) => label.id !== id))
        expect(Math.abs(other.x - x) >= half + widthOf(other.text) / 2 || Math.abs(other.y - y) >= 16).toBe(
          true,
        );
    }
  });

  it('are placed for the first dots first', () => {
    const [one, other] = [dot('a', 50, 12), dot('b', 50, 12)];
    const narrow = { width: 100, height: 40 };
    expect(placeLabels([one, other], RADIUS, narrow, widthOf).map(({ id }) => id)).toEqual(['a']);
    expect(placeLabels([other, one], RADIUS, narrow, widthOf).map(({ id }) => id)).toEqual(['b']);
  });

  it('are cut off if they are long, however long', () => {
    const long = 'شارع '.repeat(2_000);
    const [label] = place(dot('a', 200, 150, long));
    expect(label?.text.endsWith('…')).toBe(true);
    expect(widthOf(label?.text ?? '')).toBeLessThanOrEqual(160);
    expect(place(dot('a', 200, 150, 'Main Street'))[0]?.text).toBe('Main Street');
  });
});
