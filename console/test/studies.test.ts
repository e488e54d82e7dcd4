import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CountBin,
  columnsOf,
  countOf,
  hourFrom,
  knownOf,
  peaksAt,
} from '../src/pages/traffic/studies/count-table.ts';
import { sentences } from '../src/pages/traffic/studies/reasons.tsx';
import {
  barsOf,
  classesOf,
  positionOf,
  speedOptions,
  upToBoth,
  usualClasses,
  verdictOf,
} from '../src/pages/traffic/studies/speed-study.ts';

const QUARTER_MS = 900_000;
type Cells = CountBin['cells'];

const bin = (at: number, status: CountBin['status'], volume: number | null, cells: Cells = []): CountBin => ({
  start: new Date(at * QUARTER_MS),
  end: new Date((at + 1) * QUARTER_MS),
  status,
  coverage: status === 'VALID' ? 1 : status === 'PARTIAL' ? 0.5 : 0,
  volume,
  cells,
});

describe('the columns of a count', () => {
  it('stand by leg and turn, by direction and lane, or by class, as on a count sheet', () => {
    const names = (cells: Cells) =>
      columnsOf([bin(0, 'VALID', 1, cells)]).map(({ part: { movement, direction, lane, class: code } }) =>
        [movement?.from, movement?.turn, direction, lane, code]
          .filter((each) => each !== undefined)
          .join(' '),
      );
    const turn = (from: string, turn: string) => ({ movement: { from, turn }, volume: 1 });
    expect(names([turn('W', 'R'), turn('E', 'T'), turn('N', 'R'), turn('E', 'L'), turn('N', 'L')])).toEqual([
      'N L',
      'N R',
      'E L',
      'E T',
      'W R',
    ]);
    const lane = (direction: string, lane: number | string) => ({ direction, lane, volume: 1 });
    expect(names([lane('SB', 10), lane('SB', 2), lane('NB', 1), lane('SB', 'Bus')])).toEqual([
      'NB 1',
      'SB 2',
      'SB 10',
      'SB Bus',
    ]);
    const ofClass = (code: string) => ({ class: code, volume: 1 });
    expect(names([ofClass('PEDESTRIAN'), ofClass('TRUCK'), ofClass('CAR')])).toEqual([
      'CAR',
      'TRUCK',
      'PEDESTRIAN',
    ]);
    expect(names([{ volume: 1 }])).toEqual([]);
  });

  it('tell bicycles and pedestrians, which are not in the volume, from motor vehicles', () => {
    const all = columnsOf([
      bin(0, 'VALID', 2, [
        { class: 'CAR', volume: 2 },
        { class: 'BICYCLE', volume: 9 },
      ]),
    ]);
    expect(all.map(({ isMotor }) => isMotor)).toEqual([true, false]);
  });
});

it('a part without a count is 0 where all is known, and not known elsewhere', () => {
  const [column] = columnsOf([bin(0, 'VALID', 5, [{ direction: 'NB', volume: 5 }])]);
  if (!column) throw new Error('There is no column');
  const other: Cells = [{ direction: 'SB', volume: 3 }];
  expect(countOf(bin(0, 'VALID', 3, other), column)).toBe(0);
  expect(countOf(bin(0, 'PARTIAL', 3, other), column)).toBeNull();
  expect(countOf(bin(0, 'GAP', null), column)).toBeNull();
  expect(countOf(bin(0, 'EXCLUDED', null), column)).toBeNull();
});

it('the hour from a quarter hour is the sum of four valid ones', () => {
  const bins = [1, 2, 3, 4, 5].map((volume, at) => bin(at, 'VALID', volume));
  expect([0, 1, 2].map((at) => hourFrom(bins, at))).toEqual([10, 14, null]);
  expect(hourFrom([...bins.slice(0, 2), bin(2, 'PARTIAL', 3), ...bins.slice(3)], 0)).toBeNull();
  expect(knownOf([...bins.slice(0, 2), bin(2, 'PARTIAL', 3), bin(3, 'GAP', null)])).toEqual({
    valid: 2,
    coverage: 0.625,
  });
});

it('an interval is in a peak hour only as a whole', () => {
  const peak = { window: 'AM', start: new Date(QUARTER_MS), end: new Date(5 * QUARTER_MS) };
  const at = (n: number) => peaksAt(bin(n, 'VALID', 1), [peak as never]);
  expect([0, 1, 4, 5].map(at)).toEqual([[], ['AM'], ['AM'], []]);
  const hour = { ...bin(0, 'VALID', 1), end: new Date(4 * QUARTER_MS) };
  expect(peaksAt(hour, [peak as never])).toEqual([]);
});

