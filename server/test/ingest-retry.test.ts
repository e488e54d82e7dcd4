import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const addSensor = (): Promise<{ id: string; apiKey: string }> =>
  gantry.ok('sensors.create', { name: 'Radar', deviceId: randomUUID(), type: 'RADAR' }, { token });

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const sensor: { id: string; apiKey: string } = await addSensor();

const TIMESTAMP = '2026-01-31T08:15:00.123Z';
const newEvent = (fields: object = {}) => ({
  apiKey: sensor.apiKey,
  eventType: 'SPEED_DETECTION',
  vehicleSpeed: 71.5,
  timestamp: TIMESTAMP,
  idempotencyKey: randomUUID(),
  ...fields,
});
const ingest = async (event: object): Promise<string> => (await gantry.ok('events.ingest', event)).eventId;
const totalStored = async (): Promise<number> => (await gantry.ok('events.getStats', {}, { token })).total;

describe('an event with an idempotency key', () => {
  it('is stored once, however often it is sent, and always has the same id', async () => {
    const before = await totalStored();
    const event = newEvent();
    const id = await ingest(event);
    expect(await ingest(event)).toBe(id);
    expect(await ingest(event)).toBe(id);
    expect(await totalStored()).toBe(before + 1);
  });

  it('is stored once for twenty concurrent attempts', async () => {
    const before = await totalStored();
    for (let round = 0; round < 5; round++) {
      const event = newEvent();
      const ids = await Promise.all(Array.from({ length: 20 }, () => ingest(event)));
      expect(new Set(ids).size).toBe(1);
    }
    expect(await totalStored()).toBe(before + 5);
  });

  it('is distinguished from other content under the same key, and the first content stays', async () => {
    const event = newEvent({ description: 'first', metadata: { lane: 1 } });
    const id = await ingest(event);
    for (const other of [
      { description: 'second' },
      { vehicleSpeed: 71.6 },
      { eventType: 'INCIDENT' },
      { metadata: { lane: 2 } },
      { metadata: null },
      { severity: 'LOW' },
      { tags: ['new'] },
      { licensePlateNumber: 'B 1' },
      { location: { latitude: 1, longitude: 2 } },
    ]) {
      const { status, body } = await gantry.call('events.ingest', { ...event, ...other });
      expect(status).toBe(409);
      expect(body.error.json).toEqual({
        message: expect.stringContaining('use a new key'),
        code: -32009,
        data: { code: 'CONFLICT', httpStatus: 409 },
      });
    }
    const stored = await gantry.ok('events.getById', { id }, { token });
    expect(stored).toMatchObject({ description: 'first', vehicleSpeed: 71.5, metadata: { lane: 1 } });
  });

  it('has one winner among concurrent events with different content and the same key', async () => {
    const event = newEvent();
    const speeds = Array.from({ length: 20 }, (_, n) => n);
    const answers = await Promise.all(
      speeds.map((vehicleSpeed) => gantry.call('events.ingest', { ...event, vehicleSpeed })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    const id = answers[winner]?.body.result.data.json.eventId;
    expect((await gantry.ok('events.getById', { id }, { token })).vehicleSpeed).toBe(speeds[winner]);
  });

  it('is the same event however its content is written', async () => {
    const event = newEvent({ description: 'same', metadata: { a: 1, b: { c: 2, d: [3] } } });
    const id = await ingest(event);
    for (const writing of [
      { metadata: { b: { d: [3], c: 2 }, a: 1 } },
      { description: ' same ' },
      { timestamp: '2026-01-31T09:15:00.123+01:00' },
      { violationType: null, tags: [], unknown: 'field' },
    ]) {
      expect(await ingest({ ...event, ...writing })).toBe(id);
    }
  });

  it('is the same event after the sensor got a new key, and when it comes in a batch', async () => {
    const device = await addSensor();
    const { apiKey: _, ...event } = newEvent();
    const id = await ingest({ ...event, apiKey: device.apiKey });
    const { apiKey } = await gantry.ok('sensors.rotateKey', { id: device.id }, { token });
    expect(await ingest({ ...event, apiKey })).toBe(id);
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events: [event] });
    expect(results).toEqual([{ eventId: id, duplicate: true }]);
  });

  it('is another event at another time, under another key, or from another sensor', async () => {
    const event = newEvent();
    const other = await addSensor();
    const ids = [
      await ingest(event),
      await ingest({ ...event, timestamp: '2026-01-31T08:15:00.124Z' }),
      await ingest({ ...event, idempotencyKey: `${event.idempotencyKey}x` }),
      await ingest({ ...event, apiKey: other.apiKey }),
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('stays the same after it was processed', async () => {
    const event = newEvent();
    const id = await ingest(event);
    await gantry.ok('events.markAsProcessed', { id }, { token });
    expect(await ingest(event)).toBe(id);
    expect(await gantry.ok('events.getById', { id }, { token })).toMatchObject({ processed: true });
  });

  it('requires a timestamp', async () => {
    const { timestamp: _, ...event } = newEvent();
    const { status, body } = await gantry.call('events.ingest', event);
    expect(status).toBe(400);
    expect(body.error.json.data.issues).toEqual([
      { path: 'idempotencyKey', message: expect.stringContaining('timestamp') },
    ]);
  });

  it('may have a key of any 128 characters', async () => {
    for (const idempotencyKey of ['k'.repeat(128), '🔑'.repeat(128), '  ', '0', '__proto__']) {
      const event = newEvent({ idempotencyKey });
      expect(await ingest(event)).toBe(await ingest(event));
    }
  });
});

describe('an event without an idempotency key', () => {
  it('is a new event each time', async () => {
    const { idempotencyKey: _, ...event } = newEvent();
    expect(await ingest(event)).not.toBe(await ingest(event));
  });
});
