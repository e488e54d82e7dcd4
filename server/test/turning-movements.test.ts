import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { type Bin, type Cell, LEGS, type Leg, type Turn } from '../src/traffic/bin.ts';
import { exitOf, turningMovements } from '../src/traffic/turning-movements.ts';
import { binAt, binOf, QUARTER_MS } from './bins.ts';

// A study of the city of Toronto (data/README.md), with the figures that the city printed for it. It names vehicles by
// their direction of travel on entry: its W comes from the leg that is E here.

const TORONTO = 'America/Toronto';
const CLASSES: Record<string, Cell['class']> = {
  CARS: { code: 'CAR', mode: 'MOTOR', isHeavy: false },
  TRUCK: { code: 'TRUCK', mode: 'MOTOR', isHeavy: true },
  BUS: { code: 'BUS', mode: 'MOTOR', isHeavy: true },
  PEDS: { code: 'PEDESTRIAN', mode: 'PEDESTRIAN', isHeavy: false },
  BIKE: { code: 'BICYCLE', mode: 'BICYCLE', isHeavy: false },
  OTHER: { code: 'OTHER', mode: 'OTHER', isHeavy: false },
};

const rows: Record<string, string>[] = parse(
  readFileSync(new URL('data/turning-movements.csv', import.meta.url), 'utf8'),
  { columns: true },
);

function cellOf([column, count]: [string, string]): Cell[] {
  const [from, name = '', turn] = column.split('_') as [Leg, string?, Turn?];
  const vehicleClass = CLASSES[name];
  if (!vehicleClass) return [];
  return [{ movement: turn ? { from, turn } : { from }, class: vehicleClass, volume: Number(count) }];
}

const bins = rows.map((row) =>
  binOf(Date.parse(`${row.start}:00-05:00`), Object.entries(row).flatMap(cellOf)),
);
const range = {
  from: Date.parse('2018-02-27T00:00:00-05:00'),
  until: Date.parse('2018-02-28T00:00:00-05:00'),
};
const study = turningMovements(bins, range, TORONTO);
const peakOf = (name: string) => study.peaks.find(({ window }) => window === name);

/** What the city printed under this direction of travel came from this leg. */
const PRINTED: Record<string, Leg> = { N: 'S', E: 'W', S: 'N', W: 'E' };

