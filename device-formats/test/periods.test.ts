import { isPeriodLength } from '@gantry/contract/counts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ObservedPeriod } from '../src/format.ts';
import { intervalAt, intervalBetween, joinedPeriods, periodFound } from '../src/periods.ts';

const START = Date.UTC(2026, 5, 1, 8);
const lengths = fc.constantFrom(10, 20, 60, 300, 360, 900, 3_600, 21_600, 86_400);

describe('an interval', () => {
  it('is found whether its end is the first moment after it or its last one', () => {
    fc.assert(
      fc.property(lengths, fc.constantFrom(0, 1, 1_000), (seconds, before) => {
        expect(intervalBetween(START, START + seconds * 1_000 - before)).toEqual({ start: START, seconds });
      }),
    );
  });

  it('has a length that counts may have, or a flaw', () => {
    fc.assert(
      fc.property(fc.integer({ min: -90_000_000, max: 200_000_000 }), (ms) => {
        const found = intervalBetween(START, START + ms);
        if ('flaw' in found) expect(found.flaw).toMatch(/^The interval of -?\d+ s .* divisor of a day/);
        else
          expect([isPeriodLength(found.seconds), Math.abs(found.seconds * 1_000 - ms) <= 1_000]).toEqual([
            true,
            true,
          ]);
      }),
    );
  });

  it.each([
    ['over when it is published', 60, 0],
    ['not yet over', 59, -60],
  ])('that starts at its time would be %s', (_, later, shift) => {
    expect(intervalAt(START, 60, null, START + later * 1_000, {})).toEqual({
      start: START + shift * 1_000,
      seconds: 60,
    });
  });

  it.each([
    ['START', 'END', 0],
    ['END', 'START', -60],
    [null, 'END', -60],
    [null, 'START', 0],
  ] as const)('named by the message as %s and by the connection as %s', (label, periodTime, shift) => {
    const found = intervalAt(START, null, label, START, { periodSeconds: 60, periodTime });
    expect(found).toEqual({ start: START + shift * 1_000, seconds: 60 });
  });

  it.each([
    [null, 60, /no time/],
    [START, null, /set the option periodSeconds/],
    [START, 7, /7 s .* is not a divisor of a day/],
  ])('at %j of %j s has a flaw', (at, seconds, flaw) => {
    expect(intervalAt(at, seconds, null, START, {})).toEqual({ flaw: expect.stringMatching(flaw) });
  });
});

describe('joined periods', () => {
  const CODES = ['CAR', 'BUS', 'BICYCLE', 'TRUCK'];
  const periods = fc.array(
    fc.record({ lane: fc.constantFrom(1, 2, 'a'), code: fc.constantFrom(...CODES), count: fc.nat(50) }),
    { maxLength: 12 },
  );
  const periodOf = ({
    lane,
    code,
    count,
  }: {
    lane: number | string;
    code: string;
    count: number;
  }): ObservedPeriod => {
    const found = periodFound(
      ['d'],
      { start: START, seconds: 60 },
      { lane, byClass: { scheme: 'BASIC', counts: { [code]: count } } },
    );
    if ('note' in found) throw new Error(found.note);
    return found.period;
  };

  it('have one for each key, with the last count of each class', () => {
    fc.assert(
      fc.property(periods, (given) => {
        const joined = joinedPeriods(given.map(periodOf));
        const lanes = joined.map(({ lane }) => lane);
        expect(new Set(lanes).size).toBe(lanes.length);
        expect(new Set(lanes)).toEqual(new Set(given.map(({ lane }) => lane)));
        for (const { lane, volume, byClass } of joined) {
          const last = Object.fromEntries(
            given.filter((each) => each.lane === lane).map(({ code, count }) => [code, count]),
          );
          expect(byClass?.counts).toEqual(last);
          const { CAR = 0, BUS = 0, TRUCK = 0 } = last;
          expect(volume).toBe(CAR + BUS + TRUCK);
        }
      }),
    );
  });

  it('of one class replace each other, and of several add up without their means', () => {
    const one = { ...periodOf({ lane: 1, code: 'CAR', count: 3 }), speed: { mean: 50 } };
    const other = periodOf({ lane: 1, code: 'TRUCK', count: 2 });
    expect(joinedPeriods([one, periodOf({ lane: 1, code: 'CAR', count: 9 })])).toMatchObject([{ volume: 9 }]);
    const [sum] = joinedPeriods([one, other]);
    expect(sum).toMatchObject({ volume: 5, byClass: { counts: { CAR: 3, TRUCK: 2 } } });
    expect(sum?.speed).toBeUndefined();
  });
});
