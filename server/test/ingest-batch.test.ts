import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const apiKey = await gantry.registerSensor();

const EVENT = { eventType: 'VEHICLE_DETECTION' };
const TIMESTAMP = '2026-01-31T08:15:00.000Z';
const send = (events: unknown) => gantry.call('events.ingestBatch', { apiKey, events });
const sendAll = (events: unknown[]) => gantry.ok('events.ingestBatch', { apiKey, events });
const get = (id: string) => gantry.ok('events.getById', { id }, { token });
const countEvents = async (): Promise<number> =>
  (await gantry.pool.query('SELECT count(*) AS n FROM events')).rows[0].n;

describe('events.ingestBatch', () => {
  it('stores every event and returns the results in the order of the input', async () => {
    const events = Array.from({ length: 50 }, (_, n) => ({ ...EVENT, description: `number ${n}` }));
    const answer = await sendAll(events);
    expect(Object.keys(answer).sort()).toEqual(['results', 'success']);
    expect(answer.success).toBe(true);
    expect(answer.results).toHaveLength(50);
    for (const [n, result] of answer.results.entries()) {
      expect(result).toEqual({ eventId: expect.any(String), duplicate: false });
      expect((await get(result.eventId)).description).toBe(`number ${n}`);
    }
  });

  it('stores the valid events, and explains each refusal', async () => {
    const before = await countEvents();
    const { success, results } = await sendAll([
      { ...EVENT, description: 'good' },
      { ...EVENT, vehicleSpeed: -1, severity: 'high' },
      null,
      'text',
      { ...EVENT, timestamp: '2999-01-01T00:00:00Z' },
      { ...EVENT, idempotencyKey: 'without time' },
      { ...EVENT, description: 'good too', apiKey: 'passed over' },
      { ...EVENT, description: '\u0000' },
    ]);
    expect(success).toBe(false);
    const refusal = (...paths: string[]) => ({
      error: {
        code: 'BAD_REQUEST',
        message: expect.any(String),
        issues: paths.map((path) => ({ path, message: expect.any(String) })),
      },
    });
    const stored = { eventId: expect.any(String), duplicate: false };
    expect(results).toEqual([
      stored,
      refusal('vehicleSpeed', 'severity'),
      refusal(''),
      refusal(''),
      refusal('timestamp'),
      refusal('idempotencyKey'),
      stored,
      refusal('description'),
    ]);
    expect(await countEvents()).toBe(before + 2);
    expect((await get(results[6].eventId)).description).toBe('good too');
  });

  it('reports an event that is stored already as a duplicate', async () => {
    const events = [1, 2, 3].map(() => ({ ...EVENT, timestamp: TIMESTAMP, idempotencyKey: randomUUID() }));
    const first = await sendAll(events);
    const fresh = { ...EVENT, timestamp: TIMESTAMP, idempotencyKey: randomUUID() };
    const again = await sendAll([...events, fresh]);
    expect(again.success).toBe(true);
    expect(again.results.map(({ duplicate }: { duplicate: boolean }) => duplicate)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const ids = (results: { eventId: string }[]) => results.map(({ eventId }) => eventId);
    expect(ids(again.results).slice(0, 3)).toEqual(ids(first.results));
  });

  it('stores an event that occurs twice once, and refuses other content under its key', async () => {
    const before = await countEvents();
    const event = { ...EVENT, timestamp: TIMESTAMP, idempotencyKey: randomUUID() };
    const { results } = await sendAll([event, EVENT, event, { ...event, description: 'other' }, event]);
    const { eventId } = results[0];
    expect(results).toEqual([
      { eventId, duplicate: false },
      { eventId: expect.any(String), duplicate: false },
      { eventId, duplicate: true },
      { error: { code: 'CONFLICT', message: expect.stringContaining('use a new key') } },
      { eventId, duplicate: true },
    ]);
    expect(await countEvents()).toBe(before + 2);
  });

  it('refuses what is not known of how a vehicle passed, and other content of it under its key', async () => {
    const first = { ...EVENT, timestamp: TIMESTAMP, idempotencyKey: randomUUID(), lane: 2, direction: 'NB' };
    const { results } = await sendAll([
      first,
      { ...EVENT, direction: 'northbound' },
      { ...EVENT, vehicleClass: { scheme: 'FHWA13', code: '14' } },
    ]);
    const paths = results.map(({ error }: { error?: { issues: { path: string }[] } }) =>
      error?.issues.map(({ path }) => path),
    );
    expect(paths).toEqual([undefined, ['direction'], ['vehicleClass.code']]);
    const again = await sendAll([first, { ...first, lane: 3 }]);
    expect(again.results).toMatchObject([
      { eventId: results[0].eventId, duplicate: true },
      { error: { code: 'CONFLICT' } },
    ]);
  });

  it.each([
    ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00Z', /must be after its start/],
    ['2026-01-31T09:00:00Z', '2999-01-01T00:00:00Z', /more than 5 minutes ahead/],
  ])('refuses the observed time from %s until %s', async (from, until, message) => {
    const { status, body } = await gantry.call('events.ingestBatch', {
      apiKey,
      events: [EVENT],
      observed: { from, until },
    });
    expect([status, body.error.json.data.issues]).toEqual([
      400,
      [{ path: 'observed.until', message: expect.stringMatching(message) }],
    ]);
  });

  it('accepts one event sent a thousand times at the cost of one', async () => {
    const event = { ...EVENT, timestamp: TIMESTAMP, idempotencyKey: randomUUID() };
    const groups = async () => (await gantry.app.context.metrics.groupSize.get()).values;
    const count = async () =>
      (await groups()).find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
    const before = await count();
    const { results } = await sendAll(Array(1000).fill(event));
    expect(new Set(results.map(({ eventId }: { eventId: string }) => eventId)).size).toBe(1);
    expect(results.filter(({ duplicate }: { duplicate: boolean }) => !duplicate)).toHaveLength(1);
    expect((await count()) - before).toBe(1);
  });

  it('accepts at most a thousand events', async () => {
    const before = await countEvents();
    expect((await sendAll(Array(1000).fill(EVENT))).success).toBe(true);
    expect(await countEvents()).toBe(before + 1000);
    const { status, body } = await send(Array(1001).fill(EVENT));
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0]).toEqual({
      path: 'events',
      message: expect.stringContaining('1000'),
    });
    expect(await countEvents()).toBe(before + 1000);
  });

  it('accepts events of many months at once, years back', async () => {
    const times = Array.from({ length: 24 }, (_, n) => new Date(Date.UTC(2003, n, 15)).toISOString());
    const { results } = await sendAll(times.map((timestamp) => ({ ...EVENT, timestamp })));
    const stored = await Promise.all(results.map(({ eventId }: { eventId: string }) => get(eventId)));
    expect(stored.map(({ timestamp }) => timestamp)).toEqual(times);
  });

  it.each([[[]], [undefined], [null], ['text'], [{}]])('refuses %j instead of events', async (events) => {
    const { status, body } = await send(events);
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path).toBe('events');
  });

  it('checks the key before the events', async () => {
    const bad = await gantry.call('events.ingestBatch', { apiKey: '0'.repeat(64), events: 'text' });
    expect([bad.status, bad.body.error.json.message]).toEqual([401, 'Invalid API key']);
    expect((await gantry.call('events.ingestBatch', { events: [EVENT] })).status).toBe(400);
  });

  it('reports only a few issues for each invalid event', async () => {
    const event = { eventType: 'x', tags: Array(100).fill(7), images: Array(100).fill(7) };
    const { results } = await sendAll(Array(1000).fill(event));
    expect(JSON.stringify(results).length).toBeLessThan(3_000_000);
    expect(results[999].error.issues).toHaveLength(20);
  });
});
