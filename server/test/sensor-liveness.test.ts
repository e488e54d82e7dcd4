import { randomUUID } from 'node:crypto';
import type { SensorStatus } from '@gantry/contract/sensors';
import { describe, expect, it } from 'vitest';
import { LastSeen } from '../src/sensors/last-seen.ts';
import type { Contacts } from '../src/sensors/last-seen-store.ts';
import { sweepOnce } from '../src/sensors/status.ts';
import { connect, pathOf, processed } from './gateway-calls.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { openStream } from './sse.ts';

interface SensorJson {
  id: string;
  apiKey: string;
  status: SensorStatus;
  lastHeartbeat: string | null;
}
interface ChangeJson {
  from: SensorStatus | null;
  to: SensorStatus;
  reason: string;
}

const TIMEOUT = 90;

const gantry = await sharedGantry({
  config: { HEARTBEAT_TIMEOUT_SECONDS: String(TIMEOUT) },
  // There are no sweeps except those of the tests.
  overrides: { timings: { writeContactsMs: 50, sweepSensorsMs: 3_600_000 } },
});
const token = await gantry.tokenFor('OPERATOR');

const create = (fields: object = {}): Promise<SensorJson> =>
  gantry.ok(
    'sensors.create',
    { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', ...fields },
    { token },
  );
const set = (id: string, fields: object) => gantry.ok('sensors.update', { id, ...fields }, { token });
const read = (id: string) => gantry.ok<SensorJson>('sensors.getById', { id });
const signs = (id: string) => gantry.ok('sensors.getSignsOfLife', { id }, { token });
const history = async (id: string): Promise<ChangeJson[]> =>
  (await gantry.ok('sensors.getStatusHistory', { id, take: 100 }, { token })).history.reverse();
const becomes = (id: string, wanted: SensorStatus) =>
  eventually(
    () => read(id),
    ({ status }) => status === wanted,
  );
const heartbeat = (apiKey: string, rest: object = {}) => gantry.ok('sensors.heartbeat', { apiKey, ...rest });
/** Sends an event and waits until it is written, later than the one before by the clock of the service. */
const report = async ({ id, apiKey }: SensorJson): Promise<void> => {
  const { lastEventAt: before } = await signs(id);
  await gantry.ingest(apiKey);
  await eventually(
    () => signs(id),
    ({ lastEventAt }) => lastEventAt !== null && (before === null || lastEventAt > before),
  );
};
/** Moves the recorded times of the sensor into the past. */
const age = (id: string, seconds: number) =>
  gantry.pool.query(
    `UPDATE sensors SET status_since = status_since - $2 * interval '1 second',
       last_heartbeat = last_heartbeat - $2 * interval '1 second',
       last_event_at = last_event_at - $2 * interval '1 second' WHERE id = $1`,
    [id, seconds],
  );
const watch = (watchedSince: string, lookedAt: string) =>
  gantry.pool.query(
    `INSERT INTO sensor_watch (watched_since, looked_at) VALUES ($1::timestamptz, $2::timestamptz)
     ON CONFLICT (only_row) DO UPDATE SET watched_since = $1::timestamptz, looked_at = $2::timestamptz`,
    [watchedSince, lookedAt],
  );
const sweep = () => sweepOnce(gantry.app.context, TIMEOUT);
/** Sweeps like a service that has been running for a long time. */
const sweepLater = async () => {
  await watch('-infinity', new Date().toISOString());
  await sweep();
};
/** Sweeps until the sensor is OFFLINE: a sweep skips a sensor whose row is locked, as by the time last seen of its key. */
const goesOffline = (id: string, sweepAgain: () => Promise<unknown> = sweepLater) =>
  eventually(
    async () => {
      await sweepAgain();
      return read(id);
    },
    ({ status }) => status === 'OFFLINE',
  );

describe('an accepted event', () => {
  it('makes an OFFLINE sensor ONLINE, in the history and on the stream, and is no heartbeat', async () => {
    const sensor = await create();
    const stream = await openStream(gantry.url, 'sensors.onStatusChanged', {
      token,
      input: { sensorId: sensor.id },
    });
    await gantry.ingest(sensor.apiKey);
    const seen = await becomes(sensor.id, 'ONLINE');
    expect(seen.lastHeartbeat).toBeNull();
    expect(await signs(sensor.id)).toEqual({
      sensorId: sensor.id,
      status: 'ONLINE',
      requiresHeartbeats: false,
      lastHeartbeat: null,
      lastEventAt: expect.stringMatching(/Z$/),
      timeoutSeconds: TIMEOUT,
    });
    await gantry.ingest(sensor.apiKey);
    expect(await history(sensor.id)).toMatchObject([
      { from: null, to: 'OFFLINE' },
      { from: 'OFFLINE', to: 'ONLINE', reason: 'event' },
    ]);
    const changes = () => stream.messages.filter(({ data }) => data.change !== undefined);
    await eventually(
      async () => changes(),
      (seen) => seen.length > 0,
    );
    expect(changes()[0]?.data.change).toMatchObject({ from: 'OFFLINE', to: 'ONLINE', reason: 'event' });
    stream.close();
  });

  it('keeps a sensor ONLINE that sends no heartbeats', async () => {
    const sensor = await create();
    await heartbeat(sensor.apiKey);
    await age(sensor.id, TIMEOUT * 2);
    await report(sensor);
    await sweepLater();
    expect((await read(sensor.id)).status).toBe('ONLINE');
    await age(sensor.id, TIMEOUT * 2);
    await goesOffline(sensor.id);
    expect(await history(sensor.id)).toMatchObject([
      {},
      { to: 'ONLINE' },
      { to: 'OFFLINE', reason: `no heartbeat or event for ${TIMEOUT} seconds` },
    ]);
  });

  it('of a batch counts too, and a refused one does not', async () => {
    const [batch, refused] = [await create(), await create()];
    await gantry.ok('events.ingestBatch', {
      apiKey: batch.apiKey,
      events: [{ eventType: 'NONSENSE' }, { eventType: 'INCIDENT' }],
    });
    const { apiKey } = refused;
    expect((await gantry.call('events.ingest', { apiKey, eventType: 'NONSENSE' })).status).toBe(400);
    await gantry.ok('events.ingestBatch', { apiKey, events: [{ eventType: 'NONSENSE' }] });
    await becomes(batch.id, 'ONLINE');
    await eventually(
      () => gantry.ok('sensors.getById', { id: refused.id }),
      ({ lastCommunication }) => lastCommunication !== null,
    );
    expect(await signs(refused.id)).toMatchObject({ status: 'OFFLINE', lastEventAt: null });
  });

  it('ends neither ERROR nor MAINTENANCE, which a heartbeat and a person end', async () => {
    const [broken, serviced] = [await create(), await create()];
    await heartbeat(broken.apiKey, { issues: [{ code: 'LENS', message: '', severity: 'critical' }] });
    await set(serviced.id, { status: 'MAINTENANCE' });
    await Promise.all([report(broken), report(serviced)]);
    expect((await read(broken.id)).status).toBe('ERROR');
    expect((await read(serviced.id)).status).toBe('MAINTENANCE');
    expect((await heartbeat(broken.apiKey)).status).toBe('ONLINE');
  });

  it('sent with the key before a rotation counts while that is accepted', async () => {
    const sensor = await create();
    await gantry.ok('sensors.rotateKey', { id: sensor.id, overlapMinutes: 5 }, { token });
    await gantry.ingest(sensor.apiKey);
    await becomes(sensor.id, 'ONLINE');
    await gantry.ok('sensors.rotateKey', { id: sensor.id }, { token });
    await set(sensor.id, { status: 'OFFLINE' });
    const { status } = await gantry.call('events.ingest', { apiKey: sensor.apiKey, eventType: 'INCIDENT' });
    expect(status).toBe(401);
    await sweepLater();
    expect((await read(sensor.id)).status).toBe('OFFLINE');
  });

  it('that arrives through a connection counts', async () => {
    const { sensorId, url } = await connect(gantry, 'gantry');
    const { status } = await gantry.fetch(pathOf(url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ eventType: 'VEHICLE_DETECTION' }),
    });
    expect(status).toBe(200);
    const { lastHeartbeat } = await becomes(sensorId, 'ONLINE');
    expect(lastHeartbeat).toBeNull();
  });

  it('that a device repeats counts when it is repeated, although it was stored before', async () => {
    const { id, sensorId, url } = await connect(gantry, 'gantry');
    const body = JSON.stringify({
      eventType: 'INCIDENT',
      timestamp: new Date().toISOString(),
      idempotencyKey: 'snapshot',
    });
    const headers = { 'content-type': 'application/json' };
    const send = () => gantry.fetch(pathOf(url), { method: 'POST', headers, body });
    await send();
    await becomes(sensorId, 'ONLINE');
    await age(sensorId, 86_400);
    await gantry.pool.query(
      `UPDATE device_reports SET received_at = received_at - interval '1 day' WHERE connection_id = $1`,
      [id],
    );
    await goesOffline(sensorId);
    await send();
    await becomes(sensorId, 'ONLINE');
    expect((await processed(gantry, id, 2))[0]?.status).toBe('DUPLICATE');
  });

  it('counts although an older one is accepted after it', async () => {
    const written: Contacts[] = [];
    const contacts = new LastSeen({
      store: async (due) => {
        written.push(due);
      },
      log: gantry.app.context.log,
      now: Date.now,
      everyMs: 3_600_000,
    });
    const now = Date.now();
    contacts.recordEvent('sensor', now, 'PLATE_RECOGNITION');
    contacts.recordEvent('sensor', now - 86_400_000, 'INCIDENT');
    await contacts[Symbol.asyncDispose]();
    expect(written.map(({ events }) => [...events])).toEqual([
      [['sensor', { at: now, type: 'PLATE_RECOGNITION' }]],
    ]);
  });
});

