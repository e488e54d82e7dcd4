import { legs, turns } from '@gantry/contract/values';
import { describe, expect, it } from 'vitest';
import { columnsOf, countOf } from '../src/pages/traffic/studies/count-table.ts';
import { countBins, heavyShare, partShown } from '../src/pages/traffic/studies/intersection/figures.ts';
import {
  entryAcross,
  exitOf,
  type Leg,
  layoutOf,
  pathOf,
  pointAt,
  travelFrom,
  travelTo,
} from '../src/pages/traffic/studies/intersection/geometry.ts';

/** The numbers of a path: where it begins, its bends, and where it ends. */
const numbers = (path: string): number[] => [...path.matchAll(/-?[\d.]+/g)].map(Number);

describe('the drawing of an intersection', () => {
  it.each<[Leg, string, string]>([
    ['N', 'SB', 'NB'],
    ['E', 'WB', 'EB'],
    ['SW', 'NE', 'SW'],
  ])('names vehicles from %s by their direction %s, and those that leave there %s', (leg, from, to) => {
    expect([travelFrom(leg), travelTo(leg)]).toEqual([from, to]);
  });

  it('has north at the top and east on the right', () => {
    expect(pointAt('N', 100, 10)).toEqual({ x: 10, y: -100 });
    expect(pointAt('E', 100, 10)).toEqual({ x: 100, y: 10 });
    expect(pointAt('S', 100, 10)).toEqual({ x: -10, y: 100 });
    expect(pointAt('W', 100, 10)).toEqual({ x: -100, y: -10 });
  });

  it('has approaches on the side on which traffic drives, and left turns left of right turns', () => {
    const right = layoutOf(['N', 'E', 'S', 'W'], false, 'right');
    const left = layoutOf(['N', 'E', 'S', 'W'], false, 'left');
    const fromSouth = (layout: typeof right) =>
      (['L', 'T', 'R'] as const).map((turn) => pointAt('S', layout.radius, entryAcross(layout, turn)).x);
    // Northbound traffic is on the right of the middle line where it drives on the right, else on the left.
    expect(Math.min(...fromSouth(right))).toBeGreaterThan(0);
    expect(Math.max(...fromSouth(left))).toBeLessThan(0);
    for (const layout of [right, left])
      expect(fromSouth(layout)).toEqual(fromSouth(layout).toSorted((a, b) => a - b));
  });

  it('leads every movement from its approach to its exit', () => {
    for (const side of ['left', 'right'] as const)
      for (const from of legs)
        for (const turn of turns) {
          const layout = layoutOf([from, exitOf(from, turn)], true, side);
          const path = numbers(pathOf(layout, from, turn));
          const enter = entryAcross(layout, turn);
          const { x, y } = pointAt(exitOf(from, turn), layout.radius, -enter);
          expect(path.slice(-2)).toEqual([x, y]);
          const start = pointAt(from, layout.radius, enter);
          expect(path.slice(0, 2)).toEqual([start.x, start.y]);
        }
  });

  it('keeps legs apart, also those at 45 degrees', () => {
    const { radius, half } = layoutOf(legs, false, 'right');
    const corner = (leg: Leg, across: number) => pointAt(leg, radius, across);
    for (const [at, leg] of legs.entries()) {
      const next = legs[(at + 1) % legs.length] ?? leg;
      const [a, b] = [corner(leg, half), corner(next, -half)];
      expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeLessThan(1);
    }
  });
});

describe('the figures of an intersection', () => {
  const movement = (from: Leg, turn: 'L' | 'T', volume: number, byClass: [string, number][] = []) => ({
    ...{ from, turn, volume },
    byClass: byClass.map(([code, n]) => ({ class: code, volume: n })),
  });

  it('have heavy vehicles as a share of all, and none without classes', () => {
    const all = [
      movement('N', 'L', 6, [
        ['CAR', 5],
        ['TRUCK', 1],
      ]),
      movement('E', 'T', 4, [['BUS', 1]]),
    ];
    expect(heavyShare(all)).toBeCloseTo(0.2);
    expect(heavyShare([movement('N', 'L', 6)])).toBeNull();
    expect(heavyShare([])).toBeNull();
  });

  it('show the busiest hour first, and the day if there is none', () => {
    const peak = { window: 'DAY' } as never;
    expect(partShown(undefined, ['DAY', 'total'], [peak])).toBe('DAY');
    expect(partShown(undefined, ['DAY', 'total'], [])).toBe('total');
    expect(partShown('AM', ['AM', 'period'], [])).toBe('AM');
    expect(partShown('total', ['AM', 'period'], [])).toBe('period');
  });

  it('keep pedestrians and bicycles out of the columns of motor vehicles', () => {
    const bins = countBins([
      {
        ...{ start: new Date(0), end: new Date(900_000), status: 'VALID', coverage: 1, volume: 4 },
        ...{ movements: [movement('E', 'T', 4)], pedestrians: 3, bicycles: 0 },
      },
    ]);
    const columns = columnsOf(bins);
    expect(columns.map(({ isMotor }) => isMotor)).toEqual([true, false]);
    expect(columns.map((column) => bins[0] && countOf(bins[0], column))).toEqual([4, 3]);
  });
});
