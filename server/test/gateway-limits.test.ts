import { describe, expect, it } from 'vitest';
import { ConnectionLimits } from '../src/devices/limits.ts';
import { claimMessages } from '../src/devices/messages-store.ts';
import { connect, pathOf, processed, sendJson } from './gateway-calls.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { requestRaw } from './raw-http.ts';
import { jpeg } from './sample-images.ts';

const gantry = await sharedGantry({ config: { EVENT_RATE_FACTOR: '1' } });
const token = await gantry.tokenFor('ADMIN');

const post = (url: string, body: unknown) => sendJson(gantry, pathOf(url), body);
const lineOf = async (metric: RegExp): Promise<string | undefined> =>
  (await gantry.fetch('/metrics')).body.split('\n').find((line: string) => metric.test(line));

const beat = { Active: 'keepAlive', DeviceID: 'a' };

describe('a connection that sends too much', () => {
  it('is refused with 429 and shows the refusals, while others are served', async () => {
    const mad = await connect(gantry, 'dahua');
    const calm = await connect(gantry, 'dahua');
    const statuses = new Map<number, number>();
    let waitSeconds = 0;
    // A connection may send 2,000 messages at once.
    for (let sent = 0; sent < 2_100; sent += 50) {
      for (const { status, headers } of await Promise.all(
        Array.from({ length: 50 }, () => post(mad.url, beat)),
      )) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status === 429) waitSeconds = Number(headers.get('retry-after'));
      }
    }
    expect([...statuses.keys()].sort()).toEqual([200, 429]);
    expect(statuses.get(200)).toBeGreaterThanOrEqual(2_000);
    expect(waitSeconds).toBeGreaterThanOrEqual(1);
    expect((await post(calm.url, beat)).status).toBe(200);
    const refused = statuses.get(429) ?? 0;
    const shown = await eventually(
      () => gantry.ok('connections.getById', { id: mad.id }, { token }),
      ({ limitedMessages }) => limitedMessages >= refused,
    );
    expect(shown).toMatchObject({ limitedMessages: refused, lostMessages: 0, lastLostAt: null });
    expect(Date.parse(shown.lastLimitedAt)).toBeGreaterThan(Date.now() - 60_000);
    expect(await gantry.ok('connections.getById', { id: calm.id }, { token })).toMatchObject({
      limitedMessages: 0,
      lastLimitedAt: null,
    });
    expect(await lineOf(/device_messages_total\{format="dahua",outcome="LIMITED"\}/)).toMatch(` ${refused}`);
  }, 120_000);

  it('has a limited number of messages in progress', () => {
    const limits = new ConnectionLimits(60_000, { find: async () => null });
    const connection = (id: string) => ({ id }) as never;
    const request = (bytes?: number) =>
      ({ headers: bytes === undefined ? {} : { 'content-length': String(bytes) } }) as never;
    const ends = Array.from({ length: 6 }, () => limits.begin(connection('a'), request(10_000_000)));
    expect(() => limits.begin(connection('a'), request(10_000_000))).toThrow('Too many messages');
    expect(() => limits.begin(connection('b'), request(10_000_000))).not.toThrow();
    for (const end of ends) end();
    for (let n = 0; n < 256; n++) limits.begin(connection('a'), request());
    expect(() => limits.begin(connection('a'), request())).toThrow('Too many messages');
  });

  it('has an allowance for each sensor whose messages it carries', async () => {
    let now = 0;
    const sensor = { id: 's', eventsPerMin: 3_000 } as never;
    const limits = new ConnectionLimits(1, { find: async () => sensor }, () => now);
    const nvr = { id: 'r', sensorId: 's', options: { sensors: { 1: 'x', 2: 'y', lane: 'y' } } } as never;
    // Messages that arrive before the sensor has been loaded are admitted.
    limits.take(nvr, 6_000);
    await new Promise(setImmediate);
    limits.take(nvr, 6_000);
    expect(() => limits.take(nvr, 1)).toThrow('more than 6000');
    now = 60_000;
    limits.take(nvr, 6_000);
  });

  it('does not delay the messages of others while its own wait to be read', async () => {
    const nvr = await connect(gantry, 'dahua', { options: { sensors: {} } });
    const unknown = (n: number) => ({ ...beat, DeviceID: 'nvr', n });
    await post(nvr.url, unknown(0));
    expect(await processed(gantry, nvr.id)).toMatchObject([{ status: 'UNKNOWN_DEVICE' }]);
    const blocker = await gantry.pool.connect();
    try {
      await blocker.query('BEGIN');
      await blocker.query('SELECT FROM device_discoveries WHERE connection_id = $1 FOR UPDATE', [nvr.id]);
      await Promise.all(Array.from({ length: 100 }, (_, n) => post(nvr.url, unknown(n))));
      const other = await connect(gantry, 'gantry');
      await post(other.url, { eventType: 'VEHICLE_DETECTION' });
      expect(await processed(gantry, other.id)).toMatchObject([{ status: 'STORED' }]);
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
    await processed(gantry, nvr.id, 100);
  }, 120_000);
});