describe('a sensor that requires heartbeats', () => {
  it('is not affected by events, and can be changed to either', async () => {
    const sensor = await create({ requiresHeartbeats: true });
    expect(Object.keys(sensor)).not.toContain('requiresHeartbeats');
    await report(sensor);
    expect(await signs(sensor.id)).toMatchObject({ status: 'OFFLINE', requiresHeartbeats: true });
    await heartbeat(sensor.apiKey);
    await age(sensor.id, TIMEOUT * 2);
    await report(sensor);
    await goesOffline(sensor.id);
    expect((await history(sensor.id)).at(-1)).toMatchObject({
      to: 'OFFLINE',
      reason: `no heartbeat for ${TIMEOUT} seconds`,
    });
    expect(Object.keys(await set(sensor.id, { requiresHeartbeats: false }))).not.toContain(
      'requiresHeartbeats',
    );
    await gantry.ingest(sensor.apiKey);
    await becomes(sensor.id, 'ONLINE');
  });
});

describe('downtime of the service', () => {
  it('gives every sensor a time-out before it is called silent', async () => {
    const sensor = await create();
    await heartbeat(sensor.apiKey);
    await age(sensor.id, TIMEOUT * 10);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    await watch('-infinity', hourAgo);
    await sweep();
    await sweep();
    expect((await read(sensor.id)).status).toBe('ONLINE');
    await watch(new Date(Date.now() - (TIMEOUT + 1) * 1_000).toISOString(), new Date().toISOString());
    await goesOffline(sensor.id, sweep);
  });
});

