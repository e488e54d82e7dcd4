import { describe, expect, it } from 'vitest';
import type { FormatName } from '../src/format.ts';
import { readMessage } from '../src/read-message.ts';
import { splitBody } from '../src/split-body.ts';

const keysIn = async (format: FormatName, body: unknown): Promise<(string | null)[]> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { parts } = splitBody(null, Buffer.from(text));
  const message = { parts, path: '', topic: null, receivedAt: Date.UTC(2026, 6, 1) };
  const { reports } = await readMessage({ format, timeZone: null, options: {} }, message, {
    zone: 'Europe/Berlin',
  });
  return reports.map(({ key }) => key);
};

describe('the keys of the reports of a message', () => {
  const alert = (...plates: string[]) => ({
    eventType: 'ANPR',
    UUID: 'e6f0a1b2-77',
    ANPR: plates.map((licensePlate) => ({ licensePlate })),
  });
  const passing = (plate: string) => ({
    Code: 'TrafficJunction',
    Data: { RealUTC: 1_782_806_400, EventID: 7, TrafficCar: { PlateNumber: plate } },
  });
  const event = (plate: string) => ({
    eventType: 'PLATE_RECOGNITION',
    licensePlateNumber: plate,
    timestamp: '2026-06-30T10:00:00Z',
    idempotencyKey: '42',
  });

  it('differ for different vehicles to which the device gives one number', async () => {
    const uuid = 'e6f0a1b2-77/anpr';
    expect(await keysIn('hikvision', alert('A1', 'B2', 'C3'))).toEqual([uuid, `${uuid}#1`, `${uuid}#2`]);
    const id = '/TrafficJunction/7//1782806400/';
    expect(await keysIn('dahua', { Events: [passing('A1'), passing('B2')] })).toEqual([id, `${id}#1`]);
  });

  it('are equal for a report that is repeated in the message', async () => {
    const uuid = 'e6f0a1b2-77/anpr';
    const one = alert('A1', 'B2');
    expect(await keysIn('hikvision', [one, one])).toEqual([uuid, `${uuid}#1`, uuid, `${uuid}#1`]);
  });

  it('are those of the sender in formats in which they identify the event', async () => {
    const recognition = { device: 'LPR-1', time: '2026-06-30 10:00:00', plate: 'A1' };
    const key = 'LPR-1/2026-06-30 10:00:00/A1/';
    expect(await keysIn('milesight', [recognition, { ...recognition, list_type: 'black' }])).toEqual([
      key,
      key,
    ]);
    expect(await keysIn('gantry', [event('A1'), event('B2')])).toEqual(['42', '42']);
  });
});

describe('a message with more than any device sends', () => {
  const read = async (format: FormatName, body: string) => {
    const { parts } = splitBody(null, Buffer.from(body));
    const message = { parts, path: '', topic: null, receivedAt: Date.UTC(2026, 6, 1) };
    const { reports, is, note } = await readMessage({ format, timeZone: null, options: {} }, message, {
      zone: 'UTC',
    });
    return [is, reports.length, note];
  };
  const envelopes: [FormatName, (vehicles: readonly object[]) => object][] = [
    ['platerecognizer', (results) => ({ data: { camera_id: 'mast-7', results } })],
    ['openalpr', (results) => ({ data_type: 'alpr_results', epoch_time: 1_782_806_400_000, results })],
    ['openalpr', (results) => results.map(() => ({ data_type: 'vehicle' }))],
    ['verkada', (data) => ({ webhook_id: 'w-1', webhook_type: 'lpr', data })],
    ['verkada', (data) => data.map((each) => ({ webhook_id: 'w-1', webhook_type: 'lpr', data: each }))],
    ['hikvision', (all) => all.map(() => ({ eventType: 'ANPR', ANPR: { licensePlate: 'AB123' } }))],
  ];
  const bounded: [FormatName, (vehicles: readonly object[]) => object][] = [
    ['dahua', (all) => ({ Events: all.map(() => ({ Code: 'TrafficJunction', Data: { TrafficCar: {} } })) })],
    ['huawei', (all) => ({ message_id: 'm', vehicles: all.map(() => ({ speed: 50 })) })],
    ['uniview', (all) => ({ VehicleInfoList: all.map(() => ({ ID: 1 })) })],
    ['tattile', (all) => all.map(() => ({ PLATE_STRING: 'AB123' }))],
  ];

  it.each([
    ...envelopes.map((each) => [...each, 1_000] as const),
    ...bounded.map((each) => [...each, 100] as const),
  ])('is refused: vehicles of %s', async (format, envelope, most) => {
    const bodyOf = (count: number) => JSON.stringify(envelope(Array.from({ length: count }, () => ({}))));
    expect(await read(format, bodyOf(most))).toEqual(['reports', most, null]);
    const note = `The message contains more than ${most} vehicles`;
    expect(await read(format, bodyOf(most + 1))).toEqual(['unreadable', 0, note]);
  });

  it('is refused: values of JSON', async () => {
    const body = `[${'0,'.repeat(1_000_000)}0]`;
    expect(await read('gantry', body)).toEqual(['unreadable', 0, 'The JSON has more than 1000000 values']);
  });
});

describe('a local time that occurs twice', () => {
  const timeOf = async (format: FormatName, body: unknown, receivedAt: string, zone = 'Europe/Berlin') => {
    const { parts } = splitBody(null, Buffer.from(JSON.stringify(body)));
    const message = { parts, path: '', topic: null, receivedAt: Date.parse(receivedAt) };
    const { reports } = await readMessage({ format, timeZone: zone, options: {} }, message, { zone });
    return new Date(reports[0]?.occurredAt ?? 0).toISOString();
  };
  const plate = { device: 'LPR-1', time: '2026-10-25 02:30:00', plate: 'A1' };

  it('is the one at which its message arrived', async () => {
    const [first, second] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
    expect(await timeOf('milesight', plate, '2026-10-25T00:30:01Z')).toBe(first);
    expect(await timeOf('milesight', plate, '2026-10-25T01:30:01Z')).toBe(second);
    // The clock of the device may be a little ahead of the time at which the message arrived.
    expect(await timeOf('milesight', plate, '2026-10-25T01:28:00Z')).toBe(second);
    expect(await timeOf('milesight', plate, '2026-10-26T00:00:00Z')).toBe(second);
    const wall = {
      Code: 'TrafficJunction',
      Data: { UTC: Date.UTC(2026, 9, 25, 2, 30) / 1_000, TrafficCar: {} },
    };
    expect(await timeOf('dahua', wall, '2026-10-25T00:30:01Z')).toBe(first);
    expect(await timeOf('dahua', wall, '2026-10-25T01:30:01Z')).toBe(second);
  });

  it('is not that of a text with an offset', async () => {
    const withOffset = { ...plate, time: '2026-10-25T02:30:00+02:00' };
    expect(await timeOf('milesight', withOffset, '2026-10-25T05:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
  });
});
