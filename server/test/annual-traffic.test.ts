import { HOUR_MS } from '@gantry/contract/durations';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aadt,
  designHours,
  designHourVolume,
  factorsOf,
  groupFactor,
  madt,
  monthsOf,
  publishedVolume,
} from '../src/traffic/annual.ts';
import { type Bin, binStatus } from '../src/traffic/bin.ts';
import { dailyVolumes } from '../src/traffic/daily.ts';
import { localBounds } from '../src/traffic/range.ts';
import { binAt, hoursFrom } from './bins.ts';

// A year whose volumes follow from the date, with annual figures that an independent program computed.

const BY_HOUR = [
  20, 12, 8, 8, 15, 60, 180, 320, 340, 240, 220, 230, 240, 240, 250, 300, 350, 360, 260, 180, 130, 90, 60, 35,
];
const YEAR = { from: Date.UTC(2025, 0), until: Date.UTC(2026, 0) };

/** The hours of 2025 (UTC), without those that are missing. */
function yearOf(isMissing: (at: Date) => boolean = () => false): Bin[] {
  const volumes = Array.from({ length: 8_760 }, (_, n) => {
    const at = new Date(YEAR.from + n * HOUR_MS);
    if (isMissing(at)) return null;
    const less = { 0: 40, 6: 25 }[at.getUTCDay()] ?? 0;
    return Math.floor(((BY_HOUR[at.getUTCHours()] ?? 0) * (100 - less)) / 100) + 3 * (at.getUTCMonth() + 1);
  });
  return hoursFrom(YEAR.from, volumes);
}

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);
const isHoled = (at: Date): boolean =>
  (dateOf(at) >= '2025-02-10' && dateOf(at) <= '2025-02-20') ||
  (dateOf(at) === '2025-07-06' && at.getUTCHours() < 5);
const isNoonOfMonday = (at: Date): boolean =>
  at.getUTCDay() === 1 && at.getUTCDate() % 2 === 0 && at.getUTCHours() === 13;

