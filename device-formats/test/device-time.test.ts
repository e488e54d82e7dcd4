import { describe, expect, it } from 'vitest';
import { epochTime, isoTime, reportedTime } from '../src/device-time.ts';
import { formats } from '../src/formats.ts';
import { readBody } from './formats/reading.ts';

const RECEIVED = Date.UTC(2026, 10, 26, 12);
const zone = { name: 'Europe/Istanbul', receivedAt: RECEIVED };
const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
const LOCAL = '2026-11-20T11:51:24.000Z';
const UTC = '2026-11-20T14:51:24.000Z';

describe('the time of a device', () => {
  it.each([
    ['2026-11-20T14:51:24+8:00', '2026-11-20T06:51:24.000Z'],
    ['2026-11-20T14:51:24+08', '2026-11-20T06:51:24.000Z'],
    ['2026-11-20T14:51:24+0800', '2026-11-20T06:51:24.000Z'],
    ['2026-11-20T14:51:24 -03:30', '2026-11-20T18:21:24.000Z'],
    ['2026-11-20 14:51:24 −03:00', '2026-11-20T17:51:24.000Z'],
    ['2026-11-20 14:51:24 GMT+3', LOCAL],
    ['2026-11-20 14:51:24 UTC', UTC],
    ['2026-11-20T14:51:24Z', UTC],
    ['2026-11-20t14:51:24z', UTC],
    ['2026-11-20T14:51:24.123456789Z', '2026-11-20T14:51:24.123Z'],
    ['2026-11-20 14:51:24,563', '2026-11-20T11:51:24.563Z'],
    ['2026-11-20T14:51:24.5+03:00[Europe/Istanbul]', '2026-11-20T11:51:24.500Z'],
    ['2026/11/20 14:51:24', LOCAL],
    ['2026/1/2 4:51:24', '2026-01-02T01:51:24.000Z'],
    ['2026.11.20 14:51:24', LOCAL],
    ['2026:11:20 14:51:24', LOCAL],
    ['20.11.2026 14:51:24', LOCAL],
    ['20.11.2026 14:51', '2026-11-20T11:51:00.000Z'],
    ['20261120T145124', LOCAL],
    ['20261120T145124Z', UTC],
    ['20261120145124', LOCAL],
    ['20261120145124123', '2026-11-20T11:51:24.123Z'],
    ['20 Nov 2026 02:51:24 PM', LOCAL],
    ['Nov 20, 2026 2:51:24 pm', LOCAL],
    ['20-Nov-2026 14:51:24', LOCAL],
    ['Fri, 20 Nov 2026 14:51:24 GMT', UTC],
    ['Friday, 20 November 2026 14:51:24', LOCAL],
    ['Fri Nov 20 14:51:24 2026', LOCAL],
    ['Fri Nov 20 14:51:24 UTC 2026', UTC],
    ['2026-W47-5T14:51:24Z', UTC],
    ['2026-324T14:51:24', LOCAL],
    ['2026-11-19T24:00:00Z', '2026-11-20T00:00:00.000Z'],
    ['12/31/2026 12:15:00 AM', null],
    ['/Date(1795175484000+0300)/', LOCAL],
  ])('%s is read', (text, expected) => {
    expect(iso(isoTime(text, zone))).toBe(expected);
  });

  it.each([
    ['20/11/2026 14:51:24', true, LOCAL],
    ['20-11-2026 14:51:24', true, LOCAL],
    ['05/11/2026 2:51:24 PM', true, '2026-11-05T11:51:24.000Z'],
    ['05/11/2026 2:51:24 PM', false, '2026-05-11T11:51:24.000Z'],
    ['11/20/2026 12:51:24 AM', false, '2026-11-19T21:51:24.000Z'],
    ['11/20/2026 14:51:24', true, null],
    ['20.11.2026 14:51:24', undefined, LOCAL],
    ['20/11/2026 14:51:24', undefined, null],
  ])('%s with dayFirst %s is %s', (text, dayFirst, expected) => {
    expect(iso(isoTime(text, { ...zone, dayFirst }))).toBe(expected);
  });

  it.each(['s', 'ms', 'µs', 'ns'])('is read as a Unix time in %s, as a number and as a text', (unit) => {
    const digits = { s: 10, ms: 13, µs: 16, ns: 19 }[unit] ?? 0;
    const text = '1795175484123456789'.slice(0, digits);
    const expected = unit === 's' ? 1_795_175_484_000 : 1_795_175_484_123;
    expect(epochTime(text)).toBe(expected);
    expect(epochTime(Number(text))).toBe(expected);
  });

  it.each([
    '',
    'abc',
    '14:51',
    '2026',
    '2026-11',
    '2026-02-30T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20T14:61:00Z',
    '2026-11-20T14:51:24+15:00',
    '2026-11-20T14:51:24+03:75',
    '20 Foo 2026 14:51:24',
    '13:51:24 PM 20 Nov 2026',
    '20261120T145124Z'.repeat(10),
    '99999999999999999999',
    999_999_999,
    Number.NaN,
    true,
    {},
  ])('%j is not a time', (value) => {
    expect(isoTime(value, zone) ?? epochTime(value)).toBeNull();
  });

  it('in the night in which clocks are set back is the later one that is not ahead', () => {
    const berlin = { name: 'Europe/Berlin', receivedAt: Date.UTC(2026, 9, 25, 1, 30) };
    expect(iso(isoTime('25.10.2026 02:30:00', berlin))).toBe('2026-10-25T01:30:00.000Z');
    const earlier = { ...berlin, receivedAt: Date.UTC(2026, 9, 25, 0, 30) };
    expect(iso(isoTime('25.10.2026 02:30:00', earlier))).toBe('2026-10-25T00:30:00.000Z');
    expect(iso(isoTime('29.03.2026 02:30:00', berlin))).toBe('2026-03-29T01:30:00.000Z');
  });

  it.each([
    ['2026-13-45T99:00', 'cannot be read as a time: 2026-01-31T08:15:00+03:00 or a Unix time'],
    ['x'.repeat(500), `"${'x'.repeat(58)}… cannot be read as a time`],
    ['1970-01-01T00:00:12Z', 'is before the year 2000: set the clock of the device'],
    [12.5, 't 12.5 is before the year 2000'],
    ['05/11/2026 14:00:00', 'may begin with the day or with the month: set the option dayFirst'],
    [
      '2026-11-26T18:30:00Z',
      'is 6.5 hours ahead: set the clock of the device, or the time zone of the connection',
    ],
    ['2026-11-26T12:06:00Z', 'is 6 minutes ahead'],
    ['2027-11-26T12:00:00Z', 'is 365 days ahead'],
  ])('that cannot be used (%j) is named with what would be right', (value, expected) => {
    expect(reportedTime(zone, ['t', value]).timeFlaw).toContain(expected);
  });

  it('is that of the first field that has one, and unreadable only if no field has one', () => {
    const time = Date.UTC(2026, 10, 20);
    expect(reportedTime(zone, ['a', null], ['b', 'soon'], ['c', time])).toEqual({ occurredAt: time });
    const { occurredAt, timeFlaw } = reportedTime(zone, ['a', ' '], ['b', 'soon'], ['c', 'later']);
    expect(occurredAt).toBeNull();
    expect(timeFlaw).toMatch(/^b "soon" cannot/);
    expect(reportedTime(zone, ['a', undefined])).toEqual({ occurredAt: null });
  });
});

