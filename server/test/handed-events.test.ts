import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually, type Gantry, startGantry } from './harness.ts';
import { answer, type Receiver, startReceiver } from './webhook-receiver.ts';

let receiver: Receiver;
let busy: Receiver;
let gantry: Gantry;
let token: string;
let apiKey: string;
beforeAll(async () => {
  receiver = await startReceiver(answer(200));
  busy = await startReceiver(answer(503));
  const hosts = `localhost, ${receiver.host}, ${busy.host}`;
  gantry = await startGantry({ config: { WEBHOOK_ALLOW_HOSTS: hosts } });
  token = await gantry.tokenFor('ADMIN');
  apiKey = await gantry.registerSensor();
  await gantry.ok('webhooks.create', { url: receiver.url, kinds: ['event.ingested'] }, { token });
});
afterAll(async () => {
  await gantry?.stop();
  await receiver?.[Symbol.asyncDispose]();
  await busy?.[Symbol.asyncDispose]();
});

const bodiesOf = async (ids: readonly string[]) => {
  const { rows } = await gantry.pool.query<{ body: string }>(
    `SELECT body FROM webhook_deliveries WHERE body::jsonb #>> '{data,id}' = ANY ($1)`,
    [ids],
  );
  return rows.map(({ body }) => JSON.parse(body).data).sort((a, b) => (a.id < b.id ? -1 : 1));
};

describe('the stored events of a group', () => {
  const EVENTS = [
    { eventType: 'INCIDENT', description: 'Stopped vehicle', location: { latitude: 48.2, longitude: 16.4 } },
    { eventType: 'SPEED_DETECTION', violationType: 'SPEEDING', vehicleSpeed: 71.25, vehicleType: 'CAR' },
    {
      eventType: 'VEHICLE_DETECTION',
      licensePlateNumber: 'w 123-ab',
      tags: ['north'],
      metadata: { lane: 2 },
    },
  ];

  it.each<[string, { idempotencyKey?: string }, boolean]>([
    ['without idempotency keys', {}, false],
    ['with idempotency keys', { idempotencyKey: 'first' }, false],
    ['beside events that are stored already', { idempotencyKey: 'first' }, true],
  ])('are sent to webhooks as stored, without being read again (%s)', async (_, key, isAgain) => {
    const timestamp = new Date(Date.now() - 60_000).toISOString();
    const events = EVENTS.map((event, n) => ({
      ...event,
      timestamp: new Date(Date.parse(timestamp) + n * 1_000).toISOString(),
      ...key,
    }));
    if (isAgain) await gantry.ok('events.ingestBatch', { apiKey, events: events.slice(0, 1) });
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    const noted = query.mock.calls.map(
      ([sent]) => (typeof sent === 'string' ? sent : (sent as { text?: string }).text) ?? '',
    );
    query.mockRestore();
    const ids: string[] = results.map(({ eventId }: { eventId: string }) => eventId);
    const bodies = await bodiesOf(ids);
    const { events: listed } = await gantry.ok('events.getAll', { take: 100 }, { token });
    const expected = listed
      .filter(({ id }: { id: string }) => ids.includes(id))
      .sort((a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1));
    expect(bodies).toEqual(expected);
    expect(bodies).toHaveLength(EVENTS.length);
    const reading = noted.filter((text) => /description[^;]*FROM events\s+WHERE id = ANY/.test(text));
    expect(reading).toEqual([]);
    expect(noted.some((text) => text.includes('INTO webhook_deliveries'))).toBe(true);
  });
});

describe('an event that is deleted after its commit and before its follow-up', () => {
  it('is not sent to webhooks', async () => {
    // The incident blocks the follow-up, so that the next event is not followed up yet.
    const blocker = await gantry.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('LOCK incidents IN ACCESS EXCLUSIVE MODE');
    const incident = await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    // On a busy machine the follow-up of the incident is given up, and that of the next event done, before it is deleted.
    const ingestUntilOneWaits = async (): Promise<{ eventId: string }> => {
      for (;;) {
        const event = await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
        if ((await gantry.count(`events_to_follow_up WHERE event_id = '${event.eventId}'`)) === 1)
          return event;
      }
    };
    const deleted = await ingestUntilOneWaits();
    await gantry.ok('events.delete', { id: deleted.eventId }, { token });
    await blocker.query('COMMIT');
    blocker.release();
    const kept = await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    await eventually(
      () => gantry.count('events_to_follow_up'),
      (left) => left === 0,
    );
    const ids = [incident, deleted, kept].map(({ eventId }) => eventId);
    const sent = (await bodiesOf(ids)).map(({ id }) => id);
    expect(sent.sort()).toEqual([incident.eventId, kept.eventId].sort());
  });

  it('is deleted although its follow-up is at work for longer than calls usually wait', async () => {
    const { eventId } = await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
    const follower = await gantry.pool.connect();
    await follower.query('BEGIN');
    await follower.query('INSERT INTO events_to_follow_up (event_id) VALUES ($1)', [eventId]);
    await follower.query('COMMIT; BEGIN');
    await follower.query('SELECT FROM events_to_follow_up WHERE event_id = $1 FOR UPDATE', [eventId]);
    const deleting = gantry.call('events.delete', { id: eventId }, { token });
    await eventually(
      () =>
        gantry.count(`pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE '%DELETE FROM events_to_follow_up%' AND clock_timestamp() - query_start > interval '2.5 seconds'`),
      (n) => n === 1,
    );
    await follower.query('COMMIT');
    follower.release();
    expect((await deleting).status).toBe(200);
    expect(await gantry.count(`events WHERE id = '${eventId}'`)).toBe(0);
  });

  it('is not sent again to a webhook that could not receive it', async () => {
    await gantry.ok(
      'webhooks.create',
      { url: busy.url, kinds: ['event.ingested', 'event.violation'] },
      { token },
    );
    const report = () =>
      gantry.ok('events.ingest', { apiKey, eventType: 'TRAFFIC_VIOLATION', violationType: 'SPEEDING' });
    const [deleted, kept] = [await report(), await report()];
    const left = async ({ eventId }: { eventId: string }): Promise<number> =>
      gantry.count(`webhook_deliveries WHERE status = 'PENDING' AND strpos(body, '${eventId}') > 0`);
    await eventually(
      async () => [await left(deleted), await left(kept)],
      ([one, other]) => one === 2 && other === 2,
    );
    await gantry.ok('events.delete', { id: deleted.eventId }, { token });
    expect([await left(deleted), await left(kept)]).toEqual([0, 2]);
  });
});