describe('annual average daily traffic', () => {
  const complete = monthsOf(yearOf(), 2025, 'UTC');
  const holed = monthsOf(yearOf(isHoled), 2025, 'UTC');
  const mondays = monthsOf(yearOf(isNoonOfMonday), 2025, 'UTC');

  it.each([
    ['SIMPLE', complete, 4_233.074, 365],
    ['AASHTO', complete, 4_230.143, 12],
    ['FHWA', complete, 4_233.074, 12],
    ['SIMPLE', holed, 4_242.408, 353],
    ['AASHTO', holed, 4_230.143, 12],
    ['FHWA', holed, 4_233.074, 12],
    ['FHWA', mondays, 4_233.074, 12],
  ] as const)('%s is that of an independent program', (method, months, value, n) => {
    expect(aadt(months, method)).toMatchObject({ value, n, status: 'VALID', reason: null, published: 4_200 });
  });

  it('is no simple mean of fewer than 350 days', () => {
    expect(aadt(mondays, 'SIMPLE')).toMatchObject({
      value: null,
      published: null,
      n: 340,
      status: 'INSUFFICIENT',
      reason: '340 days are complete, and the mean needs 350',
    });
    const lost = (days: number) =>
      monthsOf(
        yearOf((at) => at.getTime() < YEAR.from + days * 24 * HOUR_MS),
        2025,
        'UTC',
      );
    expect(aadt(lost(15), 'SIMPLE')).toMatchObject({ n: 350, status: 'VALID' });
    expect(aadt(lost(16), 'SIMPLE')).toMatchObject({ n: 349, value: null });
  });

  it('lists the averages of the months', () => {
    const values = aadt(complete, 'FHWA').months.map(({ value }) => value);
    expect([values[0], values[6]]).toEqual([3_871.484, 4_303.484]);
    expect(aadt(holed, 'AASHTO').months[1]).toEqual({ month: 2, value: 3_906.143 });
    // In a complete year, each weekday of a month has the same volume, so they are the means of its days.
    for (const [n, { daySums, days }] of complete.entries()) {
      const [volume, count] = [daySums, days].map((parts) => parts.reduce((sum, part) => sum + part, 0));
      expect(values[n]).toBeCloseTo((volume ?? 0) / (count ?? 0), 3);
    }
  });

  it.each(['FHWA', 'AASHTO'] as const)(
    '%s may lack one month, if asked, and is provisional then',
    (method) => {
      const one = monthsOf(
        yearOf((at) => at.getUTCMonth() === 2),
        2025,
        'UTC',
      );
      const two = monthsOf(
        yearOf((at) => at.getUTCMonth() === 2 || at.getUTCMonth() === 4),
        2025,
        'UTC',
      );
      expect(aadt(one, method)).toMatchObject({
        value: null,
        n: 11,
        status: 'INSUFFICIENT',
        reason: expect.stringMatching(/^In month 3, /),
      });
      expect(aadt(one, method, { allowMissing: 1 })).toMatchObject({
        value: expect.any(Number),
        status: 'PROVISIONAL',
      });
      expect(aadt(two, method, { allowMissing: 1 })).toMatchObject({
        value: null,
        reason: expect.stringMatching(/^In month 3, 5, /),
      });
      expect(aadt(one, method).months[2]).toEqual({ month: 3, value: null });
    },
  );

  it('needs each of the 168 hours of the week in a month', () => {
    const isSundayNight = (at: Date): boolean =>
      at.getUTCMonth() === 6 && at.getUTCDay() === 0 && at.getUTCHours() < 5;
    const months = monthsOf(yearOf(isSundayNight), 2025, 'UTC');
    expect(aadt(months, 'FHWA')).toMatchObject({ value: null, n: 11, status: 'INSUFFICIENT' });
    expect(aadt(months, 'AASHTO')).toMatchObject({ value: null, n: 11 });
    expect(months[5] && madt(months[5])).toBeGreaterThan(0);
  });

  it('is provisional while the year lasts', () => {
    expect(aadt(complete, 'FHWA', { isOver: false })).toMatchObject({
      value: 4_233.074,
      status: 'PROVISIONAL',
      reason: 'The year is not over',
    });
  });

  it('is a constant for constant traffic, by all methods, in every zone', () => {
    const zones = fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata', 'Europe/Istanbul');
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 500 }), (zone, volume) => {
        const bounds = localBounds(
          { from: Date.UTC(2025, 0, 1, 12), until: Date.UTC(2025, 11, 31, 12) },
          60,
          zone,
        );
        const whole = localBounds({ from: bounds[0] ?? 0, until: bounds.at(-1) ?? 0 }, 1_440, zone);
        const hours = localBounds({ from: whole[0] ?? 0, until: whole.at(-1) ?? 0 }, 60, zone);
        const months = monthsOf(
          hoursFrom(
            hours[0] ?? 0,
            hours.slice(1).map(() => volume),
          ),
          2025,
          zone,
        );
        expect(aadt(months, 'FHWA').value).toBe(24 * volume);
        expect(aadt(months, 'SIMPLE').value).toBeCloseTo(24 * volume, -1);
      }),
      { numRuns: 8 },
    );
  });

  it('does not use an hour that a change of clocks cuts in two', () => {
    const zone = 'Australia/Lord_Howe';
    const bounds = localBounds({ from: Date.UTC(2026, 3, 4), until: Date.UTC(2026, 3, 6) }, 60, zone);
    const bins = bounds.slice(1).map((end, n) => binAt(bounds[n] ?? 0, 10, { end }));
    const [, , , april] = monthsOf(bins, 2026, zone);
    // On Sunday 5 April, clocks showed 01:00 to 02:00, and 01:30 to 02:00 again.
    expect(april?.hours.slice(0, 4)).toEqual([1, 1, 1, 1]);
    expect(april?.sums.slice(0, 4)).toEqual([10, 10, 10, 10]);
    expect(april?.days[0]).toBe(1);
  });

  it.each([
    [0.74, 0],
    [0.75, 1],
  ])('uses an hour that is covered by %f: %i', (coverage, n) => {
    const status = binStatus({ isOver: true, coverage });
    const [january] = monthsOf(
      hoursFrom(YEAR.from, [5]).map((bin) => ({ ...bin, coverage, status })),
      2025,
      'UTC',
    );
    // 1 January 2025 was a Wednesday.
    expect(january?.hours[3 * 24]).toBe(n);
  });

  it('is published to ten or a hundred vehicles', () => {
    expect([994, 999, 1_049, 4_250].map(publishedVolume)).toEqual([990, 1_000, 1_000, 4_300]);
  });

  it('is of one year, whatever else is given', () => {
    const before = hoursFrom(
      YEAR.from - 48 * HOUR_MS,
      Array.from({ length: 48 }, () => 9_999),
    );
    const after = hoursFrom(
      YEAR.until,
      Array.from({ length: 48 }, () => 9_999),
    );
    expect(monthsOf([...before, ...yearOf(), ...after], 2025, 'UTC')).toEqual(complete);
    expect(monthsOf([], 2025, 'UTC').map(({ month }) => month)).toHaveLength(12);
  });

  it('gives factors', () => {
    const { months, weekdays, combined } = factorsOf(complete, 4_233.074);
    expect(months[0]).toEqual({ month: 1, factor: 1.093 });
    expect(months[6]).toEqual({ month: 7, factor: 0.984 });
    expect(weekdays.map(({ weekday }) => weekday)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(weekdays[0]?.factor).toBeGreaterThan(weekdays[1]?.factor ?? 9);
    expect(combined).toHaveLength(84);
    // Sundays in July: 40 % less than 4,148, rounded down by hour, and 21 vehicles in each hour.
    const sunday = BY_HOUR.reduce((sum, n) => sum + Math.floor((n * 60) / 100) + 21, 0);
    expect(combined).toContainEqual({
      month: 7,
      weekday: 0,
      factor: Math.round((4_233.074 / sunday) * 1_000) / 1_000,
    });
    expect(factorsOf(complete, null).months[0]).toEqual({ month: 1, factor: null });
  });

  it('gives the mean of the factors of stations, with their variation', () => {
    expect(groupFactor([1.1, 0.9, 1, null])).toEqual({ mean: 1, cv: 0.1, n: 3 });
    expect(groupFactor([1.1])).toEqual({ mean: 1.1, cv: null, n: 1 });
    expect(groupFactor([])).toEqual({ mean: null, cv: null, n: 0 });
  });

  it('gives design hours', () => {
    const found = designHours(yearOf(), YEAR, 'UTC', 4_233.074);
    expect(found).toMatchObject({ k30: 0.0928, validHours: 1, status: 'VALID', reason: null });
    expect(found.hours).toHaveLength(100);
    expect(found.hours[29]?.volume).toBe(393);
    // The first hour from 17:00 on a Monday to Friday in December.
    expect(found.hours[0]).toEqual({ start: new Date('2025-12-01T17:00:00Z'), volume: 396 });
    const volumes = found.hours.map(({ volume }) => volume);
    expect(volumes).toEqual(volumes.toSorted((a, b) => b - a));
    expect(designHours(yearOf(), YEAR, 'UTC', null)).toMatchObject({
      k30: null,
      reason: 'The annual average is not known',
    });
  });

  it('gives the 30th, 50th and 100th hour', () => {
    const range = { from: YEAR.from, until: YEAR.from + 200 * HOUR_MS };
    const found = designHours(
      hoursFrom(
        YEAR.from,
        Array.from({ length: 200 }, (_, n) => n),
      ),
      range,
      'UTC',
      1_000,
    );
    expect(found).toMatchObject({ k30: 0.17, k50: 0.15, k100: 0.1 });
  });

  it.each([
    [438, 'VALID'],
    [439, 'INSUFFICIENT'],
  ])('gives design hours with %i hours missing: %s', (missing, status) => {
    const bins = yearOf((at) => at.getTime() < YEAR.from + missing * HOUR_MS);
    const found = designHours(bins, YEAR, 'UTC', 4_233);
    expect(found.status).toBe(status);
    expect(found.k30 === null).toBe(status !== 'VALID');
  });

  it('gives design hour volumes with two digits from 1,000', () => {
    expect([
      designHourVolume(4_233, 0.0928),
      designHourVolume(42_330, 0.0928, 0.6),
      designHourVolume(130_000, 0.1),
    ]).toEqual([393, 2_400, 13_000]);
  });
});