/** A report of each format whose time is `{time}`. */
const REPORTS: Readonly<Record<string, string>> = {
  hikvision:
    '<EventNotificationAlert><dateTime>{time}</dateTime><eventType>ANPR</eventType><eventState>active</eventState><ANPR><licensePlate>AB12</licensePlate></ANPR></EventNotificationAlert>',
  dahua:
    '{"Events":[{"Code":"TrafficJunction","Action":"Pulse","Data":{"RealUTC":"{time}","TrafficCar":{"PlateNumber":"AB12"}}}]}',
  platerecognizer: '{"data":{"camera_id":"c","timestamp":"{time}","results":[{"plate":"ab12"}]}}',
  openalpr: '{"data_type":"alpr_group","best_uuid":"u","best_plate_number":"AB12","epoch_start":"{time}"}',
  frigate: '{"type":"end","after":{"id":"x","label":"car","camera":"c","start_time":"{time}"}}',
  'axis-lpv': '{"carID":"1","plateUTF8":"AB12","capture_timestamp":"{time}"}',
  milesight: '{"device":"d","time":"{time}","plate":"AB12"}',
  verkada:
    '{"webhook_id":"1","webhook_type":"lpr","data":{"camera_id":"c","license_plate_number":"AB12","detected":"{time}"}}',
  tattile: '<Msg><PLATE_STRING>AB12</PLATE_STRING><DATE>{time}</DATE><TIME>12:00:00</TIME></Msg>',
  codeproject: '{"plate_number":"AB12","camera":"c","timestamp":"{time}"}',
  genetec: '{"CameraName":"c","Plate":"AB12","DateUtc":"{time}","TimeUtc":"10:00:00"}',
  fiware: '{"id":"u:1","type":"TrafficViolation","titleCode":"x","observationDateTime":"{time}"}',
};

describe('a time that a format cannot read', () => {
  it.each(Object.entries(REPORTS))('is named by %s', async (name, body) => {
    const format = formats.find((each) => each.name === name);
    if (!format) throw new Error(`no format ${name}`);
    for (const time of ['99.99.9999', '1970-01-01']) {
      const { reports } = await readBody(format, body.replace('{time}', time));
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatchObject({ occurredAt: null, timeFlaw: expect.stringContaining(time) });
    }
  });
});
