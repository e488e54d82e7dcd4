import { HOUR_MS } from '@gantry/contract/durations';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bin, type Cell, joinBins, sumCells } from '../src/traffic/bin.ts';
import { binsByDay, hoursOf } from '../src/traffic/local-hours.ts';
import { busiestHour, peakHourFactor, peakHours } from '../src/traffic/peak-hours.ts';
import { localBounds } from '../src/traffic/range.ts';
import { binAt, binOf, QUARTER_MS, quartersFrom } from './bins.ts';

/** One direction of Morningside Avenue, Toronto, on 7 March 2019 (MOVE, count 4/2156283). */
const MORNINGSIDE = [
  21, 16, 10, 9, 12, 8, 9, 9, 11, 5, 7, 6, 3, 3, 7, 5, 6, 5, 16, 22, 17, 17, 48, 48, 52, 56, 68, 86, 79, 100,
  113, 95, 139, 88, 119, 142, 121, 85, 84, 96, 100, 69, 73, 92, 95, 98, 77, 104, 84, 72, 73, 92, 81, 81, 83,
  74, 90, 81, 85, 114, 92, 100, 135, 103, 132, 111, 106, 85, 95, 97, 106, 101, 98, 90, 99, 91, 86, 57, 58, 47,
  65, 61, 47, 42, 45, 51, 42, 39, 31, 36, 28, 33, 27, 32, 14, 20,
];
const TORONTO = 'America/Toronto';
const DAY = dayOf('2019-03-07', TORONTO);

/** The local day as a range. */
function dayOf(day: string, zone: string): { from: number; until: number } {
  const noon = Date.parse(`${day}T12:00:00Z`);
  const bounds = localBounds({ from: noon, until: noon + 1 }, 1_440, zone);
  return { from: bounds[0] ?? 0, until: bounds[1] ?? 0 };
}

/** The quarter hours of a range, with a volume that depends on the number of the quarter. */
function quartersOf(range: { from: number; until: number }, volumeOf: (n: number) => number): Bin[] {
  return Array.from({ length: (range.until - range.from) / QUARTER_MS }, (_, n) =>
    binAt(range.from + n * QUARTER_MS, volumeOf(n)),
  );
}

const windowOf = (found: ReturnType<typeof peakHours>, name: string) =>
  found.days[0]?.windows.find(({ window }) => window === name);

