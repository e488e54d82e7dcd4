import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareMeans,
  compareShares,
  compareStudies,
  compareV85,
  tailsOfNormal,
  tailsOfStudent,
} from '../src/traffic/comparison.ts';
import type { StudiedSpeeds } from '../src/traffic/speed-study.ts';

const study = (values: number[], limit: number | null = 50): StudiedSpeeds[] => [{ values, limit }];
const speeds = (n: number, from: number): number[] => Array.from({ length: n }, (_, i) => from + (i % 11));

describe('the test of before and after', () => {
  it('gives the z of the means of Welch', () => {
    const found = compareMeans({ n: 200, mean: 50, sd: 3 }, { n: 200, mean: 49.2, sd: 3 });
    expect(found).toEqual({ difference: 0.8, z: 2.6667, p: 0.0077, significant: true, reason: null });
  });

  it('gives the z of shares with the pooled share', () => {
    const found = compareShares({ n: 200, count: 60 }, { n: 200, count: 44 });
    expect(found).toEqual({ difference: 0.08, z: 1.8238, p: 0.0682, significant: false, reason: null });
  });

  it('tests V85 with the wider distribution of a quantile', () => {
    const found = compareV85({ n: 200, sd: 3, v85: 53 }, { n: 200, sd: 3, v85: 52 });
    expect(found.difference).toBe(1);
    expect(found.z).toBeCloseTo(1 / (1.5315 * 0.3), 3);
    expect(found.significant).toBe(true);
  });

  it('uses the t distribution in small samples: the same z is less significant', () => {
    const small = compareMeans({ n: 6, mean: 52, sd: 2 }, { n: 6, mean: 49.5, sd: 2 });
    expect(small.z).toBeCloseTo(2.165, 3);
    // Ten degrees of freedom: the critical value is 2.228.
    expect(small).toMatchObject({ significant: false, p: 0.0556 });
    const large = compareMeans({ n: 30, mean: 52, sd: 6.324 }, { n: 30, mean: 48.465, sd: 6.324 });
    expect(large).toMatchObject({ significant: true, p: 0.0304 });
  });

  // Quantiles of tables of the distributions.
  it.each([
    [1.959964, 0.05],
    [2.575829, 0.01],
    [0.67449, 0.5],
    [4.891638, 1e-6],
    [0, 1],
  ])('knows the normal distribution at %f', (z, p) => {
    expect(tailsOfNormal(z) / p).toBeCloseTo(1, 5);
    expect(tailsOfNormal(-z)).toBe(tailsOfNormal(z));
  });

  it.each([
    [12.7062, 1, 0.05],
    [4.30265, 2, 0.05],
    [2.22814, 10, 0.05],
    [3.16927, 10, 0.01],
    [2.04523, 29, 0.05],
    [0, 7, 1],
  ])('knows the t distribution at %f with %i degrees of freedom', (t, freedom, p) => {
    expect(tailsOfStudent(t, freedom)).toBeCloseTo(p, 5);
  });

  it('has a t distribution that becomes the normal one', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 5, noNaN: true }), (t) => {
        expect(tailsOfStudent(t, 1e5)).toBeCloseTo(tailsOfNormal(t), 3);
        expect(tailsOfStudent(t, 12)).toBeGreaterThanOrEqual(tailsOfNormal(t) - 1e-9);
      }),
    );
  });

  it('compares two studies, and turns around with them', () => {
    const [before, after] = [study(speeds(220, 50)), study(speeds(220, 45))];
    const found = compareStudies(before, after, 'KMH');
    expect(found.before).toMatchObject({ n: 220, mean: 55, method: 'NEAREST_RANK' });
    expect(found.mean).toMatchObject({ difference: 5, significant: true, p: 0 });
    expect(found.share).toMatchObject({ difference: 0.4545, significant: true });
    expect(found.v85).toMatchObject({ difference: 5, significant: true });
    const back = compareStudies(after, before, 'KMH');
    for (const key of ['mean', 'share', 'v85'] as const) {
      expect(back[key].difference).toBe(-(found[key].difference ?? 0));
      expect(back[key].p).toBe(found[key].p);
    }
  });

  it('compares in the units asked', () => {
    const found = compareStudies(study(speeds(220, 50)), study(speeds(220, 45)), 'MPH');
    expect(found.mean.difference).toBeCloseTo(5 / 1.609344, 1);
    expect(found.mean.z).toBe(compareStudies(study(speeds(220, 50)), study(speeds(220, 45)), 'KMH').mean.z);
  });

  it('says what cannot be compared', () => {
    const none = compareStudies(study([50], null), study([], null), 'KMH');
    expect(none.mean).toMatchObject({
      difference: null,
      z: null,
      p: null,
      significant: null,
      reason: expect.any(String),
    });
    expect(none.share.reason).toContain('limit');
    expect(none.v85.reason).toContain('30');
    const equal = compareStudies(study([50, 50]), study([40, 40]), 'KMH');
    expect(equal.mean).toMatchObject({
      difference: 10,
      z: null,
      p: null,
      reason: expect.stringContaining('equal'),
    });
  });
});