describe('an image that arrives again', () => {
  it('does not make messages wait for one another', async () => {
    const made = await connect(gantry, 'gantry');
    const data = `data:image/jpeg;base64,${jpeg({ comment: 'p'.repeat(300) }).toString('base64')}`;
    const send = () => post(made.url, { eventType: 'VEHICLE_DETECTION', images: [data] });
    await send();
    const [first] = await processed(gantry, made.id);
    const sha256 = first?.pictures[0]?.split('/').at(-1);
    const blocker = await gantry.pool.connect();
    try {
      await blocker.query('BEGIN');
      // The lock that another message with the same image holds while it is being stored.
      await blocker.query(`SELECT FROM images WHERE sha256 = decode($1, 'hex') FOR NO KEY UPDATE`, [sha256]);
      expect((await send()).status).toBe(200);
      const messages = await processed(gantry, made.id, 2);
      expect(messages.map(({ status, pictures }) => [status, pictures])).toEqual(
        Array.from({ length: 2 }, () => ['STORED', first?.pictures]),
      );
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
  }, 60_000);
});

describe('a message with very many events', () => {
  const events = (count: number) => Array.from({ length: count }, () => ({ eventType: 'VEHICLE_DETECTION' }));

  it('is stored whole, although the queue has room for a part of them', async () => {
    const made = await connect(gantry, 'gantry');
    expect((await post(made.url, events(21_000))).status).toBe(200);
    const [message] = await eventually(
      () => processed(gantry, made.id),
      ([first]) => first?.status !== 'RECEIVED',
      100_000,
    );
    expect([message?.status, message?.eventIds.length]).toEqual(['STORED', 21_000]);
  });
});

it('messages whose processing takes longer than their lease, and those that wait for them, are processed once', async () => {
  await using slow = await startGantry({
    overrides: { timings: { messageLeaseMs: 1_000, sweepMessagesMs: 100 } },
  });
  const made = await connect(slow, 'gantry');
  const lock = await slow.pool.connect();
  await lock.query('BEGIN');
  await lock.query('LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
  const sent = Array.from({ length: 12 }, (_, index) => ({
    eventType: 'VEHICLE_DETECTION',
    tags: [`${index}`],
  }));
  // A message with two reports is stored before its events.
  const sentTwice = sent.map((body) => [body, body]);
  for (const body of sentTwice) {
    await slow.fetch(pathOf(made.url), { method: 'POST', body: JSON.stringify(body) });
  }
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await lock.query('ROLLBACK');
  lock.release();
  await processed(slow, made.id, sent.length);
  expect((await slow.pool.query('SELECT claim, status FROM device_messages')).rows).toEqual(
    sent.map(() => ({ claim: 0, status: 'STORED' })),
  );
});

it('messages that are claimed together have a bounded size, and a larger one is claimed alone', async () => {
  await using idle = await startGantry({ overrides: { timings: { sweepMessagesMs: 3_600_000 } } });
  const made = await connect(idle, 'gantry');
  for (let index = 0; index < 5; index++) {
    const body = JSON.stringify({ eventType: 'VEHICLE_DETECTION', location: String(index) });
    await idle.fetch(pathOf(made.url), { method: 'POST', body });
  }
  await processed(idle, made.id, 5);
  await idle.pool.query(`
    UPDATE device_messages SET due_at = now() - interval '1 minute', bytes = size
    FROM (SELECT id, (ARRAY[10, 20, 70, 5, 25])[row_number() OVER (ORDER BY id)] AS size FROM device_messages) AS sized
    WHERE device_messages.id = sized.id`);
  const claimed: number[] = [];
  for (let round = 0; round < 4; round++) {
    const { db } = idle.app.context;
    claimed.push((await claimMessages(db, { most: 100, mostBytes: 50, leaseMs: 60_000 })).length);
  }
  expect(claimed).toEqual([2, 1, 2, 0]);
});

describe('a device that does not send again', () => {
  it('has its lost messages counted when there is no space on disk', async () => {
    await using small = await startGantry({ config: { GATEWAY_SPOOL_MB: '0' } });
    const made = await connect(small, 'platerecognizer');
    const { gateways } = small.app.context as never as { gateways: { $client: { query: unknown } } };
    const { query } = gateways.$client;
    gateways.$client.query = async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    try {
      const answer = await requestRaw(
        small.url,
        `POST ${pathOf(made.url)}`,
        ['Content-Type: application/json', 'Content-Length: 2'],
        '{}',
      );
      expect(answer.status).toBe(503);
    } finally {
      gateways.$client.query = query;
    }
    const shown = await eventually(
      async () => small.ok('connections.getById', { id: made.id }, { token: await small.tokenFor('ADMIN') }),
      ({ lostMessages }) => lostMessages > 0,
    );
    expect(shown).toMatchObject({ lostMessages: 1, lastLostAt: expect.any(String), limitedMessages: 0 });
  });
});
