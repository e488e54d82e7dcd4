import { describe, expect, it } from 'vitest';
import { areaBetween, changed, MIN_SIDE, pixelsOf } from '../src/pages/cases/redaction.ts';
import { stepsOf } from '../src/pages/cases/steps.ts';
import { gapsBetween, kindsOf, rangeOf, validSpans } from '../src/pages/sensors/certificates/validity.ts';

const day = (text: string): Date => new Date(`${text}T00:00:00Z`);

describe('the validity of certificates', () => {
  const certificate = (from: string, until: string, withdrawn = false) => ({
    kind: 'CALIBRATION' as const,
    validFrom: day(from),
    validUntil: day(until),
    withdrawnAt: withdrawn ? day('2026-01-01') : null,
  });
  const days = (spans: readonly { from: number; until: number }[]) =>
    spans.map(({ from, until }) => [from, until].map((at) => new Date(at).toISOString().slice(0, 10)));

  it('joins those that touch or overlap, whatever their order, and leaves out those that were withdrawn', () => {
    const all = [
      certificate('2026-01-01', '2027-01-01'),
      certificate('2024-01-01', '2025-01-01'),
      certificate('2024-06-01', '2024-09-01'),
      certificate('2025-01-01', '2025-03-01'),
      certificate('2025-03-01', '2026-01-01', true),
    ];
    const spans = validSpans(all, 'CALIBRATION');
    expect(days(spans)).toEqual([
      ['2024-01-01', '2025-03-01'],
      ['2026-01-01', '2027-01-01'],
    ]);
    expect(days(gapsBetween(spans))).toEqual([['2025-03-01', '2026-01-01']]);
    expect(validSpans(all, 'CLOCK')).toEqual([]);
    expect(kindsOf(all)).toEqual(['CALIBRATION']);
    expect(kindsOf([certificate('2024-01-01', '2025-01-01', true)])).toEqual([]);
  });

  it('is drawn in a range that contains today', () => {
    const now = day('2026-06-01').getTime();
    for (const spans of [[], validSpans([certificate('2020-01-01', '2021-01-01')], 'CALIBRATION')]) {
      const { from, until } = rangeOf(spans, now);
      expect(from).toBeLessThan(now);
      expect(until).toBeGreaterThan(now);
    }
  });
});

describe('an area of an image', () => {
  it('is the same whichever corner is drawn first, and ends at the edges', () => {
    const [one, other] = [
      { x: 0.2, y: 0.8 },
      { x: 0.6, y: 0.1 },
    ];
    expect(areaBetween(one, other)).toEqual(areaBetween(other, one));
    expect(areaBetween({ x: -1, y: 0.5 }, { x: 0.5, y: 7 })).toEqual({
      x: 0,
      y: 0.5,
      width: 0.5,
      height: 0.5,
    });
  });

  it('stays within the image when it is moved or sized, and does not vanish', () => {
    const area = { x: 0.9, y: 0, width: 0.1, height: 0.1 };
    expect(changed(area, { x: 0.5 }).x).toBeCloseTo(0.9);
    expect(changed(area, { y: -0.5 }).y).toBe(0);
    expect(changed(area, { width: -5 }).width).toBe(MIN_SIDE);
    const wide = changed(area, { width: 5 });
    expect(wide).toMatchObject({ x: 0, width: 1 });
  });

  it('covers every pixel that it touches, and none outside of the image', () => {
    const size = { width: 10, height: 10 };
    expect(pixelsOf({ x: 0.19, y: 0.11, width: 0.02, height: 0.2 }, size)).toEqual({
      ...{ x: 1, y: 1, width: 2, height: 3 },
    });
    expect(pixelsOf({ x: 0.95, y: 0, width: 0.05, height: 1 }, size)).toEqual({
      ...{ x: 9, y: 0, width: 1, height: 10 },
    });
  });
});

describe('the steps of a case', () => {
  const person = (id: string) => ({ id, name: id });
  const base = {
    ...{ state: 'CHECKED' as const, closedAt: null, needsSecond: true, firstBy: person('a'), secondBy: null },
    checks: [],
  };
  const names = (of: Parameters<typeof stepsOf>[0], id: string, role: 'ADMIN' | 'OPERATOR' = 'OPERATOR') =>
    stepsOf(of, { id, role }).map(({ name, hindrance }) => (hindrance ? `${name}: ${hindrance}` : name));

  it('leave the second one to another person, unless the type of violation needs one only', () => {
    expect(names(base, 'a')).toEqual(['verify: own', 'dispute: own', 'reject']);
    expect(names(base, 'b')).toEqual(['verify', 'dispute', 'reject']);
    expect(names({ ...base, needsSecond: false }, 'a')[0]).toBe('verify');
  });

  it('leave a dispute to an administrator who is neither of the two', () => {
    const disputed = { ...base, state: 'DISPUTED' as const, secondBy: person('b') };
    expect(names(disputed, 'c')).toEqual(['decide: administrator']);
    expect(names(disputed, 'c', 'ADMIN')).toEqual(['decide']);
    expect(names(disputed, 'a', 'ADMIN')).toEqual(['decide: own']);
    expect(names(disputed, 'b', 'ADMIN')).toEqual(['decide: own']);
  });

  it('stop at a failed check that nobody can override, and at the end', () => {
    const check = {
      name: 'CERTIFICATES' as const,
      result: 'FAIL' as const,
      message: '',
      sentences: [],
      blocks: true,
    };
    expect(names({ ...base, state: 'NEW', checks: [check] }, 'a')).toEqual(['check: blocked', 'reject']);
    expect(names({ ...base, state: 'NEW', checks: [{ ...check, blocks: false }] }, 'a')[0]).toBe('check');
    for (const state of ['VERIFIED', 'EXPORTED'] as const)
      expect(names({ ...base, state, closedAt: day('2026-01-01') }, 'a')).toEqual(['export']);
    expect(names({ ...base, state: 'REJECTED', closedAt: day('2026-01-01') }, 'a')).toEqual([]);
    expect(names({ ...base, state: 'EXPORTED' }, 'a')).toEqual(['export', 'close', 'unlock: administrator']);
  });
});