describe('daily volumes', () => {
  const FRIDAY = Date.UTC(2026, 2, 6);
  const week = { from: FRIDAY, until: FRIDAY + 7 * 24 * HOUR_MS };

  it('are averaged over complete days: five of 240, and not five minutes of a sixth', () => {
    const bins = hoursFrom(
      FRIDAY,
      Array.from({ length: 120 }, () => 10),
    );
    const saturday = binAt(week.from + 120 * HOUR_MS, 2, {
      end: week.from + 121 * HOUR_MS,
      status: 'PARTIAL',
      coverage: 1 / 12,
    });
    const found = dailyVolumes([...bins, saturday], week, 'UTC');
    expect(found.adt).toEqual({ value: 240, n: 5 });
    expect(found.days[5]).toMatchObject({
      date: '2026-03-11',
      volume: 2,
      status: 'PARTIAL',
      reason: 'Only 0 % of the day is known',
    });
    expect(found.excluded.map(({ date, reason }) => [date, reason])).toEqual([
      ['2026-03-11', 'Only 0 % of the day is known'],
      ['2026-03-12', 'No data'],
    ]);
    expect(found.days[6]).toMatchObject({ volume: null, status: 'GAP' });
  });

  it('of a year without some hours have the mean of an independent program', () => {
    const found = dailyVolumes(yearOf(isNoonOfMonday), YEAR, 'UTC');
    expect(found.adt).toEqual({ value: 4_205.024, n: 340 });
    expect(found.excluded).toHaveLength(25);
    expect(found.excluded[0]).toEqual({
      date: '2025-01-06',
      reason: 'Only 0 % of the hour from 13:00 is known',
    });
  });

  it('are averaged over Mondays to Fridays without holidays, and over weekends', () => {
    const bins = hoursFrom(
      FRIDAY,
      Array.from({ length: 168 }, (_, n) => 1 + Math.floor(n / 24)),
    );
    const holidays = new Set(['2026-03-09', '2026-03-08']);
    expect(dailyVolumes(bins, week, 'UTC', holidays)).toMatchObject({
      adt: { value: 96, n: 7 },
      // Friday, and Tuesday to Thursday.
      awdt: { value: (24 * (1 + 5 + 6 + 7)) / 4, n: 4 },
      weekendAdt: { value: 60, n: 2 },
    });
    expect(dailyVolumes([], week, 'UTC')).toMatchObject({
      adt: { value: null, n: 0 },
      excluded: { length: 7 },
    });
  });

  const day = { from: FRIDAY, until: FRIDAY + 24 * HOUR_MS };
  const withHour = (other: Partial<Bin>): Bin[] =>
    hoursFrom(
      FRIDAY,
      Array.from({ length: 24 }, () => 10),
    ).map((bin, n) => (n === 13 ? { ...bin, ...other } : bin));

  it.each([
    [{ coverage: 0.75, status: 'PARTIAL' }, 'VALID', null],
    [{ coverage: 0.74, status: 'PARTIAL' }, 'PARTIAL', 'Only 74 % of the hour from 13:00 is known'],
    [{ status: 'EXCLUDED' }, 'PARTIAL', 'Only 0 % of the hour from 13:00 is known'],
    [{ status: 'PROVISIONAL' }, 'PROVISIONAL', 'The day is not over'],
    [{ status: 'IMPUTED' }, 'IMPUTED', 'A part of the volume is an estimate'],
  ] as const)('of a day with an hour that is %j are %s', (hour, status, reason) => {
    expect(dailyVolumes(withHour(hour), day, 'UTC').days).toMatchObject([{ status, reason }]);
  });

  it.each([
    [0.9499, 'PARTIAL', 'Only 94 % of the day is known'],
    [0.95, 'VALID', null],
  ])('of a day that is covered by %f are %s', (coverage, status, reason) => {
    const bins = withHour({}).map((bin) => ({
      ...bin,
      coverage,
      status: binStatus({ isOver: true, coverage }),
    }));
    expect(dailyVolumes(bins, day, 'UTC').days).toMatchObject([{ status, reason }]);
  });

  it('of a day whose hours are not all given are not complete', () => {
    const found = dailyVolumes(withHour({}).slice(1), day, 'UTC');
    expect(found.days).toEqual([
      { date: '2026-03-06', volume: 230, status: 'PARTIAL', reason: 'An hour has no data' },
    ]);
    const noon = withHour({}).map((bin, n) =>
      n > 11 && n < 14 ? { ...bin, status: 'EXCLUDED' as const } : bin,
    );
    expect(dailyVolumes(noon, day, 'UTC').days).toMatchObject([
      { volume: 220, status: 'PARTIAL', reason: 'Only 91 % of the day is known: data of 2 h were rejected' },
    ]);
    const rejected = withHour({}).map((bin) => ({ ...bin, status: 'EXCLUDED' as const }));
    expect(dailyVolumes(rejected, day, 'UTC').days).toMatchObject([
      { volume: null, status: 'EXCLUDED', reason: 'All data were rejected' },
    ]);
  });

  it.each([
    ['America/New_York', 2026, 3, 8, 23],
    ['America/New_York', 2026, 11, 1, 25],
    ['Australia/Lord_Howe', 2026, 10, 4, 23.5],
    ['Australia/Lord_Howe', 2026, 4, 5, 24.5],
  ])('in %s on %i-%i-%i are of a complete day of %f hours', (zone, year, month, date, hours) => {
    const noon = {
      from: Date.UTC(year, month - 1, date, 12),
      until: Date.UTC(year, month - 1, date, 12) + 1,
    };
    const bounds = localBounds(
      { from: localBounds(noon, 1_440, zone)[0] ?? 0, until: localBounds(noon, 1_440, zone)[1] ?? 0 },
      60,
      zone,
    );
    const bins = bounds
      .slice(1)
      .map((end, n) => binAt(bounds[n] ?? 0, (end - (bounds[n] ?? 0)) / 60_000, { end }));
    expect(dailyVolumes(bins, { from: bounds[0] ?? 0, until: bounds.at(-1) ?? 0 }, zone)).toMatchObject({
      days: [{ volume: hours * 60, status: 'VALID', reason: null }],
      adt: { value: hours * 60, n: 1 },
    });
  });
});

describe('the status of a bin', () => {
  it.each([
    [{ isOver: true, coverage: 0.95 }, 'VALID'],
    [{ isOver: true, coverage: 0.9499, volume: 7 }, 'PARTIAL'],
    [{ isOver: true, coverage: 0 }, 'GAP'],
    [{ isOver: true, coverage: 0, volume: 1 }, 'PARTIAL'],
    [{ isOver: false, coverage: 1 }, 'PROVISIONAL'],
    [{ isOver: false, coverage: 0 }, 'PROVISIONAL'],
    [{ isOver: true, coverage: 1, isExcluded: true }, 'EXCLUDED'],
  ] as const)('with %j is %s', (known, status) => {
    expect(binStatus(known)).toBe(status);
  });
});
