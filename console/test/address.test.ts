import { describe, expect, it, vi } from 'vitest';

vi.stubGlobal('location', { pathname: '/' });
const { flag, moment, oneOf, readSearch, someOf, text, whole } = await import('../src/shared/url/search.ts');

describe('an address', () => {
  const read = readSearch({
    kind: oneOf(['A', 'B']),
    plate: text(5),
    done: flag,
    from: moment,
    page: whole(1, 9),
  });

  it('keeps each parameter that is valid, whatever the others are', () => {
    expect(read({ kind: 'B', plate: 12345, done: true, from: '2026-02-28', page: 3 })).toEqual({
      kind: 'B',
      plate: '12345',
      done: true,
      from: '2026-02-28',
      page: 3,
    });
    expect(read({ kind: 'C', plate: '123456', done: 'yes', from: '2026-02-30', page: 10 })).toEqual({});
    expect(read({ kind: { A: 1 }, plate: '', from: '2026-02-28T25:00', other: 1 })).toEqual({});
  });

  it('takes one or several of some values', () => {
    const several = someOf(['A', 'B', 'C']);
    expect(several('B')).toEqual(['B']);
    expect(several(['C', 'A', 'X'])).toEqual(['A', 'C']);
    expect(several(['X'])).toBeUndefined();
  });
});