describe('the classes of speeds', () => {
  it('are read as they are entered', () => {
    expect(classesOf('31-35, 36–40;41 - 45')).toEqual([
      [31, 35],
      [36, 40],
      [41, 45],
    ]);
  });

  it.each(['', '31', '31-35,', '35-31', '31-35, 35-40', '36-40, 31-35', '31-35 36-40', 'a-b'])(
    'are not "%s"',
    (text) => {
      expect(classesOf(text)).toBeNull();
    },
  );

  it('are usually five units wide, up to the highest speed that is believed', () => {
    expect([usualClasses('KMH').at(0), usualClasses('KMH').at(-1)]).toEqual([
      [1, 5],
      [246, 250],
    ]);
    expect(usualClasses('MPH').at(-1)).toEqual([151, 155]);
  });

  it('are sent for the method that needs them only, with days by their number', () => {
    const choice = {
      units: 'MPH',
      classes: '31-35',
      weekdays: ['MON', 'SAT'],
      hours: '09:00-15:30',
    } as const;
    const vehicleClass = undefined;
    expect(speedOptions({ ...choice, vehicleClass, method: 'LINEAR' })).toEqual({
      units: 'MPH',
      method: 'LINEAR',
      days: [1, 6],
      hours: ['09:00-15:30'],
    });
    expect(speedOptions({ ...choice, vehicleClass, method: 'CLASSED' })).toMatchObject({
      binEdges: [[31, 35]],
    });
    expect(speedOptions({ ...choice, vehicleClass, method: 'CLASSED', classes: 'x' })).toBeNull();
  });
});

describe('the chart of speeds', () => {
  const unit = (from: number, count: number) => ({ from, to: from, count });

  it('reaches to the limit, and its curve to the last vehicle', () => {
    const bars = barsOf([unit(48, 1), unit(49, 3)], 51.2);
    expect(bars.map(({ from, upTo }) => [from, upTo])).toEqual([
      [48, 0.25],
      [49, 1],
      [50, 1],
      [51, 1],
    ]);
    expect(barsOf([unit(48, 1)], 46.5).map(({ from }) => from)).toEqual([46, 47, 48]);
    expect(barsOf([unit(48, 0)], 50)).toEqual([]);
  });

  it('leaves out empty classes at the ends, unless the limit is in one', () => {
    const classes = [1, 6, 11, 16, 21].map((from) => ({ from, to: from + 4, count: from === 11 ? 2 : 0 }));
    expect(barsOf(classes, null).map(({ from }) => from)).toEqual([11]);
    expect(barsOf(classes, 20.5).map(({ from }) => from)).toEqual([11, 16]);
  });

  it('places a speed within its class', () => {
    const bars = barsOf([unit(48, 1), unit(49, 3)], null);
    expect([48, 48.5, 49.9, 50, 51, 47].map((speed) => positionOf(bars, speed))).toEqual([
      0,
      0.5,
      expect.closeTo(1.9),
      2,
      null,
      null,
    ]);
    const classes = barsOf([{ from: 31, to: 35, count: 2 }], null);
    expect([positionOf(classes, 33.5), positionOf(classes, 33, true), positionOf(classes, 35, true)]).toEqual(
      [0.5, 0.5, 1],
    );
  });

  it('compares the shares of slower vehicles', () => {
    expect(upToBoth([unit(50, 1), unit(51, 1)], [unit(49, 4)])).toEqual([
      { below: 49, shares: [0, 0] },
      { below: 50, shares: [0, 1] },
      { below: 51, shares: [0.5, 1] },
      { below: 52, shares: [1, 1] },
    ]);
    expect(upToBoth([unit(50, 1)], []).map(({ shares }) => shares[1])).toEqual([null, null]);
  });
});

it('a sample is too small for percentiles, for its margin, or large enough', () => {
  const sampleSize = { needed: 83, margin: 2 };
  expect([0, 1].map((n) => verdictOf({ n, sampleSize: null }))).toEqual(['none', 'tooFew']);
  expect([29, 30, 82, 83].map((n) => verdictOf({ n, sampleSize }))).toEqual([
    'tooFew',
    'less',
    'less',
    'enough',
  ]);
});

describe('the reasons of the service', () => {
  const folder = join(import.meta.dirname, '../../server/src/traffic');
  const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');

  it.each([
    'The window is not over',
    'The day is not over',
    'The year is not over',
    'No four successive quarter hours are whole and valid',
    'No vehicle was counted',
    'No data',
    'All data were rejected',
    'A part of the volume is an estimate',
    'An hour has no data',
    'Only 90 % of the day is known',
    'Only 90 % of the day is known: data of 2 h were rejected',
    'Only 50 % of the hour from 08:00 is known',
    'A gap in the hour from 08:00 is too long for its usual volume (R2)',
    'No vehicle has a speed',
    'Percentiles need at least 30 speeds, and there are 20',
    'Small sample: 60 speeds',
    'Means need at least two speeds in each study',
    'One of the studies has no speed with a limit',
    'V85 needs at least 30 speeds in each study',
    'All values of each study are equal, so nothing is known about chance',
    '340 days are complete, and the mean needs 350',
    'In month 3, 5, an hour of the week is not known',
    'In month 3, a weekday has no complete day',
    '93 % of the hours are valid, and design hours need 95 %',
    'The annual average is not known',
    'The usual volume of 3 of 5 hours is not known',
    'The service was down: data that arrived later count',
  ])('"%s" has a text', (reason) => {
    expect(sentences.filter(([pattern]) => pattern.test(reason))).toHaveLength(1);
    // The words are still those of the service.
    for (const words of reason.split(/ ?\d[\d:, ]*(?: ?%)? ?/)) expect(source).toContain(words);
  });
});
