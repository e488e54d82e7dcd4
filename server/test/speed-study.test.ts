import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  classedPercentile,
  countBelow,
  countUpTo,
  inUnits,
  KMH_PER_MPH,
  percentileOf,
  type SpeedClass,
  type SpeedSource,
  sampleOf,
  speedAtRank,
} from '../src/traffic/speed-sample.ts';
import {
  confidenceRanks,
  neededSample,
  type StudiedSpeeds,
  sampleSizeFor,
  speedStudy,
} from '../src/traffic/speed-study.ts';

// Expected values that are not computed here were published: by the city of Toronto for its counts (MOVE), and in the
// Texas manual on speed zones (TxDOT).

const KMH = { units: 'KMH', method: 'LINEAR' } as const;
const METHODS = ['NEAREST_RANK', 'LINEAR', 'CLASSED'] as const;

/** Speeds (km/h) as the service stores them: counted by km/h, rounded up, with their sum in metres per hour. */
function histogramOf(values: readonly number[]): SpeedSource {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(Math.ceil(value), (counts.get(Math.ceil(value)) ?? 0) + 1);
  const bins = [...counts.keys()].sort((a, b) => a - b);
  const speedSum = values.reduce((sum, value) => sum + Math.round(value * 1_000), 0);
  const histogram = { bins, counts: bins.map((bin) => counts.get(bin) ?? 0) };
  return { speeds: { volume: values.length, measured: values.length, speedSum, histogram } };
}

const each = (values: readonly number[], limit: number | null = null): StudiedSpeeds[] => [{ values, limit }];
const counted = (values: readonly number[], limit: number | null = null): StudiedSpeeds[] => [
  { ...histogramOf(values), limit },
];
const range = (from: number, until: number): number[] =>
  Array.from({ length: until - from }, (_, n) => from + n);
const repeat = (value: number, times: number): number[] => Array.from({ length: times }, () => value);

describe('percentiles by class', () => {
  const CLASSES: SpeedClass[] = [
    [1, 19],
    [20, 25],
    ...range(5, 16).map((n): SpeedClass => [n * 5 + 1, n * 5 + 5]),
    [81, 160],
  ];
  const SHARES = [0.15, 0.5, 0.85, 0.95];

  it.each([
    [[33], [31.6, 33, 34.4, 34.8]],
    [
      [33, 38],
      [32.2, 35, 38.8, 39.6],
    ],
  ])('of %j are those that MOVE prints', (values, expected) => {
    const sample = sampleOf(each(values), 'KMH');
    const found = SHARES.map((share) => percentileOf(sample, share, 'CLASSED', CLASSES));
    for (const [n, value] of expected.entries()) expect(found[n]).toBeCloseTo(value, 9);
  });

  it.each([
    [[0, 0, 0, 4, 1, 10, 9, 11, 7, 4, 0, 0, 1, 0], 58, 63],
    [[0, 0, 19, 100, 71, 84, 115, 88, 32, 7, 4, 0, 0, 0], 53, 58],
    [[0, 0, 0, 0, 0, 4, 6, 3, 7, 2, 2, 1, 1, 0], 66, 73],
    [[0, 0, 0, 2, 2, 2, 10, 10, 17, 9, 3, 0, 0, 2], 63, 68],
    [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 12, 728], 147, 155],
  ])('of the counts %j have the whole km/h of TraxPro', (counts, v85, v95) => {
    expect(Math.floor(classedPercentile(CLASSES, counts, 0.85) ?? 0)).toBe(v85);
    expect(Math.floor(classedPercentile(CLASSES, counts, 0.95) ?? 0)).toBe(v95);
  });

  it('are null without vehicles, and those of the slowest and fastest classes that have any', () => {
    const classes: SpeedClass[] = [
      [0, 10],
      [11, 20],
      [21, 30],
    ];
    expect(classedPercentile(classes, [0, 0, 0], 0.5)).toBeNull();
    expect(classedPercentile(classes, [0, 1, 0], 0)).toBe(11);
    expect(classedPercentile(classes, [0, 1, 0], 1)).toBe(20);
  });

  it.each([
    [[[31.5, 35]], 'whole speeds'],
    [[[35, 31]], 'ends before it begins'],
    [
      [
        [31, 35],
        [35, 40],
      ],
      'above 35',
    ],
  ])('refuse the classes %j', (binEdges, message) => {
    const options = {
      units: 'KMH',
      method: 'CLASSED',
      binEdges: binEdges as unknown as SpeedClass[],
    } as const;
    expect(() => speedStudy(each([50]), options)).toThrow(message);
  });
});

