import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createEnteredTimes } from '../src/shared/time/entered.ts';
import { createTimeFormat } from '../src/shared/time/format.ts';

const SETTINGS = {
  timezone: 'Europe/Berlin',
  use24HourFormat: true,
  dateFormat: 'DD.MM.YYYY',
  firstDayOfWeek: 1,
} as const;
const berlin = createTimeFormat('Europe/Berlin', 'en', SETTINGS);

describe('a moment', () => {
  it('is written in the zone, in the format of the service', () => {
    expect(berlin.dateTime(new Date('2026-11-22T13:03:22Z'))).toBe('22.11.2026 14:03:22');
    expect(berlin.isoDay(new Date('2026-11-22T23:30:00Z'))).toBe('2026-11-23');
  });

  it('is written in the same format if it is a day, or some days, of a figure', () => {
    expect(berlin.day('2026-11-22')).toBe('22.11.2026');
    expect(berlin.days({ startDate: '2026-10-31', endDate: '2026-11-22' })).toBe('31.10.2026 – 22.11.2026');
    expect(berlin.days({ startDate: '2026-11-22', endDate: '2026-11-22' })).toBe('22.11.2026');
  });

  it('is not written by a page itself', async () => {
    const folder = new URL('../src/', import.meta.url);
    const files = (await readdir(folder, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
    expect(files.length).toBeGreaterThan(100);
    for (const file of files)
      expect(await readFile(new URL(file, folder), 'utf8'), file).not.toMatch(/startDate\} – \$\{/);
  });

  it('has the offset in effect at that time, before and after the clocks change', () => {
    expect(berlin.offset(new Date('2026-03-29T00:59:59Z'))).toBe('UTC+01:00');
    expect(berlin.offset(new Date('2026-03-29T01:00:00Z'))).toBe('UTC+02:00');
    expect(berlin.time(new Date('2026-10-25T00:30:00Z'))).toBe('02:30:00');
    expect(berlin.time(new Date('2026-10-25T01:30:00Z'))).toBe('02:30:00');
    expect(createTimeFormat('UTC', 'en', SETTINGS).offset(new Date(0))).toBe('UTC+00:00');
  });

  it('shows midnight and noon correctly on a 12-hour clock', () => {
    const twelve = createTimeFormat('UTC', 'en', { ...SETTINGS, use24HourFormat: false });
    expect(twelve.minute(new Date('2026-01-01T00:05:00Z'))).toBe('12:05 AM');
    expect(twelve.minute(new Date('2026-01-01T12:05:00Z'))).toBe('12:05 PM');
  });

  it.each(['en', 'tr', 'ar'])('has the clock of the service in %s', (language) => {
    const moment = new Date('2026-01-02T15:04:05Z');
    const twelve = { ...SETTINGS, use24HourFormat: false };
    expect(createTimeFormat('UTC', language, SETTINGS).dateTime(moment)).toBe('02.01.2026 15:04:05');
    expect(createTimeFormat('UTC', language, twelve).time(moment)).toBe('3:04:05 PM');
  });

  it('has Western digits in Arabic, too, and relative times in the language', () => {
    const arabic = createTimeFormat('UTC', 'ar', SETTINGS);
    expect(arabic.dateTime(new Date('2026-01-02T03:04:05Z'))).toBe('02.01.2026 03:04:05');
    expect(berlin.ago(new Date(0), 125_000)).toBe('2 min. ago');
  });
});

describe('a time that is entered', () => {
  const from = createEnteredTimes(SETTINGS, { withTime: true });
  const until = createEnteredTimes(SETTINGS, { withTime: true, isEnd: true });
  const american = createEnteredTimes(
    { ...SETTINGS, timezone: 'America/New_York', dateFormat: 'MM/DD/YYYY', use24HourFormat: false },
    { withTime: true },
  );

  it.each([
    ['26.11.2026', ['2026-11-26']],
    ['26.11.2026 14:00', ['2026-11-26T14:00']],
    ['26.11.2026 14', ['2026-11-26T14:00']],
    ['26/11/2026 2 pm', ['2026-11-26T14:00']],
    ['2026-11-26T14:05', ['2026-11-26T14:05']],
    ['٢٦.١١.٢٠٢٦ ١٤:٠٠', ['2026-11-26T14:00']],
    ['31.11.2026', undefined],
    ['26.11.26', undefined],
    ['26.11.2026 25:00', undefined],
    ['26.11.2026 14:60', undefined],
    ['26.11.2026 13 pm', undefined],
    ['tomorrow', undefined],
    // On 2026-03-29 the clocks of Berlin go from 02:00 to 03:00, and on 2026-10-25 from 03:00 back to 02:00.
    ['29.03.2026 02:30', []],
    ['29.03.2026 03:00', ['2026-03-29T03:00']],
    ['25.10.2026 02:30', ['2026-10-25T02:30+02:00', '2026-10-25T02:30+01:00']],
    ['25.10.2026 03:00', ['2026-10-25T03:00']],
  ])('as %s is read as %j', (text, expected) => {
    expect(from.read(text)).toEqual(expected);
  });

  it.each([
    ['26.11.2026 15:00', ['2026-11-26T14:59']],
    ['26.11.2026 24:00', ['2026-11-26T23:59']],
    ['26.11.2026 23:59', ['2026-11-26T23:59']],
    ['25.10.2026 03:00', ['2026-10-25T02:59+01:00']],
    ['25.10.2026 02:00', ['2026-10-25T02:59+02:00', '2026-10-25T01:59']],
    ['29.03.2026 03:00', ['2026-03-29T01:59']],
  ])('as the end %s of a range ends with %j', (text, expected) => {
    expect(until.read(text)?.toSorted()).toEqual(expected.toSorted());
  });

  it.each([
    '26.11.2026',
    '26.11.2026 15:00',
    '26.11.2026 24:00',
    '29.03.2026 03:00',
    '25.10.2026 03:00',
    '25.10.2026 00:30',
  ])('as the end %s is shown again as it was entered', (text) => {
    for (const iso of until.read(text) ?? []) expect(until.show(iso)).toBe(text);
  });

  it('is the end of a day also where clocks skip the midnight after it', () => {
    // In Cairo, 24 April 2026 begins at 01:00.
    const cairo = { ...SETTINGS, timezone: 'Africa/Cairo' };
    const end = createEnteredTimes(cairo, { withTime: true, isEnd: true });
    for (const text of ['23.04.2026 24:00', '23.04.2026 23:59']) {
      expect(end.read(text)).toEqual(['2026-04-23T23:59']);
      expect(end.show('2026-04-23T23:59')).toBe('23.04.2026 24:00');
    }
    expect(end.read('24.04.2026 00:30')).toEqual([]);
    expect(end.read('24.04.2026 02:00')).toEqual(['2026-04-24T01:59']);
  });

  it('is shown in the format of the service, whatever the offset in the URL', () => {
    expect(from.show('2026-11-26T12:00:00Z')).toBe('26.11.2026 13:00');
    expect(from.show('2026-10-25T02:30+01:00')).toBe('25.10.2026 02:30');
    expect(until.show('2026-11-26T12:00:30Z')).toBe('26.11.2026 13:00:30');
    expect(american.show('2026-11-26T12:00:00Z')).toBe('11/26/2026 7:00 AM');
    expect(american.read('11/12/2026 7:00 AM')).toEqual(['2026-11-12T07:00']);
    expect(american.read('2026-11-12')).toEqual(['2026-11-12']);
  });
});
