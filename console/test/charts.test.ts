import { HOUR_MS } from '@gantry/contract/durations';
import type { FlowPoint, SpeedDistribution } from '@gantry/contract/traffic';
import { describe, expect, it } from 'vitest';
import { binsOf } from '../src/pages/traffic/bins.ts';
import { comparedWith } from '../src/pages/traffic/comparison.ts';
import { overlay } from '../src/pages/traffic/overlay.ts';
import { timeLabels } from '../src/shared/chart/time-axis.ts';
import { csvOf } from '../src/shared/csv/csv.ts';
import { besides, daysIn, nameOfRange, rangeOfMonth, rangeOfPreset } from '../src/shared/range/days.ts';
import { createTimeFormat, offsetsOf, spanOfDays, startOfHour } from '../src/shared/time/format.ts';

const berlin = createTimeFormat('Europe/Berlin', 'en', {
  timezone: 'Europe/Berlin',
  use24HourFormat: true,
  dateFormat: 'YYYY-MM-DD',
  firstDayOfWeek: 1,
});

/** Hourly intervals from a given time, as in the responses of the service. */
const hours = (from: string, count: number): FlowPoint[] =>
  Array.from({ length: count }, (_, at) => {
    const start = new Date(Date.parse(from) + at * HOUR_MS);
    return { start, end: new Date(start.getTime() + HOUR_MS), volume: at } as FlowPoint;
  });

describe('days', () => {
  it('are those of a preset or of a month of any length', () => {
    expect(rangeOfPreset('last7', '2026-03-02')).toEqual({ startDate: '2026-02-24', endDate: '2026-03-02' });
    expect(rangeOfPreset('lastMonth', '2028-03-31')).toEqual(rangeOfMonth('2028-02'));
    expect(daysIn(rangeOfMonth('2028-02'))).toBe(29);
    expect(nameOfRange(rangeOfMonth('2026-05'), '2026-11-22')).toBe('2026-05');
    expect(nameOfRange(rangeOfPreset('today', '2026-11-22'), '2026-11-22')).toBe('today');
    expect(nameOfRange({ startDate: '2026-05-02', endDate: '2026-05-31' }, '2026-11-22')).toBeNull();
  });

  it('move by their own length, and whole months by a month', () => {
    expect(besides({ startDate: '2026-03-01', endDate: '2026-03-07' }, -1)).toEqual({
      startDate: '2026-02-22',
      endDate: '2026-02-28',
    });
    expect(besides(rangeOfMonth('2026-03'), -1)).toEqual(rangeOfMonth('2026-02'));
  });

  it('are compared with the same weekdays of the previous year', () => {
    const subject = { place: { locationId: 'a' }, days: { startDate: '2026-11-16', endDate: '2026-11-22' } };
    expect(comparedWith(subject, { compare: 'yearBefore' })?.days).toEqual({
      startDate: '2025-11-17',
      endDate: '2025-11-23',
    });
    expect(comparedWith(subject, { compare: 'place' })).toBeNull();
  });
});

describe('two periods', () => {
  it('are aligned by the time of day, also on days of 23 or 25 hours', () => {
    const autumn = hours('2026-10-24T22:00:00Z', 25);
    const usual = hours('2026-10-17T22:00:00Z', 24);
    const pairs = overlay(autumn, usual, berlin);
    expect(pairs).toHaveLength(25);
    expect(pairs.filter(({ second }) => second === null)).toHaveLength(1);
    expect(pairs[3]).toEqual({ first: autumn[3], second: null });
    expect(pairs[24]).toEqual({ first: autumn[24], second: usual[23] });

    const spring = hours('2026-03-28T23:00:00Z', 23);
    const before = hours('2026-03-21T23:00:00Z', 24);
    const shorter = overlay(spring, before, berlin);
    expect(shorter).toHaveLength(24);
    expect(shorter[2]).toEqual({ first: null, second: before[2] });
    expect(shorter[23]).toEqual({ first: spring[22], second: before[23] });
  });
});