describe('peak hours', () => {
  const found = peakHours(
    quartersOf(DAY, (n) => MORNINGSIDE[n] ?? 0),
    DAY,
    TORONTO,
  );

  it.each([
    ['AM', '08:00', '09:00', 488, 0.8592],
    ['MIDDAY', '14:30', '15:30', 391, 0.8575],
    ['PM', '15:30', '16:30', 481, 0.8907],
    ['DAY', '08:00', '09:00', 488, 0.8592],
  ])('of a day in Toronto are those that MOVE prints: %s from %s', (window, start, end, volume, factor) => {
    expect(windowOf(found, window)).toMatchObject({
      start: new Date(`2019-03-07T${start}:00-05:00`),
      end: new Date(`2019-03-07T${end}:00-05:00`),
      volume,
      peakHourFactor: factor,
      k: Math.round((volume / 6_063) * 10_000) / 10_000,
      status: 'VALID',
      reason: null,
    });
  });

  it('count the valid quarter hours of each window', () => {
    expect(found.days[0]?.windows.map(({ validBins }) => validBins)).toEqual([16, 26, 24, 96]);
  });

  it('of one day are also those of the average day', () => {
    const average = found.average?.windows.find(({ window }) => window === 'PM');
    expect(average).toMatchObject({
      start: '15:30',
      end: '16:30',
      volume: 481,
      peakHourFactor: 0.8907,
      k: 0.0793,
    });
    expect(found.average?.n).toBe(1);
  });

  it('use only what is known: without data from 08:30 they are 07:30 to 08:30, and no K', () => {
    const until = DAY.from + 8.5 * HOUR_MS;
    const bins = quartersOf(DAY, () => 85).map((bin) => (bin.start < until ? bin : binAt(bin.start, null)));
    const late = bins.map((bin) => (bin.start < DAY.from + 7.5 * HOUR_MS ? { ...bin, volume: 20 } : bin));
    expect(windowOf(peakHours(late, DAY, TORONTO), 'AM')).toMatchObject({
      start: new Date(DAY.from + 7.5 * HOUR_MS),
      volume: 340,
      peakHourFactor: 1,
      k: null,
      validBins: 8,
      status: 'PARTIAL',
    });
  });

  it.each(['PROVISIONAL', 'PARTIAL', 'EXCLUDED', 'IMPUTED', 'INSUFFICIENT', 'GAP'] as const)(
    'contain no quarter hour that is %s',
    (status) => {
      const bins = quartersOf(DAY, () => 10).map((bin, n) =>
        n === 33 ? { ...bin, volume: 500, status } : bin,
      );
      expect(windowOf(peakHours(bins, DAY, TORONTO), 'AM')).toMatchObject({
        start: new Date(DAY.from + 6.5 * HOUR_MS),
        volume: 40,
        status: status === 'PROVISIONAL' ? 'PROVISIONAL' : 'PARTIAL',
      });
    },
  );

  it('contain only quarter hours that lie wholly in the range', () => {
    const range = { from: DAY.from + 8 * HOUR_MS + 60_000, until: DAY.from + 9 * HOUR_MS + 30 * 60_000 };
    const found = peakHours(
      quartersOf(DAY, (n) => (n === 32 ? 900 : n)),
      range,
      TORONTO,
    );
    expect(windowOf(found, 'AM')).toMatchObject({ start: new Date(DAY.from + 8.5 * HOUR_MS), validBins: 5 });
  });

  it('say why there is none', () => {
    const reasonFor = (bins: Bin[]) => windowOf(peakHours(bins, DAY, TORONTO), 'AM');
    expect(reasonFor(quartersOf(DAY, () => 0))).toMatchObject({
      volume: null,
      status: 'INSUFFICIENT',
      reason: 'No vehicle was counted',
    });
    expect(reasonFor(quartersOf(DAY, () => 5).filter((_, n) => n % 4 !== 0))).toMatchObject({
      start: null,
      status: 'INSUFFICIENT',
      reason: 'No four successive quarter hours are whole and valid',
    });
    const future = quartersOf(DAY, () => 0).map((bin) => ({
      ...bin,
      status: 'PROVISIONAL' as const,
      volume: null,
    }));
    expect(reasonFor(future)).toMatchObject({
      status: 'PROVISIONAL',
      reason: 'The window is not over',
      k: null,
    });
    expect(peakHours([], DAY, TORONTO).average).toBeNull();
  });

  it('are the first of several, and change with the windows', () => {
    const bins = quartersOf(DAY, () => 10);
    const windows = [
      { window: 'AM', from: 420, until: 495 },
      { window: 'MIDDAY' },
      { window: 'PM', from: 720, until: 1_440 },
    ] as const;
    const starts = peakHours(bins, DAY, TORONTO, { windows }).days[0]?.windows.map(({ start }) =>
      start?.getTime(),
    );
    // At noon begins the afternoon, so 08:00 is the first hour after the peak of the morning.
    expect(starts).toEqual([7, 8, 12].map((hour) => DAY.from + hour * HOUR_MS));
  });

  it('list their parts with the factor of each in the hour of the total', () => {
    const parts = (n: number): Cell[] => [
      { direction: 'NB', lane: 1, volume: n % 4 === 0 ? 10 : 5 },
      { direction: 'SB', lane: 1, volume: 20 },
      { direction: 'SB', lane: 2, class: TRUCK, volume: 5 },
      { direction: 'SB', lane: 2, class: BICYCLE, volume: 50 },
    ];
    const bins = Array.from({ length: 4 }, (_, n) =>
      binOf(DAY.from + 8 * HOUR_MS + n * QUARTER_MS, parts(n)),
    );
    const peak = (by: ('direction' | 'lane' | 'class')[]) =>
      windowOf(peakHours(bins, DAY, TORONTO, { by }), 'AM');
    expect(peak([])).toMatchObject({ volume: 125, d: 0.8, dDirection: 'SB', t: 0.16, by: [] });
    expect(peak(['direction'])?.by).toEqual([
      { direction: 'NB', volume: 25, peakHourFactor: 0.625 },
      { direction: 'SB', volume: 100, peakHourFactor: 1 },
    ]);
    expect(peak(['direction', 'lane'])?.by).toHaveLength(3);
    expect(peak(['class', 'direction'])?.by).toContainEqual({
      direction: 'NB',
      volume: 25,
      peakHourFactor: 0.625,
    });
    expect(peak(['class', 'direction'])?.by).toContainEqual({
      class: 'TRUCK',
      direction: 'SB',
      volume: 20,
      peakHourFactor: 1,
    });
    expect(peak(['class'])?.by).toContainEqual({ class: 'TRUCK', volume: 20, peakHourFactor: 1 });
  });

  it('have no heavier direction where not exactly two are counted, and no share of heavy vehicles without classes', () => {
    const peakOf = (cells: Cell[]) =>
      windowOf(
        peakHours(
          Array.from({ length: 4 }, (_, n) => binOf(DAY.from + 8 * HOUR_MS + n * QUARTER_MS, cells)),
          DAY,
          TORONTO,
        ),
        'AM',
      );
    const [nb, sb, eb] = (['NB', 'SB', 'EB'] as const).map((direction) => ({ direction, volume: 5 }));
    if (!nb || !sb || !eb) throw new Error('three directions');
    expect(peakOf([nb])).toMatchObject({ d: null, dDirection: null, t: null });
    expect(peakOf([nb, sb, eb])).toMatchObject({ d: null, dDirection: null });
    expect(peakOf([nb, { volume: 5 }])).toMatchObject({ d: null });
    expect(peakOf([sb, nb])).toMatchObject({ d: 0.5, dDirection: 'NB' });
  });

  it('of the average day are means by the local clock, over a change of clocks', () => {
    const range = { from: dayOf('2026-03-06', TORONTO).from, until: dayOf('2026-03-09', TORONTO).until };
    const days = binsByDay([], range, TORONTO);
    expect(days.map((day) => (day.until - day.from) / HOUR_MS)).toEqual([24, 24, 23, 24]);
    // 100 vehicles in each quarter of the hour from 08:00 on every clock, 10 or 20 otherwise.
    const bins = quartersOf(range, () => 0).map((bin) => {
      const hour = Number(
        new Date(bin.start).toLocaleString('en-GB', { timeZone: TORONTO, hour: '2-digit' }),
      );
      return { ...bin, volume: hour === 8 ? 100 : 10 };
    });
    const found = peakHours(bins, range, TORONTO);
    expect(found.days.map(({ windows }) => windows[0]?.volume)).toEqual([400, 400, 400, 400]);
    expect(found.days.map(({ windows }) => windows[3]?.validBins)).toEqual([96, 96, 92, 96]);
    expect(found.average).toMatchObject({
      n: 4,
      windows: [{ window: 'AM', start: '08:00', end: '09:00', volume: 400 }, {}, {}, {}],
    });
    expect(found.average?.windows[3]?.k).toBeCloseTo(400 / 1_320, 4);
  });

  it.each([
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    ['Australia/Lord_Howe', '2026-10-04', 23.5],
    ['America/New_York', '2026-03-08', 23],
    ['America/New_York', '2026-11-01', 25],
  ])('are found in %s on %s, a complete day of %f hours', (zone, day, hours) => {
    const range = dayOf(day, zone);
    const bins = quartersOf(range, (n) => (n >= 60 && n < 64 ? 50 : 10));
    const found = peakHours(bins, range, zone);
    expect(windowOf(found, 'DAY')).toMatchObject({
      start: new Date(range.from + 15 * HOUR_MS),
      volume: 200,
      validBins: hours * 4,
      k: Math.round((200 / (hours * 40 + 160)) * 10_000) / 10_000,
    });
    const [first] = binsByDay(bins, range, zone);
    expect(first && hoursOf(first, zone).reduce((sum, { start, end }) => sum + end - start, 0)).toBe(
      hours * HOUR_MS,
    );
  });

  it('of an average day have no K unless each of its quarter hours is known', () => {
    const bins = quartersOf(DAY, () => 10);
    const kOf = (some: Bin[]) => peakHours(some, DAY, TORONTO).average?.windows[3]?.k;
    expect([kOf(bins), kOf(bins.slice(1))]).toEqual([0.0417, null]);
  });

  it('end at 24:00 at the latest', () => {
    const bins = quartersOf(DAY, (n) => n);
    expect(windowOf(peakHours(bins, DAY, TORONTO), 'DAY')).toMatchObject({
      end: new Date(DAY.until),
      volume: 374,
    });
    expect(peakHours(bins, DAY, TORONTO).average?.windows[3]).toMatchObject({ start: '23:00', end: '24:00' });
  });
});

