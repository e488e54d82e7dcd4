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
  ])('"%s" has a text', (reason) => {
    expect(sentences.filter(([pattern]) => pattern.test(reason))).toHaveLength(1);
    // The words are still those of the service.
    for (const words of reason.split(/ ?\d[\d:]*(?: %)? ?/)) expect(source).toContain(words);
  });
});