describe('two periods of whole days', () => {
  it('are aligned by the day where the clocks change at midnight', () => {
    const santiago = createTimeFormat('America/Santiago', 'en', {
      timezone: 'America/Santiago',
      use24HourFormat: true,
      dateFormat: 'YYYY-MM-DD',
      firstDayOfWeek: 1,
    });
    const days = (...starts: string[]): FlowPoint[] =>
      starts
        .slice(1)
        .map((end, at) => ({ start: new Date(starts[at] ?? ''), end: new Date(end) }) as FlowPoint);
    // 6 September begins at 01:00.
    const spring = days('2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z', '2026-09-08T03:00Z');
    const before = days('2026-08-29T04:00Z', '2026-08-30T04:00Z', '2026-08-31T04:00Z', '2026-09-01T04:00Z');
    expect(overlay(spring, before, santiago)).toEqual(
      spring.map((first, at) => ({ first, second: before[at] })),
    );
  });
});

describe('an axis of times', () => {
  it('is labelled in the zone of the service', () => {
    const starts = hours('2026-10-24T22:00:00Z', 25).map(({ start }) => start);
    const { labels, isLabelled } = timeLabels(starts, berlin, 'en');
    expect(labels[0]).toBe('00:00\n2026-10-25');
    expect([labels[2], labels[3], labels[4]]).toEqual(['02:00', '02:00', '03:00']);
    expect([isLabelled(2), isLabelled(4)]).toEqual([false, true]);
  });
});

describe('an axis of a day that begins at 01:00', () => {
  it('has its date', () => {
    const settings = { use24HourFormat: true, dateFormat: 'YYYY-MM-DD', firstDayOfWeek: 1 } as const;
    const cairo = createTimeFormat('Africa/Cairo', 'en', { ...settings, timezone: 'Africa/Cairo' });
    const starts = hours('2026-04-23T22:00:00Z', 23).map(({ start }) => start);
    const { labels, isLabelled } = timeLabels(starts, cairo, 'en');
    expect(labels.filter((_, at) => isLabelled(at)).slice(0, 2)).toEqual(['01:00\n2026-04-24', '03:00']);
  });
});

describe('an axis of two days', () => {
  it('has hours also where one of them has 25', () => {
    const quarters = Array.from(
      { length: 49 * 4 },
      (_, at) => new Date(Date.parse('2026-10-24T22:00:00Z') + (at * HOUR_MS) / 4),
    );
    const { labels, isLabelled } = timeLabels(quarters, berlin, 'en');
    expect(labels.filter((_, at) => isLabelled(at)).slice(0, 3)).toEqual([
      '00:00\n2026-10-25',
      '03:00',
      '06:00',
    ]);
  });
});

describe('the zone of a card', () => {
  it('has every offset of the range', () => {
    const offsets = (from: string, until: string) => offsetsOf(new Date(from), new Date(until), berlin);
    expect(offsets('2026-01-01T00:00:00+01:00', '2027-01-01T00:00:00+01:00')).toEqual([
      'UTC+01:00',
      'UTC+02:00',
    ]);
    expect(offsets('2026-05-01T00:00:00+02:00', '2026-06-01T00:00:00+02:00')).toEqual(['UTC+02:00']);
    expect(offsets('2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00')).toEqual([
      'UTC+02:00',
      'UTC+01:00',
    ]);
  });
});

describe('the days of a range', () => {
  const settings = { use24HourFormat: true, dateFormat: 'YYYY-MM-DD', firstDayOfWeek: 1 } as const;

  it('begin and end on the clocks of the zone, wherever it is', () => {
    const noteOf = (timezone: string, startDate: string, endDate = startDate) => {
      const time = createTimeFormat(timezone, 'en', { ...settings, timezone });
      const [from, until] = spanOfDays({ startDate, endDate }, time);
      return [from.toISOString(), until.toISOString(), ...offsetsOf(from, until, time)];
    };
    // The clocks of Sydney are set back at 03:00 on 5 April, which is 4 April in UTC.
    expect(noteOf('Australia/Sydney', '2026-04-04')).toEqual([
      '2026-04-03T13:00:00.000Z',
      '2026-04-04T13:00:00.000Z',
      'UTC+11:00',
    ]);
    expect(noteOf('Australia/Sydney', '2026-04-05')).toEqual([
      '2026-04-04T13:00:00.000Z',
      '2026-04-05T14:00:00.000Z',
      'UTC+11:00',
      'UTC+10:00',
    ]);
    // The day begins at 01:00.
    expect(noteOf('Africa/Cairo', '2026-04-24')).toEqual([
      '2026-04-23T22:00:00.000Z',
      '2026-04-24T21:00:00.000Z',
      'UTC+03:00',
    ]);
  });

  it('have hours that begin when clocks show them', () => {
    const startIn = (zone: string, moment: string) =>
      new Date(
        startOfHour(Date.parse(moment), createTimeFormat(zone, 'en', { ...settings, timezone: zone })),
      ).toISOString();
    expect(startIn('Asia/Kolkata', '2026-05-01T10:20:00Z')).toBe('2026-05-01T09:30:00.000Z');
    expect(startIn('Asia/Kathmandu', '2026-05-01T10:20:00Z')).toBe('2026-05-01T10:15:00.000Z');
    expect(startIn('America/St_Johns', '2026-05-01T10:20:00Z')).toBe('2026-05-01T09:30:00.000Z');
    expect(startIn('Europe/Berlin', '2026-05-01T10:20:00Z')).toBe('2026-05-01T10:00:00.000Z');
  });
});

