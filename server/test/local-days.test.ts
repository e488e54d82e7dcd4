import { HOUR_MS } from '@gantry/contract/durations';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, it } from 'vitest';
import { dayBounds, localDays, resolveInterval, weekBounds } from '../src/platform/time.ts';
import { localBounds } from '../src/traffic/range.ts';

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

describe('local hours', () => {
  const hoursIn = (zone: string, day: string): string[] =>
    localBounds(resolveInterval({ startDate: day, endDate: day }, zone), 60, zone).map((bound) =>
      DateTime.fromMillis(bound, { zone }).toFormat('HH:mm'),
    );
  const hours = (from: number, until: number): string[] =>
    Array.from({ length: until - from }, (_, n) => `${String(from + n).padStart(2, '0')}:00`);

  it('begin on the hour after the clocks have changed by half an hour, too', () => {
    expect(hoursIn('Australia/Lord_Howe', '2026-04-05')).toEqual([
      ...hours(0, 2),
      '01:30',
      ...hours(2, 24),
      '00:00',
    ]);
    expect(hoursIn('Australia/Lord_Howe', '2026-10-04')).toEqual([
      ...hours(0, 2),
      '02:30',
      ...hours(3, 24),
      '00:00',
    ]);
  });

  it('begin on the hour when the clocks change at the beginning or the end of a day', () => {
    expect(hoursIn('Asia/Kathmandu', '1986-01-01')).toEqual(['00:15', ...hours(1, 24), '00:00']);
    expect(hoursIn('Asia/Pyongyang', '2018-05-04')).toEqual([...hours(0, 24), '00:00']);
  });

  it('are 23 or 25 when the clocks change by an hour', () => {
    expect(hoursIn('Europe/Vienna', '2026-03-29')).toEqual([...hours(0, 2), ...hours(3, 24), '00:00']);
    expect(hoursIn('Europe/Vienna', '2026-10-25')).toEqual([...hours(0, 3), ...hours(2, 24), '00:00']);
  });
});

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
