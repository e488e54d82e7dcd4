import { describe, expect, it } from 'vitest';
import { checkCounts } from '../src/counts.ts';

const BEFORE = { rows: 10, totals: 10, stats: 10 };
const AFTER = { rows: 15, totals: 15, stats: 15 };

describe('the comparison of counts', () => {
  it('passes when all of them grew by what was acknowledged', () => {
    checkCounts('Gantry', 5, BEFORE, AFTER);
  });

  it.each(['rows', 'totals', 'stats'] as const)('refuses %s that lack an event or have one more', (key) => {
    for (const wrong of [14, 16]) {
      const after = { ...AFTER, [key]: wrong };
      expect(() => checkCounts('Gantry', 5, BEFORE, after)).toThrow(
        `Gantry: 5 events were acknowledged, but ${key} grew by ${wrong - 10}`,
      );
    }
  });

  it('refuses acknowledged events that are not stored', () => {
    expect(() => checkCounts('Gantry', 6, BEFORE, AFTER)).toThrow('rows grew by 5, totals grew by 5');
    expect(() => checkCounts('Gantry', 5, BEFORE, { ...AFTER, rows: Number.NaN })).toThrow(
      'rows grew by NaN',
    );
  });

  it('leaves out what a server does not keep', () => {
    const none = { totals: null, stats: null };
    checkCounts('a peer', 5, { rows: 0, ...none }, { rows: 5, ...none });
    expect(() => checkCounts('a peer', 5, { rows: 0, ...none }, { rows: 4, ...none })).toThrow(
      'rows grew by 4',
    );
  });
});