describe('the bins of two distributions of speeds', () => {
  const distribution = (froms: readonly number[], speedLimit: number | null = null) =>
    ({
      bins: froms.map((from) => ({ from, to: from + 5, count: from })),
      speedLimit,
    }) as unknown as SpeedDistribution;

  it('have no gap where the two do not overlap', () => {
    expect(binsOf(distribution([60, 65]), distribution([40]))).toEqual([
      { from: 40, to: 45, counts: [0, 40] },
      { from: 45, to: 50, counts: [0, 0] },
      { from: 50, to: 55, counts: [0, 0] },
      { from: 55, to: 60, counts: [0, 0] },
      { from: 60, to: 65, counts: [60, 0] },
      { from: 65, to: 70, counts: [65, 0] },
    ]);
    expect(binsOf(distribution([40]), null)).toEqual([{ from: 40, to: 45, counts: [40, 0] }]);
  });

  it('reach to the limit', () => {
    const froms = (of: SpeedDistribution) => binsOf(of, null).map(({ from }) => from);
    expect(froms(distribution([40], 51))).toEqual([40, 45, 50]);
    expect(froms(distribution([40], 50))).toEqual([40, 45]);
    expect(froms(distribution([40], 30))).toEqual([30, 35, 40]);
    expect(froms(distribution([], 30))).toEqual([]);
  });
});

describe('the file of a chart', () => {
  const columns = [
    { header: 'Start', kind: 'moment' },
    { header: 'Vehicle type', kind: 'text' },
    { header: 'Mean speed', kind: 'number', unit: 'km/h' },
  ] as const;

  it('has times with their offset, nothing for a gap, and no formulas', () => {
    const rows = [
      [new Date('2026-10-25T00:00:00Z'), '=1+1', 50.25],
      [new Date('2026-10-25T01:00:00Z'), 'a;"b"', null],
    ];
    expect(csvOf({ columns, rows }, 'Europe/Berlin', ['Speeds, of all', '=1+1; @A'])).toBe(
      `${[
        '\uFEFFStart,Vehicle type,Mean speed (km/h)',
        "2026-10-25T02:00:00+02:00,'=1+1,50.25",
        '2026-10-25T02:00:00+01:00,"a;""b""",',
        '# Speeds; of all,,',
        "# '=1+1;' @A,,",
      ].join('\r\n')}\r\n`,
    );
  });

  it('is written for Excel in countries with a decimal comma by choice, and keeps texts that look like numbers', () => {
    const texts = ['007', '12E34', '1e5', '3-4', '12:30', '=1+1', '34 ABC 12', 'E34', '٠٠٧'];
    const rows = texts.map((text) => [text]);
    const excel = { separator: ';', hasMark: false, keepsTexts: true } as const;
    const file = csvOf({ columns: [{ header: 'Plate', kind: 'text' }], rows }, 'UTC', ['Facts'], excel);
    const kept = (text: string) => `"=""${text}"""`;
    expect(file.split('\r\n')).toEqual([
      'Plate',
      ...texts.slice(0, 5).map(kept),
      "'=1+1",
      '34 ABC 12',
      'E34',
      kept('٠٠٧'),
      '# Facts',
      '',
    ]);
    const both = ['A', 'B'].map((header) => ({ header, kind: 'text' as const }));
    const marked = { separator: ';', hasMark: true, keepsTexts: false } as const;
    expect(csvOf({ columns: both, rows: [['x', '007']] }, 'UTC', ['Facts'], marked)).toBe(
      '\uFEFFA;B\r\nx;007\r\n# Facts;\r\n',
    );
  });
});
