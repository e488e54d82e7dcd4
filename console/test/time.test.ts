import { describe, expect, it } from 'vitest';
import { createTimeFormat } from '../src/time/format.ts';

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

  it('has Western digits in Arabic, too, and relative times in the language', () => {
    const arabic = createTimeFormat('UTC', 'ar', SETTINGS);
    expect(arabic.dateTime(new Date('2026-01-02T03:04:05Z'))).toBe('02.01.2026 03:04:05');
    expect(berlin.ago(new Date(0), 125_000)).toBe('2 min. ago');
  });
});
