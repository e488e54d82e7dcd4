import { describe, expect, it } from 'vitest';
import type { FormatName } from '../src/connections/format.ts';
import { readMessage } from '../src/connections/read-message.ts';
import { readParts } from '../src/connections/read-parts.ts';
import { splitBody } from '../src/connections/split-body.ts';

const keysIn = async (format: FormatName, body: unknown): Promise<(string | null)[]> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { parts } = await splitBody(null, Buffer.from(text));
  const message = { parts: readParts(parts), path: '', topic: null, receivedAt: Date.UTC(2026, 6, 1) };
  const { reports } = await readMessage(format, message, { options: {}, zone: 'Europe/Berlin' });
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
