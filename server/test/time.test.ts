import { HOUR_MS } from '@gantry/contract/durations';
import { isIsoTime, isPlainDate, timeInput } from '@gantry/contract/time';
import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { describe, expect, it } from 'vitest';
import { offsetsOf, resolveInterval, resolveTime } from '../src/platform/time.ts';

const ZONES = [
  'UTC',
  'Europe/Vienna',
  'America/New_York',
  'America/Sao_Paulo',
  'America/Havana',
  'America/St_Johns',
  'Africa/Cairo',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];

const formats = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }),
  ]),
);
/** The time that a wall clock shows at a moment, as `2026-01-31T08:15:00`, computed without the library under test. */
const wallClock = (moment: number, zone: string): string =>
  formats.get(zone)?.format(moment).replace(' ', 'T') ?? '';

const zone = fc.constantFrom(...ZONES);
const localTime = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2037-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));
const day = localTime.map((text) => text.slice(0, 10));
const dayAfter = (text: string): string =>
  new Date(Date.parse(text) + 24 * HOUR_MS).toISOString().slice(0, 10);

const at = (iso: string, where = 'UTC'): string => new Date(resolveTime(iso, where)).toISOString();

describe('the offset of a zone', () => {
  it('is that of every time of a day, also of a day on which the clocks change', () => {
    for (const name of ZONES) {
      const [asked, offsetAt] = [IANAZone.create(name), offsetsOf(name)];
      let before = Date.UTC(2025, 8);
      for (let at = before; at < Date.UTC(2026, 3, 10); at += 7 * 24 * HOUR_MS) {
        if (asked.offset(at) !== asked.offset(before))
          for (let time = before; time < at; time += HOUR_MS / 4)
            expect(offsetAt(time), `${name} ${time}`).toBe(asked.offset(time));
        else expect(offsetAt(at - HOUR_MS), name).toBe(asked.offset(at - HOUR_MS));
        before = at;
      }
    }
  });
});