describe('the busiest hour', () => {
  const volumes = fc.array(fc.option(fc.integer({ min: 0, max: 30 }), { freq: 8 }), {
    minLength: 4,
    maxLength: 60,
  });

  it('is the first of those with the largest sum of four', () => {
    fc.assert(
      fc.property(volumes, (list) => {
        const bins = quartersFrom('2026-03-06T00:00:00Z', list);
        const sums = list.map((_, n) => {
          const four = list.slice(n, n + 4);
          return four.length === 4 && !four.includes(null)
            ? four.reduce<number>((sum, v) => sum + (v ?? 0), 0)
            : 0;
        });
        const most = Math.max(...sums);
        expect(busiestHour(bins)?.[0]).toEqual(most === 0 ? undefined : bins[sums.indexOf(most)]);
      }),
    );
  });

  it('has a factor from 0.25 to 1', () => {
    expect(peakHourFactor([0, 0, 0, 0])).toBeNull();
    expect(peakHourFactor([7, 0, 0, 0])).toBe(0.25);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 4, maxLength: 4 }), (list) => {
        expect(peakHourFactor(list)).toBeGreaterThanOrEqual(0.25);
        expect(peakHourFactor(list)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

const TRUCK = { code: 'TRUCK', mode: 'MOTOR', isHeavy: true } as const;
const BICYCLE = { code: 'BICYCLE', mode: 'BICYCLE', isHeavy: false } as const;

describe('bins', () => {
  it('have the sum of their parts as one, whichever are joined first', () => {
    const cell = fc.record({
      direction: fc.constantFrom('NB' as const, 'SB' as const),
      lane: fc.integer({ min: 1, max: 2 }),
      volume: fc.integer({ min: 0, max: 9 }),
    });
    const list = fc.array(fc.array(cell, { maxLength: 4 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 7 }), (all, at) => {
        const bins = all.map((cells, n) => binOf(n * QUARTER_MS, cells));
        const cut = Math.min(at, bins.length - 1);
        const joined = joinBins(bins);
        const again = joinBins([joinBins(bins.slice(0, cut)), joinBins(bins.slice(cut))]);
        expect(again).toEqual(joined);
        expect(joined.volume).toBe(bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0));
        expect(sumCells(joined.cells, []).map(({ volume }) => volume)[0] ?? 0).toBe(joined.volume);
        expect(joined.end - joined.start).toBe(bins.length * QUARTER_MS);
      }),
    );
  });

  it.each([
    [['VALID', 'VALID'], 'VALID', 1, 20],
    [['VALID', 'GAP'], 'PARTIAL', 0.5, 10],
    [['VALID', 'EXCLUDED'], 'PARTIAL', 0.5, 10],
    [['EXCLUDED', 'EXCLUDED'], 'EXCLUDED', 0, null],
    [['GAP', 'GAP'], 'GAP', 0, null],
    [['VALID', 'PROVISIONAL'], 'PROVISIONAL', 1, 20],
    [['VALID', 'IMPUTED'], 'IMPUTED', 1, 20],
  ] as const)('that are %j are %s together', (statuses, status, coverage, volume) => {
    const bins = statuses.map((one, n) =>
      one === 'GAP' ? binAt(n * QUARTER_MS, null) : binAt(n * QUARTER_MS, 10, { status: one }),
    );
    expect(joinBins(bins)).toMatchObject({ status, coverage, volume });
  });
});
