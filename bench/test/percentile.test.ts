import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { median, percentile } from '../src/percentile.ts';

describe('percentiles', () => {
  it('are measured values', () => {
    const samples = Array.from({ length: 1000 }, (_, index) => index + 1);
    expect(percentile(samples, 0.5)).toBe(500);
    expect(percentile(samples, 0.99)).toBe(990);
    expect(percentile(samples, 0.999)).toBe(999);
    expect(percentile(samples, 1)).toBe(1000);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('are not exceeded by their share of the samples', () => {
    const lists = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(lists, fc.double({ min: 0.001, max: 1, noNaN: true }), (list, share) => {
        const sorted = Float64Array.from(list).sort();
        const value = percentile(sorted, share);
        expect(sorted.filter((sample) => sample <= value).length).toBeGreaterThanOrEqual(list.length * share);
        expect(sorted.filter((sample) => sample < value).length).toBeLessThan(list.length * share);
      }),
    );
  });

  it('have a median between the two in the middle', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });
});
