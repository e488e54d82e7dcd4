import { describe, expect, it } from 'vitest';
import type { Sample } from '../src/soak/sample.ts';
import { judgeSoak, slopeOf } from '../src/soak/verdict.ts';

/** The samples of a run of ten minutes, one every 30 s. */
const samplesOf = (at: (minute: number) => Partial<Sample>): Sample[] =>
  Array.from({ length: 20 }, (_, index) => ({
    minute: (index + 1) / 2,
    eventsPerSecond: 5000,
    p50: 4,
    p99: 20,
    disk: 2,
    lateness: 1,
    generator: 60,
    memory: 200,
    queued: 0,
    idleInTransaction: 0,
    ...at((index + 1) / 2),
  }));

const complaintsOf = (samples: readonly Sample[]): string[] =>
  judgeSoak(samples)
    .filter(({ good }) => !good)
    .map(({ question }) => question);

describe('the assessment of a long run', () => {
  it('accepts an even one', () => {
    expect(complaintsOf(samplesOf(() => ({})))).toEqual([]);
  });

  it('tolerates memory that grows at first and varies later', () => {
    const memory = (minute: number): number =>
      minute < 4 ? 100 + 25 * minute : 200 + 8 * Math.sin(minute * 9);
    expect(complaintsOf(samplesOf((minute) => ({ memory: memory(minute) })))).toEqual([]);
  });

  it('detects a leak', () => {
    const leaking = samplesOf((minute) => ({ memory: 200 + 4 * minute }));
    expect(complaintsOf(leaking)).toEqual(['memory is flat in the second half']);
    expect(judgeSoak(leaking)[0]?.found).toBe('4.00 MB/min around 231 MB');
  });

  it('detects too much memory, slower answers and a forgotten transaction', () => {
    expect(complaintsOf(samplesOf(() => ({ memory: 350 })))).toEqual(['memory stays under 350 MB']);
    expect(complaintsOf(samplesOf((minute) => ({ p99: 3 * minute })))).toEqual(['p99 does not grow']);
    expect(complaintsOf(samplesOf((minute) => ({ p50: 3 + minute })))).toEqual(['p50 does not grow']);
    expect(complaintsOf(samplesOf((minute) => ({ p99: minute === 3 ? 43 : 20 })))).toEqual([
      'p99 of every sample is under 10 times its p50 plus the p99 of the disk',
    ]);
    expect(complaintsOf(samplesOf((minute) => ({ p99: minute === 3 ? 43 : 20, disk: 4 })))).toEqual([]);
    expect(complaintsOf(samplesOf((minute) => ({ idleInTransaction: minute === 3 ? 1 : 0 })))).toEqual([
      'no transaction is left idle',
    ]);
  });
});

describe('the slope of points', () => {
  it('is that of their common line', () => {
    expect(
      slopeOf([
        [0, 1],
        [1, 3],
        [2, 5],
      ]),
    ).toBeCloseTo(2);
    expect(slopeOf([[3, 7]])).toBe(0);
  });
});