describe('percentiles by rank', () => {
  it('are the 106th of 125 cars at 48 mph, as in the manual of Texas, without interpolation', () => {
    const values = [...repeat(40, 105), 48, ...repeat(55, 19)].map((mph) => mph * KMH_PER_MPH);
    expect(speedStudy(each(values), { units: 'MPH', method: 'NEAREST_RANK' })).toMatchObject({
      n: 125,
      v85: 48,
    });
    expect(speedStudy(counted(values), { units: 'MPH', method: 'NEAREST_RANK' })).toMatchObject({ v85: 48 });
  });

  it('round a half rank up, even where its product is not exact', () => {
    const sample = sampleOf(each(range(1, 31)), 'KMH');
    expect(percentileOf(sample, 0.95, 'NEAREST_RANK')).toBe(29);
    expect(percentileOf(sample, 0.85, 'NEAREST_RANK')).toBe(26);
  });

  it('do not decrease with the share, and lie between the slowest and the fastest vehicle', () => {
    const values = fc.array(fc.double({ min: 1, max: 249, noNaN: true }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(values, fc.constantFrom(...METHODS), fc.boolean(), (list, method, isCounted) => {
        const sample = sampleOf(isCounted ? counted(list) : each(list), 'KMH');
        const found = range(0, 21).map((n) => percentileOf(sample, n / 20, method) ?? Number.NaN);
        for (const [n, value] of found.entries())
          expect(value).toBeGreaterThanOrEqual((found[n - 1] ?? 0) - 1e-9);
        if (method === 'CLASSED') return;
        expect(found[0]).toBeGreaterThanOrEqual(speedAtRank(sample, 1));
        expect(found[20]).toBeLessThanOrEqual(speedAtRank(sample, sample.n));
      }),
    );
  });

  it('are exact for devices that report whole km/h or mph, in both units', () => {
    const wholes = fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        wholes,
        fc.constantFrom(1, KMH_PER_MPH),
        fc.constantFrom('KMH', 'MPH'),
        (list, unit, units) => {
          const values = list.map((speed) => speed * unit);
          const sample = sampleOf(counted(values), units);
          const exact = sampleOf(each(values), units);
          expect(sample.basis).toBe('WHOLE_UNITS');
          expect(sample.groups.length).toBe(exact.groups.length);
          for (const [n, { low, high }] of sample.groups.entries()) {
            expect(low).toBe(high);
            expect(low).toBeCloseTo(exact.groups[n]?.low ?? Number.NaN, 9);
          }
          expect(sample.sum).toBeCloseTo(exact.sum, 0);
        },
      ),
    );
  });

  it('are at most 0.5 km/h off for a thousand other speeds', () => {
    // Not whole, and not evenly spread: a triangle from 40 to 80 km/h.
    const values = range(0, 1_000).map((n) => 40 + 40 * Math.sqrt((n + 0.37) / 1_000));
    const exact = sampleOf(each(values), 'KMH');
    const sample = sampleOf(counted(values), 'KMH');
    expect(sample.basis).toBe('INTERPOLATED');
    for (const share of [0.15, 0.5, 0.85, 0.95, 0.98]) {
      const [found, expected] = [sample, exact].map(
        (one) => percentileOf(one, share, 'LINEAR') ?? Number.NaN,
      );
      expect(Math.abs((found ?? 0) - (expected ?? 0))).toBeLessThan(0.5);
    }
  });

  it('keep the rule of the other figures below 200 speeds', () => {
    const values = repeat(50.25, 199);
    expect(sampleOf(counted(values), 'KMH')).toMatchObject({ basis: 'SHIFTED' });
    expect(speedAtRank(sampleOf(counted(values), 'KMH'), 100)).toBeCloseTo(50.25, 9);
    expect(sampleOf(counted(repeat(50.25, 200)), 'KMH')).toMatchObject({ basis: 'INTERPOLATED' });
  });

  it('take a speed within 0.002 of a whole unit as that', () => {
    expect(inUnits(64 * KMH_PER_MPH, 'KMH')).toBe(103);
    expect(inUnits(48.279, 'MPH')).toBe(30);
    expect(inUnits(48.276, 'MPH')).toBeCloseTo(29.997, 3);
    expect([inUnits(50.002, 'KMH'), inUnits(50.003, 'KMH')]).toEqual([50, 50.003]);
  });

  it('count vehicles up to and below a speed in agreement with their ranks', () => {
    const values = fc.array(fc.double({ min: 1, max: 120, noNaN: true }), { minLength: 200, maxLength: 400 });
    fc.assert(
      fc.property(values, fc.integer({ min: 0, max: 125 * 8 }), fc.boolean(), (list, eighths, isCounted) => {
        const sample = sampleOf(isCounted ? counted(list) : each(list), 'KMH');
        const ranks = range(1, sample.n + 1).map((rank) => speedAtRank(sample, rank));
        expect(countUpTo(sample, eighths / 8)).toBe(ranks.filter((speed) => speed <= eighths / 8).length);
        expect(countBelow(sample, eighths / 8)).toBe(ranks.filter((speed) => speed < eighths / 8).length);
      }),
    );
  });

  it('spread vehicles evenly over a km/h, none of them at its ends', () => {
    const sample = sampleOf(counted([...repeat(49.1, 100), ...repeat(49.9, 100)]), 'KMH');
    expect([1, 100, 200].map((rank) => speedAtRank(sample, rank))).toEqual([49.0025, 49.4975, 49.9975]);
    expect([countUpTo(sample, 49), countUpTo(sample, 49.003), countBelow(sample, 49.002)]).toEqual([0, 1, 0]);
    expect([countUpTo(sample, 49.5), countBelow(sample, 49.5), countBelow(sample, 50)]).toEqual([
      100, 100, 200,
    ]);
  });
});