describe('a time in writing', () => {
  it.each([
    ['2026-01-31T08:15:00Z', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31T08:15Z', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31t08:15:00z', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31 08:15:00+01:00', '2026-01-31T07:15:00.000Z'],
    ['2026-01-31T08:15:00+01', '2026-01-31T07:15:00.000Z'],
    ['2026-01-31T08:15-01', '2026-01-31T09:15:00.000Z'],
    ['2026-01-31T08:15:00,123+01', '2026-01-31T07:15:00.123Z'],
    ['2026-01-31T08:15:00−03:00', '2026-01-31T11:15:00.000Z'],
    ['2026-01-31T08:15:00+0530', '2026-01-31T02:45:00.000Z'],
    ['2026-01-31T08:15:00-12:00', '2026-01-31T20:15:00.000Z'],
    ['2026-01-31T08:15:00+14:00', '2026-01-30T18:15:00.000Z'],
    ['2026-01-31T08:15:00.1Z', '2026-01-31T08:15:00.100Z'],
    ['2026-01-31T08:15:00,25Z', '2026-01-31T08:15:00.250Z'],
    ['2026-01-31T08:15:00.123456789Z', '2026-01-31T08:15:00.123Z'],
    ['2026-01-31T08:15:00.999999-0100', '2026-01-31T09:15:00.999Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00+01:00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59.999Z'],
  ])('%s is the time %s, whatever the zone of the service', (iso, moment) => {
    expect(isIsoTime(iso)).toBe(true);
    for (const where of ZONES) expect(at(iso, where)).toBe(moment);
  });

  it.each([
    '',
    '2026',
    '2026-01',
    '2026-1-31',
    '26-01-31',
    '20260131',
    '2026-W05-6',
    '2026-031',
    '2026-02-29',
    '2026-04-31',
    '2026-00-01',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-01-31T',
    '2026-01-31Z',
    '2026-01-31T08',
    '2026-01-31T8:15',
    '2026-01-31T24:00',
    '2026-01-31T08:60',
    '2026-01-31T08:15:60',
    '2026-01-31T08:15:00.',
    '2026-01-31T08:15:00.1234567890Z',
    '2026-01-31T08:15:00+1',
    '2026-01-31T08:15:00+15:00',
    '2026-01-31T08:15:00+01:60',
    '2026-01-31T08:15:00 Z',
    '2026-01-31T08:15:00Z\n',
    ' 2026-01-31',
    '2026-01-31  08:15',
    '+002026-01-31',
    '-2026-01-31',
    '٢٠٢٦-٠١-٣١',
    '31.01.2026',
    '01/31/2026',
    'Sat, 31 Jan 2026 08:15:00 GMT',
    'now',
    '1769847300',
  ])('%j is invalid', (iso) => {
    expect(isIsoTime(iso)).toBe(false);
    expect(timeInput.safeParse(iso).error?.issues[0]?.message).toMatch(/^Use an ISO 8601 /);
  });

  it('may be a Date with a year of four digits, and becomes text', () => {
    expect(timeInput.parse(new Date(5))).toBe('1970-01-01T00:00:00.005Z');
    for (const date of [new Date(Number.NaN), new Date(8.64e15), new Date(-8.64e15)]) {
      expect(timeInput.safeParse(date).success).toBe(false);
    }
  });

  it('is a date only without a time of day', () => {
    expect(isPlainDate('2026-01-31')).toBe(true);
    expect(isPlainDate('2026-01-31T00:00')).toBe(false);
  });
});

describe('a time without an offset', () => {
  it.each([
    ['2026-01-31T08:15:00', 'Europe/Vienna', '2026-01-31T07:15:00.000Z'],
    ['2026-07-31T08:15', 'Europe/Vienna', '2026-07-31T06:15:00.000Z'],
    ['2026-07-31 08:15:00.5', 'Asia/Kathmandu', '2026-07-31T02:30:00.500Z'],
  ])('%s is local to %s', (iso, where, moment) => {
    expect(at(iso, where)).toBe(moment);
  });

  it.each([
    ['2026-03-29T01:59:59', 'Europe/Vienna', '2026-03-29T00:59:59.000Z'],
    ['2026-03-29T02:00:00', 'Europe/Vienna', '2026-03-29T01:00:00.000Z'],
    ['2026-03-29T02:30:00', 'Europe/Vienna', '2026-03-29T01:30:00.000Z'],
    ['2026-03-29T03:00:00', 'Europe/Vienna', '2026-03-29T01:00:00.000Z'],
    ['2026-03-08T02:15:00', 'America/New_York', '2026-03-08T07:15:00.000Z'],
    ['2018-11-04T00:30:00', 'America/Sao_Paulo', '2018-11-04T03:30:00.000Z'],
  ])('%s that daylight saving skips in %s is moved forward by the gap', (iso, where, moment) => {
    expect(at(iso, where)).toBe(moment);
  });

  it.each([
    ['2026-10-25T02:00:00', 'Europe/Vienna', '2026-10-25T00:00:00.000Z'],
    ['2026-10-25T02:59:59', 'Europe/Vienna', '2026-10-25T00:59:59.000Z'],
    ['2026-10-25T03:00:00', 'Europe/Vienna', '2026-10-25T02:00:00.000Z'],
    ['2026-11-01T01:30:00', 'America/New_York', '2026-11-01T05:30:00.000Z'],
    ['2026-11-01T00:30:00', 'America/Havana', '2026-11-01T04:30:00.000Z'],
    ['2026-04-05T01:45:00', 'Australia/Lord_Howe', '2026-04-04T14:45:00.000Z'],
  ])('%s that occurs twice in %s is the first one', (iso, where, moment) => {
    expect(at(iso, where)).toBe(moment);
  });

  it('is when a wall clock first shows it, or later by the length of the jump', () => {
    fc.assert(
      fc.property(localTime, zone, (iso, where) => {
        const moment = resolveTime(iso, where);
        const shown = wallClock(moment, where);
        if (shown === iso) {
          const earlier = [0.5, 1, 2, 3].map((hours) => wallClock(moment - hours * HOUR_MS, where));
          expect(earlier).not.toContain(iso);
        } else {
          // No clock shows the given time, so the result is later by the length of the jump.
          expect(shown > iso).toBe(true);
          const skipped = Date.parse(`${shown}Z`) - Date.parse(`${iso}Z`);
          expect(wallClock(moment - skipped, where) < iso).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a range of dates', () => {
  it('is whole days in the time zone of the service, both included', () => {
    const interval = resolveInterval({ startDate: '2026-01-31', endDate: '2026-02-01' }, 'Europe/Vienna');
    expect(interval).toEqual({
      from: Date.parse('2026-01-30T23:00:00Z'),
      until: Date.parse('2026-02-01T23:00:00Z'),
    });
  });

  it.each([
    ['2026-03-29', 'Europe/Vienna', 23],
    ['2026-10-25', 'Europe/Vienna', 25],
    ['2026-04-05', 'Australia/Lord_Howe', 24.5],
    ['2018-11-04', 'America/Sao_Paulo', 23],
    ['2026-11-01', 'America/Havana', 25],
    ['2011-12-30', 'Pacific/Apia', 0],
  ])('is as long as the day %s is in %s: %d hours', (date, where, hours) => {
    const { from, until } = resolveInterval({ startDate: date, endDate: date }, where);
    expect((until - from) / HOUR_MS).toBe(hours);
  });

  it('ends exactly where the next day begins', () => {
    fc.assert(
      fc.property(day, zone, (date, where) => {
        const { until } = resolveInterval({ endDate: date }, where);
        const { from } = resolveInterval({ startDate: dayAfter(date) }, where);
        expect(until).toBe(from);
      }),
      { numRuns: 2_000 },
    );
  });

  it('contains the times at which a calendar shows that day, and no others', () => {
    fc.assert(
      fc.property(day, zone, (date, where) => {
        const { from, until } = resolveInterval({ startDate: date, endDate: date }, where);
        fc.pre(until > from);
        for (const inside of [from, Math.floor((from + until) / 2), until - 1]) {
          expect(wallClock(inside, where).slice(0, 10)).toBe(date);
        }
        for (const outside of [from - 1, until])
          expect(wallClock(outside, where).slice(0, 10)).not.toBe(date);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a range of times', () => {
  it('includes both bounds, to the millisecond', () => {
    const moment = Date.parse('2026-01-31T08:15:00.123Z');
    const iso = new Date(moment).toISOString();
    expect(resolveInterval({ startDate: iso, endDate: iso }, 'UTC')).toEqual({
      from: moment,
      until: moment + 1,
    });
  });

  it('includes what was truncated to the millisecond of a more precise bound', () => {
    const { until } = resolveInterval({ endDate: '2026-01-31T08:15:00.1239Z' }, 'UTC');
    expect(until).toBe(Date.parse('2026-01-31T08:15:00.124Z'));
  });

  it('is open without a bound', () => {
    expect(resolveInterval({}, 'UTC')).toEqual({
      from: Number.NEGATIVE_INFINITY,
      until: Number.POSITIVE_INFINITY,
    });
  });

  it('consists of numbers for every date', () => {
    const absurd = ['0000-01-01', '9999-12-31', '0000-01-01T00:00', '9999-12-31T23:59:59.999', '0001-01-01'];
    for (const where of ZONES) {
      for (const iso of absurd) {
        const { from, until } = resolveInterval({ startDate: iso, endDate: iso }, where);
        expect(Number.isInteger(from) && Number.isInteger(until) && from <= until).toBe(true);
      }
    }
  });
});