describe('a clock of the database that was ahead', () => {
  it('delays no sensor that goes silent after it was corrected', async () => {
    const sensor = await create();
    await heartbeat(sensor.apiKey);
    await age(sensor.id, -86_400 * 365);
    const inAYear = new Date(Date.now() + 86_400_000 * 365).toISOString();
    await watch(inAYear, inAYear);
    await gantry.pool.query('INSERT INTO sensor_watch_gaps (since, until) VALUES (now(), $1)', [inAYear]);
    await sweep();
    const { watched_since: since } = (await gantry.pool.query('SELECT watched_since FROM sensor_watch'))
      .rows[0];
    expect(since.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(await gantry.count('sensor_watch_gaps WHERE until > now()')).toBe(0);
    expect((await read(sensor.id)).status).toBe('ONLINE');
    await age(sensor.id, TIMEOUT * 10);
    await goesOffline(sensor.id);
  });
});

describe('several processes', () => {
  it('record one change of status however many of them receive events', async () => {
    const other = await startGantry({
      config: { DATABASE_URL: gantry.app.context.config.DATABASE_URL ?? '' },
      overrides: { timings: { writeContactsMs: 50, sweepSensorsMs: 3_600_000 } },
    });
    try {
      const sensors = await Promise.all(Array.from({ length: 5 }, () => create()));
      await Promise.all(
        sensors.flatMap(({ apiKey }) =>
          [gantry, other].flatMap((each) => [each.ingest(apiKey), each.ingest(apiKey)]),
        ),
      );
      for (const { id } of sensors) {
        await becomes(id, 'ONLINE');
        expect((await history(id)).map(({ to }) => to)).toEqual(['OFFLINE', 'ONLINE']);
      }
    } finally {
      await other.stop();
    }
  });
});
