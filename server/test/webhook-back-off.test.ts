import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BACK_OFF, delayAfter, JITTER } from '../src/platform/back-off.ts';

describe('the waits between attempts', () => {
  it('add up to about a day, whatever the jitter', () => {
    const hours = 3_600_000;
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), { minLength: 50 }),
        (chances) => {
          let total = 0;
          let attempts = 1;
          for (; ; attempts++) {
            const wait = delayAfter(attempts, BACK_OFF, chances[attempts % chances.length]);
            if (wait === null) break;
            const plain = BACK_OFF[attempts - 1] ?? 0;
            expect(wait).toBeGreaterThanOrEqual(plain * (1 - JITTER) - 1);
            expect(wait).toBeLessThanOrEqual(plain * (1 + JITTER) + 1);
            total += wait;
          }
          expect(attempts).toBeGreaterThanOrEqual(10);
          expect(total).toBeGreaterThan(19 * hours);
          expect(total).toBeLessThan(30 * hours);
        },
      ),
    );
  });

  it('grow, and differ from one delivery to the next', () => {
    expect([...BACK_OFF].sort((a, b) => a - b)).toEqual(BACK_OFF);
    expect(BACK_OFF.reduce((sum, wait) => sum + wait) / 3_600_000).toBeCloseTo(24, 0);
    expect(new Set(Array.from({ length: 100 }, () => delayAfter(12))).size).toBeGreaterThan(90);
  });
});
