import { describe, expect, it } from 'vitest';
import { jpeg } from '../../../server/test/sample-images.ts';
import { gantry } from '../../src/formats/gantry.ts';
import { readBody } from './reading.ts';

const event = { eventType: 'SPEED_DETECTION', vehicleSpeed: 62 };
const timed = { ...event, timestamp: '2026-01-31T08:15:00', idempotencyKey: '42' };
const read = (body: unknown, sent = {}) =>
  readBody(gantry, typeof body === 'string' ? body : JSON.stringify(body), sent);

describe("the service's own JSON", () => {
  it('is an event as for events.ingest, with or without an apiKey', async () => {
    expect(await read({ apiKey: 'secret', ...timed })).toEqual({
      reports: [
        {
          key: '42',
          device: [],
          // 08:15 in Berlin
          occurredAt: Date.UTC(2026, 0, 31, 7, 15),
          event: {
            eventType: 'SPEED_DETECTION',
            vehicleSpeed: 62,
            description: null,
            location: null,
            metadata: null,
            images: [],
            tags: [],
            violationType: null,
            licensePlateNumber: null,
            vehicleType: null,
            severity: null,
          },
        },
      ],
      is: 'reports',
      note: null,
    });
  });

  it.each([
    ['an array', [event, timed], 2],
    ['{events}', { apiKey: 'x', events: [event, timed] }, 2],
    ['the envelope of a call', { json: timed }, 1],
    ['the envelope of a batch', { json: { apiKey: 'x', events: [timed] }, meta: {} }, 1],
    ['JSON lines', `${JSON.stringify(event)}\n${JSON.stringify(timed)}\n`, 2],
  ])('may be %s', async (_, body, count) => {
    const { reports, note } = await read(body);
    expect(reports).toHaveLength(count);
    expect(note).toBeNull();
    expect(reports.at(-1)?.key).toBe('42');
  });

  it('may have a key without a time', async () => {
    const { reports } = await read({ ...event, idempotencyKey: 'k' });
    expect(reports[0]).toMatchObject({ key: 'k', occurredAt: null });
  });

  it('names the invalid events of an array, and keeps the others', async () => {
    const { reports, is, note } = await read([event, { ...event, vehicleSpeed: 'fast' }, 7, null, timed]);
    expect(is).toBe('reports');
    expect(reports).toHaveLength(2);
    expect(note).toMatch(/^3 events are invalid: events\.1: vehicleSpeed: .*; events\.2: .*; events\.3: /);
  });

  it.each([
    ['an event without a type', { vehicleSpeed: 3 }, /^One event is invalid: events\.0: eventType: /],
    ['an empty object', {}, /not JSON with an event/],
    ['an empty array', [], /not JSON with an event/],
    ['a number', '12', /not JSON with an event/],
    ['nothing', '', /not JSON with an event/],
    ['half of it', '{"eventType":', /invalid or incomplete/],
    ['too many flaws', Array(500).fill(1), /and 490 more$/],
  ])('is unreadable when it is %s', async (_, body, expected) => {
    const reading = await read(body);
    expect(reading).toMatchObject({ is: 'unreadable', reports: [], note: expect.stringMatching(expected) });
  });

  it('accepts images as base64, or as separate parts next to the event', async () => {
    const image = jpeg({ comment: 'x'.repeat(200) });
    const inside = await read({ ...timed, images: [image.toString('base64')] });
    expect(inside.reports[0]?.event.images).toEqual([expect.stringMatching(/^\/images\/[0-9a-f]{64}$/)]);
    const body = Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; name="event"\r\n\r\n${JSON.stringify(timed)}\r\n`),
      Buffer.from('--b\r\nContent-Disposition: form-data; name="p"; filename="p.jpg"\r\n\r\n'),
      image,
      Buffer.from('\r\n--b--\r\n'),
    ]);
    const beside = await readBody(gantry, body, { contentType: 'multipart/form-data; boundary=b' });
    expect(beside.reports[0]?.event.images).toEqual(inside.reports[0]?.event.images);
  });

  it('arrives over MQTT with the name of the device and its heartbeats', async () => {
    const { reports } = await read(timed, { topic: 'gantry/radar-7/events' });
    expect(reports[0]?.device).toEqual(['radar-7']);
    expect(await read('', { topic: 'gantry/radar-7/heartbeat' })).toMatchObject({
      is: 'heartbeat',
      device: ['radar-7'],
    });
    expect(await read('{}', { path: '/heartbeat' })).toMatchObject({ is: 'heartbeat' });
  });
});
