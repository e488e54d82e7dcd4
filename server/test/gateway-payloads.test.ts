import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deviceMessages, devicePayload } from './device-messages.ts';
import { type Created, connect, eventOf, pathOf, processed } from './gateway-calls.ts';
import { sharedGantry } from './harness.ts';

/** The beginnings of the names of payloads, each with the format that reads them. The first match counts. */
const FORMATS: readonly (readonly [string, string])[] = [
  ['axis-aoa', 'axis-aoa'],
  ['axis-', 'axis-lpv'],
  ['blueiris', 'codeproject'],
  ['codeproject', 'codeproject'],
  ['dahua', 'dahua'],
  ['datex2', 'datex2'],
  ['amsterdam', 'datex2'],
  ['fiware', 'fiware'],
  ['frigate', 'frigate'],
  ['hikvision', 'hikvision'],
  ['milesight', 'milesight'],
  ['openalpr', 'openalpr'],
  ['ops243', 'ops243'],
  ['platerecognizer', 'platerecognizer'],
  ['radar', 'ops243'],
  ['sensorthings', 'sensorthings'],
  ['tattile', 'tattile'],
  ['tvt', 'tvt'],
  ['unifi', 'unifi-protect'],
  ['verkada', 'verkada'],
];

const TYPES: Readonly<Record<string, string>> = {
  xml: 'application/xml',
  json: 'application/json',
  jsonld: 'application/ld+json',
  jsonl: 'application/x-ndjson',
};

const payloads = readdirSync(deviceMessages)
  .filter((name) => !name.endsWith('.source') && name !== 'README.md')
  .flatMap((name) => {
    const format = FORMATS.find(([beginning]) => name.startsWith(beginning))?.[1];
    return format === undefined ? [] : [[name, format] as const];
  });

const gantry = await sharedGantry();

describe('every payload of a real device', () => {
  it.each(payloads)(
    '%s, sent to %s, is answered 2xx, and twice is no more than once',
    async (file, format) => {
      const made: Created = await connect(gantry, format, { timeZone: 'Europe/Berlin' });
      const body = await devicePayload(file);
      const send = () =>
        gantry.fetch(pathOf(made.url), {
          method: 'POST',
          headers: { 'content-type': TYPES[file.split('.').at(-1) ?? ''] ?? 'text/plain' },
          body: body as never,
        });
      expect((await send()).status).toBe(200);
      const [first] = await processed(gantry, made.id);
      expect((await send()).status).toBe(200);
      const messages = await processed(gantry, made.id, 2);
      for (const { status } of messages) expect(['FAILED', 'UNKNOWN_DEVICE']).not.toContain(status);
      expect(messages[0]?.status).toBe(first?.status === 'STORED' ? 'DUPLICATE' : first?.status);
      expect(messages[0]?.eventIds).toEqual(first?.eventIds);
      for (const id of first?.eventIds ?? []) {
        expect(await eventOf(gantry, id)).toMatchObject({
          sensorId: made.sensorId,
          metadata: { connectionId: made.id, receivedAt: expect.any(String) },
        });
      }
    },
  );
});

describe('a value that no device should send', () => {
  const iso = '2026-03-01T10:00:00Z';
  it.each([
    ['axis-lpv', 'HELD', { plateUTF8: 'B AB 1', carID: '7', carState: '__proto__', capture_timestamp: iso }],
    [
      'huawei',
      'STORED',
      { stream_id: '1', event_type: 'constructor', vehicles: [{ license_plate_id: 'B AB 1' }] },
    ],
    ['huawei', 'STORED', '{"stream_id":"1","vehicles":[{"license_plate_id":"B AB 1","score":1e999}]}'],
    [
      'fiware',
      'STORED',
      { id: '1', type: 'Alert', subCategory: 'constructor', category: 'traffic', dateIssued: iso },
    ],
    ['fiware', 'STORED', { id: '1', type: 'RoadAccident', severity: '__proto__', accidentDate: iso }],
  ])('%s: leaves the rest of the message readable (%s, %j)', async (format, status, message) => {
    const made = await connect(gantry, format);
    const body = typeof message === 'string' ? message : JSON.stringify(message);
    await gantry.fetch(pathOf(made.url), { method: 'POST', body });
    const [stored] = await processed(gantry, made.id);
    expect([stored?.status, stored?.reason]).toEqual([status, null]);
  });
});