describe('the turning movement count of a city', () => {
  it.each([
    ['AM', '08:00', 1_399, 0.866, 310, 141],
    ['PM', '16:45', 1_555, 0.974, 300, 113],
  ])('has the printed peak hour %s from %s', (name, start, volume, factor, pedestrians, bicycles) => {
    const peak = peakOf(name);
    expect(peak).toMatchObject({ date: '2018-02-27', volume, pedestrians, bicycles, d: null, k: null });
    expect(peak?.start).toEqual(new Date(`2018-02-27T${start}:00-05:00`));
    expect(peak?.peakHourFactor).toBeCloseTo(factor, 3);
  });

  it.each([
    ['AM', { N: [15, 10, 8], E: [7, 370, 17], S: [0, 0, 0], W: [54, 794, 124] }],
    ['PM', { N: [8, 24, 55], E: [10, 922, 11], S: [0, 0, 0], W: [22, 417, 86] }],
  ])('has the printed movements %s', (name, printed) => {
    const peak = peakOf(name);
    for (const [direction, volumes] of Object.entries(printed)) {
      const from = PRINTED[direction];
      const found = (['L', 'T', 'R'] as const).map(
        (turn) => peak?.movements.find((each) => each.from === from && each.turn === turn)?.volume ?? 0,
      );
      expect(found).toEqual(volumes);
      const approach = peak?.approaches.find(({ leg }) => leg === from);
      expect(approach?.volume).toBe(volumes.reduce((sum, n) => sum + n, 0));
    }
  });

  it.each([
    ['AM', { N: [0.625, 0.625, 0.667], E: [0.438, 0.856, 0.607], W: [0.711, 0.919, 0.646] }],
    ['PM', { N: [0.5, 0.75, 0.655], E: [0.833, 0.956, 0.688], W: [0.611, 0.965, 0.796] }],
  ])('has the printed factors of movements %s', (name, printed) => {
    for (const [direction, factors] of Object.entries(printed))
      for (const [n, turn] of (['L', 'T', 'R'] as const).entries()) {
        const found = peakOf(name)?.movements.find(
          (each) => each.from === PRINTED[direction] && each.turn === turn,
        );
        expect(Math.abs((found?.peakHourFactor ?? 0) - (factors[n] ?? 9))).toBeLessThanOrEqual(0.00051);
      }
  });

  it.each([
    ['AM', { N: 141, E: 378, S: 71, W: 809 }],
    ['PM', { N: 120, E: 977, S: 33, W: 425 }],
  ])('has the printed exits, by the leg through which vehicles leave, %s', (name, printed) => {
    const exits = peakOf(name)?.exits.map(({ leg, volume }) => [leg, volume]);
    expect(exits).toEqual(Object.entries(printed));
  });

  it('has pedestrians and bicycles by leg', () => {
    expect(peakOf('AM')?.pedestriansByLeg).toEqual([
      { leg: 'N', volume: 63 },
      { leg: 'E', volume: 66 },
      { leg: 'S', volume: 83 },
      { leg: 'W', volume: 98 },
    ]);
    expect(peakOf('AM')?.bicyclesByLeg.map(({ volume }) => volume)).toEqual([0, 119, 5, 17]);
  });

  it('has totals that are the sums of its quarter hours', () => {
    const { total } = study;
    expect(total.volume).toBe(study.bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0));
    for (const part of [total.approaches, total.exits, total.movements])
      expect(part.reduce((sum, { volume }) => sum + volume, 0)).toBe(total.volume);
    for (const { volume, byClass } of total.movements)
      expect(byClass.reduce((sum, each) => sum + each.volume, 0)).toBe(volume);
    expect(total.pedestrians).toBe(study.bins.reduce((sum, { pedestrians }) => sum + pedestrians, 0));
    expect(study.bins).toHaveLength(36 - 4);
    expect(study.bins[0]).toMatchObject({ start: new Date('2018-02-27T12:30:00Z'), status: 'VALID' });
  });

  it('is the same if what was not seen is not reported as 0', () => {
    const without = bins.map((bin) => ({ ...bin, cells: bin.cells.filter(({ volume }) => volume > 0) }));
    expect(turningMovements(without, range, TORONTO)).toEqual(study);
  });

  it('lists the same movements in every peak, in the order of legs and turns', () => {
    const named = study.total.movements.map(({ from, turn }) => `${from}${turn}`);
    expect(named.length).toBeGreaterThan(8);
    const order = LEGS.flatMap((leg) => ['L', 'T', 'R', 'U'].map((turn) => `${leg}${turn}`));
    expect(named).toEqual(order.filter((each) => named.includes(each)));
    for (const peak of study.peaks)
      expect(peak.movements.map(({ from, turn }) => `${from}${turn}`)).toEqual(named);
  });
});

describe('movements', () => {
  it.each<[Leg, Turn, Leg]>([
    ['N', 'L', 'E'],
    ['N', 'T', 'S'],
    ['N', 'R', 'W'],
    ['N', 'U', 'N'],
    ['E', 'L', 'S'],
    ['W', 'R', 'S'],
    ['SE', 'T', 'NW'],
    ['NW', 'L', 'NE'],
  ])('from %s that turn %s leave through %s', (from, turn, exit) => {
    expect(exitOf(from, turn)).toBe(exit);
  });

  it('without a turn are counted at their approach, and rejected ones are not', () => {
    const start = range.from + 8 * 4 * QUARTER_MS;
    const counted = binOf(start, [
      { movement: { from: 'N' }, volume: 3 },
      { movement: { from: 'N', turn: 'L' }, volume: 4 },
    ]);
    const rejected: Bin = { ...binAt(start + QUARTER_MS, null), status: 'EXCLUDED', cells: counted.cells };
    const { total, peaks } = turningMovements([counted, rejected], range, TORONTO);
    expect(total).toMatchObject({
      volume: 7,
      approaches: [
        { leg: 'N', volume: 7 },
        { leg: 'E', volume: 0 },
      ],
      exits: [
        { leg: 'N', volume: 0 },
        { leg: 'E', volume: 4 },
      ],
    });
    expect(peaks).toEqual([]);
  });
});
