import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayBounds, localDays, weekBounds } from '../src/platform/local-days.ts';
import { resolveInterval } from '../src/platform/time.ts';

const HOUR_MS = 3_600_000;
const ZONES = [
  'UTC',
  'Europe/Vienna',
  'America/Havana',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Australia/Lord_Howe',
];

const hoursOf = (zone: string, startDate: string, endDate: string): [string, number][] =>
  [...localDays(resolveInterval({ startDate, endDate }, zone), zone)].map(({ day, from, until }) => [
    day,
    (until - from) / HOUR_MS,
  ]);

describe('local days', () => {
  it('have 23 or 25 hours when clocks change', () => {
    expect(hoursOf('Europe/Vienna', '2026-03-28', '2026-03-30').map(([, hours]) => hours)).toEqual([
      24, 23, 24,
    ]);
    expect(hoursOf('Europe/Vienna', '2026-10-25', '2026-10-25')).toEqual([['2026-10-25', 25]]);
  });

  it('begin at the first midnight if there are two, and at one o’clock if there is none', () => {
    // Cuba changes its clocks at midnight.
    expect(hoursOf('America/Havana', '2025-11-01', '2025-11-03').map(([, hours]) => hours)).toEqual([
      24, 25, 24,
    ]);
    expect(hoursOf('America/Havana', '2025-03-08', '2025-03-10').map(([, hours]) => hours)).toEqual([
      24, 23, 24,
    ]);
  });

  it('leave out a day that a zone skipped', () => {
    expect(hoursOf('Pacific/Apia', '2011-12-29', '2011-12-31')).toEqual([
      ['2011-12-29', 24],
      ['2011-12-31', 24],
    ]);
  });

  it('are parts of the whole days within the same bounds, in every zone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.integer({ min: Date.UTC(2008, 0), max: Date.UTC(2030, 0) }),
        fc.integer({ min: 1, max: 40 * 24 * HOUR_MS }),
        fc.integer({ min: 0, max: 6 }),
        (zone, from, length, firstDay) => {
          const range = { from, until: from + length };
          const days = [...localDays(range, zone)];
          const bounds = dayBounds(range, zone);
          expect(bounds).toHaveLength(days.length + 1);
          for (const [n, { from: start, until }] of days.entries()) {
            expect(start).toBe(Math.max(range.from, bounds[n] ?? 0));
            expect(until).toBe(Math.min(range.until, bounds[n + 1] ?? 0));
          }
          const weeks = weekBounds(range, zone, firstDay);
          expect(weeks[0]).toBeLessThanOrEqual(range.from);
          expect(weeks.at(-1)).toBeGreaterThanOrEqual(range.until);
          const inner = weeks.slice(1, -1);
          expect(inner.filter((start) => !bounds.includes(start))).toEqual([]);
        },
      ),
    );
  });
});