describe('a speed study', () => {
  it('gives no percentile of fewer than 30 speeds, and says so', () => {
    const few = speedStudy(each(repeat(50, 29), 40), KMH);
    expect(few).toMatchObject({
      n: 29,
      status: 'INSUFFICIENT',
      v15: null,
      v85: null,
      v98: null,
      v85Confidence: null,
    });
    expect(few).toMatchObject({ mean: 50, sd: 0, max: 50, reason: expect.stringContaining('29') });
    expect(few.over[0]).toEqual({ by: 0, share: 1 });
    expect(speedStudy(each(repeat(50, 30)), KMH)).toMatchObject({
      status: 'VALID',
      v85: 50,
      reason: 'Small sample: 30 speeds',
    });
    expect(speedStudy(each(repeat(50, 100)), KMH)).toMatchObject({ reason: null });
    expect(speedStudy(each(repeat(50, 100)), { ...KMH, isOver: false })).toMatchObject({
      status: 'PROVISIONAL',
    });
  });

  it('gives no figure without a speed', () => {
    expect(speedStudy(each([]), KMH)).toMatchObject({
      n: 0,
      mean: null,
      sd: null,
      max: null,
      pace: null,
      bins: [],
      sampleSize: null,
    });
    expect(speedStudy(each([50]), KMH)).toMatchObject({ n: 1, mean: 50, sd: null, max: 50 });
  });

  it.each([
    ['given one by one', each],
    ['counted by km/h', counted],
  ])('leaves out speeds that no vehicle has, %s', (_, given) => {
    const study = speedStudy(given([...repeat(50, 30), 0, 251, 1_999, 250]), KMH);
    expect(study).toMatchObject({ n: 31, max: 250, mean: 56.5, v50: 50 });
  });

  it('computes the standard deviation of a sample', () => {
    expect(speedStudy(each([2, 4, 4, 4, 5, 5, 7, 9]), KMH)).toMatchObject({ mean: 5, sd: 2.1 });
    const values = range(0, 1_000).map((n) => 30 + ((n * 7.919) % 50));
    const mean = values.reduce((sum, v) => sum + v, 0) / 1_000;
    const sd = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 999);
    expect(speedStudy(counted(values), KMH).sd).toBeCloseTo(sd, 1);
    expect(speedStudy(counted(values), KMH).mean).toBeCloseTo(mean, 1);
  });

  it('finds the lowest ten units with most vehicles', () => {
    const values = [...repeat(30, 10), ...repeat(39, 10), ...repeat(40, 10), ...repeat(70, 20)];
    expect(speedStudy(each(values), KMH).pace).toEqual({
      from: 30,
      to: 40,
      share: 0.4,
      below: 0,
      above: 0.6,
    });
    expect(speedStudy(each([...values, 31]), KMH).pace).toMatchObject({
      from: 30,
      share: roundedTo(21 / 51),
    });
    expect(speedStudy(each([...values, 41]), KMH).pace).toMatchObject({
      from: 32,
      to: 42,
      share: roundedTo(21 / 51),
    });
  });

  it('has a pace that no other ten units exceed, with shares that add up', () => {
    const speeds = fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 30, maxLength: 200 });
    fc.assert(
      fc.property(speeds, (list) => {
        const { pace } = speedStudy(counted(list), KMH);
        const inside = (from: number): number => list.filter((v) => v >= from && v < from + 10).length;
        const most = Math.max(...range(0, 81).map(inside));
        expect(inside(pace?.from ?? -1)).toBe(most);
        expect(range(0, pace?.from ?? 0).filter((from) => inside(from) === most)).toEqual([]);
        expect((pace?.share ?? 0) + (pace?.below ?? 0) + (pace?.above ?? 0)).toBeCloseTo(1, 3);
      }),
    );
  });

  it('compares each speed with the limit of its time, in the units asked', () => {
    const mph = (list: number[]): number[] => list.map((speed) => speed * KMH_PER_MPH);
    const limit = 30 * KMH_PER_MPH;
    const study = speedStudy(
      counted(mph([...repeat(30, 60), ...repeat(31, 20), ...repeat(35, 10), ...repeat(51, 10)]), limit),
      {
        units: 'MPH',
        method: 'LINEAR',
      },
    );
    expect(study.limit).toBe(30);
    expect(study.over).toEqual([
      { by: 0, share: 0.4 },
      { by: 5, share: 0.1 },
      { by: 10, share: 0.1 },
      { by: 15, share: 0.1 },
      { by: 20, share: 0.1 },
    ]);
  });

  it('gives one limit only if it was not changed', () => {
    const parts = [...each(repeat(55, 30), 50), ...each(repeat(55, 30), 60), ...each(repeat(90, 40), null)];
    const study = speedStudy(parts, KMH);
    expect(study).toMatchObject({
      n: 100,
      limit: null,
      over: [{ by: 0, share: 0.5 }, { by: 5, share: 0 }, {}, {}, {}],
    });
    expect(speedStudy(each([50]), KMH).over).toContainEqual({ by: 0, share: null });
  });

  it('rounds the ranks of the interval of V85 outwards', () => {
    expect(confidenceRanks(200, 0.85)).toEqual([160, 180]);
    expect(speedStudy(each(range(1, 201)), { ...KMH, method: 'NEAREST_RANK' })).toMatchObject({
      v85: 170,
      v85Confidence: { low: 160, high: 180 },
    });
    fc.assert(
      fc.property(fc.integer({ min: 30, max: 100_000 }), (n) => {
        const [low, high] = confidenceRanks(n, 0.85);
        expect(low).toBeGreaterThanOrEqual(1);
        expect(high).toBeLessThanOrEqual(n);
        expect(low).toBeLessThan(0.85 * n);
        expect(high).toBeGreaterThan(0.85 * n);
      }),
    );
  });

  it('names the sample that V85 needs', () => {
    expect(sampleSizeFor(5.3, 3)).toBeCloseTo(18.47, 2);
    expect(sampleSizeFor(6.7, 3)).toBeCloseTo(29.52, 2);
    expect([neededSample(5.3, 3), neededSample(8, 2)]).toEqual([30, 95]);
  });

  it('counts vehicles by whole units, or by the given classes', () => {
    expect(speedStudy(each([48, 50, 50.5]), KMH).bins).toEqual([
      { from: 48, to: 48, count: 1 },
      { from: 49, to: 49, count: 0 },
      { from: 50, to: 50, count: 2 },
    ]);
    const binEdges: SpeedClass[] = [
      [0, 45],
      [46, 50],
    ];
    expect(speedStudy(each([48, 50, 50.5]), { ...KMH, binEdges }).bins).toEqual([
      { from: 0, to: 45, count: 0 },
      { from: 46, to: 50, count: 3 },
    ]);
  });

  it('adds up histograms and single speeds', () => {
    const both = speedStudy([...each(repeat(50, 20)), ...counted(repeat(60, 20))], {
      ...KMH,
      method: 'NEAREST_RANK',
    });
    expect(both).toMatchObject({ n: 40, mean: 55, v15: 50, v85: 60, basis: 'WHOLE_UNITS' });
  });
});

function roundedTo(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
