import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentileOf, sampleOf } from '../src/traffic/speed-sample.ts';
import { judge, meanSpeed, type Speeds, shareOf, sumOfSpeeds } from '../src/traffic/speeds.ts';

// Percentiles from histograms compared with PostgreSQL's percentile_cont on the speeds themselves.

const SHARES = [0, 0.15, 0.5, 0.85, 0.95, 1];

const exact = (speeds: readonly number[], share: number): number => {
  const sorted = [...speeds].sort((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const [lower = 0, upper = 0] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return lower + (upper - lower) * (rank - Math.floor(rank));
};

const count = (speeds: readonly number[]): Speeds =>
  sumOfSpeeds(
    speeds.map((speed) => {
      const metres = Math.round(speed * 1_000);
      const bin = Math.ceil(metres / 1_000);
      return { volume: 1, measured: 1, speedSum: metres, histogram: { bins: [bin], counts: [1] } };
    }),
  );

const speedPercentiles = (speeds: Speeds, shares: readonly number[]) => {
  const sample = sampleOf([{ speeds }], 'KMH');
  return shares.map((share) => percentileOf(sample, share, 'LINEAR'));
};

const aSpeed = fc.oneof(
  fc.double({ min: 0.001, max: 250, noNaN: true }),
  fc.double({ min: 48, max: 52, noNaN: true }),
  fc.integer({ min: 1, max: 250 }),
);

describe('percentiles of a histogram', () => {
  it('are at most 1 km/h off the exact ones, for any speeds', () => {
    fc.assert(
      fc.property(fc.array(aSpeed, { minLength: 1, maxLength: 400 }), (speeds) => {
        const said = speedPercentiles(count(speeds), SHARES);
        for (const [n, share] of SHARES.entries())
          expect(Math.abs((said[n] ?? Number.NaN) - exact(speeds, share))).toBeLessThanOrEqual(1);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are exact for speeds in whole km/h, and so is the fraction over a limit', () => {
    const whole = fc.integer({ min: 1, max: 250 });
    fc.assert(
      fc.property(fc.array(whole, { minLength: 1, maxLength: 100 }), whole, (speeds, limit) => {
        const counted = count(speeds);
        const said = speedPercentiles(counted, SHARES);
        for (const [n, share] of SHARES.entries()) expect(said[n]).toBeCloseTo(exact(speeds, share), 2);
        const over = speeds.filter((speed) => speed > limit).length / speeds.length;
        expect(shareOf(judge(counted, limit))).toBeCloseTo(over, 3);
      }),
    );
  });

  it('can be added up', () => {
    const some = fc.array(aSpeed, { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(some, some, (one, other) => {
        expect(sumOfSpeeds([count(one), count(other)])).toEqual(count([...one, ...other]));
      }),
    );
  });

  it('are unknown without speeds', () => {
    expect(speedPercentiles(count([]), SHARES)).toEqual(SHARES.map(() => null));
    expect(meanSpeed(count([]))).toBe(null);
    expect(shareOf(judge(count([]), 50))).toBe(null);
    expect(shareOf(judge(count([50]), null))).toBe(null);
  });
});
