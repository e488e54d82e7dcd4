import { countPeriod } from '@gantry/contract/counts';
import { DAY_MS } from '@gantry/contract/durations';
import { describe, expect, it } from 'vitest';
import { periodsOf, QUARTER_MS, virtualCounter } from '../src/counter.ts';

const counter = virtualCounter(7, 'sim-7-');
const MONDAY = Date.parse('2026-01-12T00:00:00-05:00');

/** The periods of a day of the week, 0 being Monday. */
const dayOf = (day: number) =>
  Array.from({ length: 96 }, (_, quarter) =>
    periodsOf(counter, MONDAY + day * DAY_MS + quarter * QUARTER_MS).map((period) =>
      countPeriod.parse(period),
    ),
  );
type Quarter = ReturnType<typeof dayOf>[number];

const volumeOf = (quarter: Quarter, direction?: string): number =>
  quarter.reduce((sum, one) => sum + (direction && one.direction !== direction ? 0 : (one.volume ?? 0)), 0);
const peakOf = (quarters: readonly Quarter[], from: number, until: number) => {
  const hours = quarters
    .slice(from * 4, until * 4 - 3)
    .map((_, n) => quarters.slice(from * 4 + n, from * 4 + n + 4));
  const total = (hour: readonly Quarter[]) => hour.reduce((sum, quarter) => sum + volumeOf(quarter), 0);
  const hour = hours.reduce((best, one) => (total(one) > total(best) ? one : best));
  const phf = total(hour) / (4 * Math.max(...hour.map((quarter) => volumeOf(quarter))));
  const toCity = hour.reduce((sum, quarter) => sum + volumeOf(quarter, 'SB'), 0) / total(hour);
  return { phf, toCity };
};

describe('the counter', () => {
  it('reports four lanes in two directions, always the same', () => {
    const periods = periodsOf(counter, MONDAY);
    expect(periods.map(({ direction, lane }) => [direction, lane])).toEqual([
      ['SB', 1],
      ['SB', 2],
      ['NB', 1],
      ['NB', 2],
    ]);
    expect(periodsOf(counter, MONDAY)).toEqual(periods);
    expect(periodsOf(virtualCounter(8, 'sim-8-'), MONDAY)).not.toEqual(periods);
  });

  it('has the figures of a real road', () => {
    const week = [0, 1, 2, 3, 4, 5, 6].map(dayOf);
    const volumes = week.map((day) => day.reduce((sum, quarter) => sum + volumeOf(quarter), 0));
    for (const [day, volume] of volumes.entries()) {
      expect(volume).toBeGreaterThan(day < 5 ? 27_000 : 20_000);
      expect(volume).toBeLessThan(day < 5 ? 34_000 : 26_000);
    }
    for (const day of week.slice(0, 5)) {
      const [morning, evening] = [peakOf(day, 5, 10), peakOf(day, 15, 20)];
      for (const { phf } of [morning, evening]) {
        expect(phf).toBeGreaterThan(0.85);
        expect(phf).toBeLessThan(0.98);
      }
      expect(morning.toCity).toBeGreaterThan(0.57);
      expect(evening.toCity).toBeLessThan(0.43);
      const classes = day.flat().flatMap(({ byClass }) => Object.entries(byClass?.counts ?? {}));
      const heavy = classes.reduce((sum, [code, count]) => sum + (Number(code) >= 4 ? count : 0), 0);
      const all = classes.reduce((sum, [, count]) => sum + count, 0);
      expect(heavy / all).toBeGreaterThan(0.05);
      expect(heavy / all).toBeLessThan(0.12);
    }
  });
});
