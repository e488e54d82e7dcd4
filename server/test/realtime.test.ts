import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppRouter } from '@gantry/server/router';
import { createTRPCClient, httpSubscriptionLink, type TRPCClientError } from '@trpc/client';
import { EventSource } from 'eventsource';
import { decodeJwt, SignJWT } from 'jose';
import superjson from 'superjson';
import { describe, expect, it, vi } from 'vitest';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { openStream, type Stream, type StreamOptions } from './sse.ts';

const JWT_SECRET = 'a secret for tests that is long enough';

const gantry = await sharedGantry({
  config: { JWT_SECRET },
  overrides: { timings: { checkSessionsMs: 200 } },
});
const token = await gantry.tokenFor('VIEWER');

const ingest = (apiKey: string, fields: object = {}): Promise<string> => gantry.ingest(apiKey, fields);

const ingestMany = (apiKey: string, count: number) =>
  gantry.ok('events.ingestBatch', {
    apiKey,
    events: Array.from({ length: count }, () => ({ eventType: 'VEHICLE_DETECTION' })),
  });

const follow = (procedure: string, options: StreamOptions = {}): Promise<Stream> =>
  openStream(gantry.url, procedure, { token, ...options });

/** Waits until the stream has sent the given number of payloads, and returns them without the notes. */
const payloadsOf = async (stream: Stream, count: number, ms = 5_000) => {
  const payloads = () => stream.messages.filter(({ data }) => data.type !== 'upToDate');
  await eventually(
    async () => payloads().length,
    (length) => length >= count,
    ms,
  );
  return payloads().map(({ id, data }) => ({ id, ...data }));
};
const isUpToDate = (stream: Stream) =>
  eventually(
    async () => stream.messages.some(({ data }) => data.type === 'upToDate'),
    (is) => is,
  );

const stockClient = (bearer: string | null, connectionParams?: Record<string, string>) =>
  createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${gantry.url}/trpc`,
        transformer: superjson,
        EventSource,
        ...(connectionParams && { connectionParams }),
        eventSourceOptions: {
          fetch: (address, init) =>
            fetch(address, {
              ...init,
              headers: { ...init.headers, ...(bearer !== null && { authorization: `Bearer ${bearer}` }) },
            }),
        },
      }),
    ],
  });

const refusalOf = (client: ReturnType<typeof stockClient>, input: { lastEventId?: string } = {}) =>
  new Promise<TRPCClientError<AppRouter>>((resolve) => {
    const subscription = client.events.onIngested.subscribe(input, {
      onError: (error) => {
        subscription.unsubscribe();
        resolve(error);
      },
    });
  });

describe('events.onIngested', () => {
  it('sends the standard httpSubscriptionLink an event within a second', async () => {
    const apiKey = await gantry.registerSensor();
    const messages: { type: string }[] = [];
    const subscription = stockClient(token).events.onIngested.subscribe(
      {},
      { onData: ({ data }) => messages.push(data) },
    );
    await eventually(
      async () => messages.length,
      (length) => length > 0,
    );
    const eventId = await ingest(apiKey, { licensePlateNumber: 'W-1', vehicleSpeed: 51.5 });
    await eventually(
      async () => messages.length,
      (length) => length > 1,
    );
    subscription.unsubscribe();
    expect(messages).toMatchObject([
      { type: 'upToDate', at: expect.any(Date) },
      { type: 'event', event: { id: eventId, licensePlateNumber: 'W-1', timestamp: expect.any(Date) } },
    ]);
  });

  it('sends events with exactly the keys and values of events.getAll', async () => {
    const apiKey = await gantry.registerSensor();
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    const eventId = await ingest(apiKey, { violationType: 'SPEEDING', tags: ['x'], metadata: { a: 1 } });
    const [message] = await payloadsOf(stream, 1);
    stream.close();
    const { events } = await gantry.ok('events.getAll', { take: 1 }, { token });
    expect(message).toEqual({ id: expect.any(String), type: 'event', event: events[0] });
    expect(message?.event.id).toBe(eventId);
  });

  it('has the headers of an event stream that no proxy buffers or changes', async () => {
    const stream = await follow('events.onIngested');
    stream.close();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('content-type')).toContain('text/event-stream');
    expect(stream.headers.get('cache-control')).toContain('no-');
    expect(stream.headers.get('x-request-id')).not.toBeNull();
  });

  it('sends only what matches the filters', async () => {
    const [one, other] = [await gantry.registerSensor(), await gantry.registerSensor()];
    const stream = await follow('events.onIngested', {
      input: { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'b * 7', vehicleType: 'truck' },
    });
    await isUpToDate(stream);
    await ingest(one, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'B-7', vehicleType: 'CAR' });
    await ingest(one, { licensePlateNumber: 'B-7', vehicleType: 'TRUCK' });
    await ingest(one, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'C-7', vehicleType: 'TRUCK' });
    const wanted = await ingest(other, {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'b xy 7',
      vehicleType: 'Truck',
    });
    const last = await ingest(other, {
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: 'B 77',
      vehicleType: 'TRUCK',
    });
    const messages = await payloadsOf(stream, 2);
    stream.close();
    expect(messages.map(({ event }) => event.id)).toEqual([wanted, last]);
  });

  it('records a followed plate in the activity log, with the reason', async () => {
    const { id } = await gantry.ok('auth.me', undefined, { token });
    const stream = await follow('events.onIngested', {
      input: { licensePlateNumber: 'W 12 X', reason: 'hit and run, file 77' },
    });
    await isUpToDate(stream);
    stream.close();
    const { activities } = await gantry.ok(
      'users.getActivity',
      { id, take: 1 },
      { token: await gantry.tokenFor('ADMIN') },
    );
    expect(activities[0]).toMatchObject({
      action: 'events.lookUpPlate',
      details: { plate: 'W 12 X', reason: 'hit and run, file 77' },
    });
  });

  it('records a followed plate once, however often the stream is resumed', async () => {
    const input = { licensePlateNumber: 'W 13 X' };
    const lookUps = () => gantry.count("activity WHERE details ->> 'plate' = 'W 13 X'");
    let lastEventId: string | undefined;
    for (let n = 0; n < 3; n++) {
      const stream = await follow('events.onIngested', { input, ...(lastEventId && { lastEventId }) });
      await isUpToDate(stream);
      lastEventId = stream.messages[0]?.id;
      stream.close();
      await stream.ended;
    }
    expect(await lookUps()).toBe(1);
    expect(await gantry.count("activity WHERE details ->> 'plate' = 'W 13 X' AND details ? 'count'")).toBe(0);
  });

  it('sends an event only once that was sent twice with one key', async () => {
    const apiKey = await gantry.registerSensor();
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    const retried = { idempotencyKey: 'k', timestamp: new Date().toISOString() };
    const first = await ingest(apiKey, retried);
    expect(await ingest(apiKey, retried)).toBe(first);
    const last = await ingest(apiKey);
    const messages = await payloadsOf(stream, 2);
    stream.close();
    expect(messages.map(({ event }) => event.id)).toEqual([first, last]);
  });
});

describe('a stream that is resumed', () => {
  it('first sends what was missed, in order and without gaps, and then continues', async () => {
    const apiKey = await gantry.registerSensor();
    const before = await follow('events.onIngested');
    await isUpToDate(before);
    const first = await ingest(apiKey);
    const [message] = await payloadsOf(before, 1);
    before.close();
    const missed = [];
    // More commits than one page of the feed holds.
    for (let n = 0; n < 120; n++) missed.push(await ingest(apiKey));
    const { results } = await ingestMany(apiKey, 1000);
    missed.push(...results.map(({ eventId }: { eventId: string }) => eventId));
    const after = await follow('events.onIngested', { lastEventId: message?.id ?? '' });
    const live = await ingest(apiKey);
    const rest = (await payloadsOf(after, missed.length + 1)).map(({ event }) => event.id);
    after.close();
    expect(message?.event.id).toBe(first);
    expect(rest).toEqual([...missed, live]);
  });

  it('continues in the middle of a group of events that were committed together', async () => {
    const apiKey = await gantry.registerSensor();
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    await ingestMany(apiKey, 50);
    const all = await payloadsOf(stream, 50);
    stream.close();
    const resumed = await follow('events.onIngested', { lastEventId: all[19]?.id ?? '' });
    const rest = await payloadsOf(resumed, 30);
    resumed.close();
    expect(rest.map(({ event }) => event.id)).toEqual(all.slice(20).map(({ event }) => event.id));
  });

  it('before its first event continues from its beginning', async () => {
    const apiKey = await gantry.registerSensor();
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    stream.close();
    const meanwhile = await ingest(apiKey);
    const resumed = await follow('events.onIngested', { lastEventId: stream.messages[0]?.id ?? '' });
    // Earlier events may precede it: those that were committed while an older transaction was still in progress.
    await eventually(
      async () => resumed.messages.map(({ data }) => data.event?.id),
      (ids) => ids.includes(meanwhile),
    );
    resumed.close();
  });

  it('receives a note when what it missed is no longer stored', async () => {
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    stream.close();
    const [xid, seq, index, at] = stream.messages[0]?.id.split('.') ?? [];
    const dayBefore = `${xid}.${seq}.${index}.${Number(at) - 86_405_000}`;
    const fromAnotherDatabase = `${BigInt(xid ?? 0) + 1_000_000n}.0.0.${at}`;
    for (const lastEventId of [dayBefore, fromAnotherDatabase]) {
      const resumed = await follow('events.onIngested', { lastEventId });
      expect(await payloadsOf(resumed, 1)).toMatchObject([{ type: 'missed', count: null }]);
      resumed.close();
    }
  });

  it.each(['x', '1.2.3', '-1.0.0.0', '99999999999999999999.0.0.0', `1.0.0.${'9'.repeat(15)}`, "1.0.0.0'"])(
    'is refused with the invalid id %j',
    async (lastEventId) => {
      const stream = await follow('events.onIngested', { lastEventId });
      await stream.ended;
      expect(stream.error).toMatchObject({ data: { code: 'BAD_REQUEST', httpStatus: 400 } });
      expect(stream.messages).toEqual([]);
    },
  );
});

describe('a commit that becomes visible late', () => {
  it('delays those after it, and loses nothing', async () => {
    const apiKey = await gantry.registerSensor();
    const stream = await follow('events.onIngested');
    await isUpToDate(stream);
    const early = await ingest(apiKey);
    const slow = await gantry.pool.connect();
    await slow.query('BEGIN');
    await slow.query(`INSERT INTO changes (topic, event_ids) VALUES ('events', ARRAY[$1]::uuid[])`, [early]);
    const late = await ingest(apiKey);
    await payloadsOf(stream, 1);
    await sleep(300);
    expect(await payloadsOf(stream, 1)).toHaveLength(1);
    await slow.query('COMMIT');
    slow.release();
    const messages = await payloadsOf(stream, 3);
    stream.close();
    expect(messages.map(({ event }) => event.id)).toEqual([early, early, late]);
  });
});

describe('a subscriber that falls behind', () => {
  it('receives the number of missed messages, and what comes after', async () => {
    const apiKey = await gantry.registerSensor();
    const END = { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'END 1' };
    const watching = await follow('events.onIngested', { input: END });
    await isUpToDate(watching);
    const joined = vi.spyOn(gantry.app.context.realtime, 'join');
    // A connection that requests a stream and does not read it.
    const { hostname, port } = new URL(gantry.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `GET /trpc/events.onIngested HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await eventually(
      async () => joined.mock.results.some(({ value }) => value !== null),
      (is) => is,
    );
    joined.mockRestore();
    const batches = 24;
    for (let batch = 0; batch < batches; batch++) await ingestMany(apiKey, 1000);
    // By then every event has been sent to the streams that are read.
    await ingest(apiKey, END);
    await payloadsOf(watching, 1, 20_000);
    watching.close();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.resume();
    await eventually(
      async () => /"missed"/.test(text),
      (is) => is,
      20_000,
    );
    const last = await ingest(apiKey);
    await eventually(
      async () => text.includes(last),
      (is) => is,
    );
    socket.destroy();
    const missed = [...text.matchAll(/"type":"missed","count":(\d+)/g)].map(([, count]) => Number(count));
    const received = new Set([...text.matchAll(/"event":\{"id":"([^"]+)"/g)].map(([, id]) => id));
    expect(missed.length).toBeGreaterThan(0);
    expect(received.size + missed.reduce((sum, count) => sum + count, 0)).toBe(batches * 1000 + 2);
  });
});

describe('the access to streams', () => {
  it('is decided by the token in the header', async () => {
    const none = await refusalOf(stockClient(null));
    expect(none).toMatchObject({
      message: 'No token provided',
      data: { code: 'UNAUTHORIZED', httpStatus: 401 },
    });
    const bad = await refusalOf(stockClient('nonsense'));
    expect(bad).toMatchObject({ message: 'Invalid or expired token', data: { code: 'UNAUTHORIZED' } });
  });

  it('is never granted by a token in the address', async () => {
    const refused = await refusalOf(stockClient(null, { authorization: `Bearer ${token}`, token }));
    expect(refused).toMatchObject({ message: 'No token provided' });
  });

  it('depends on the permission', async () => {
    for (const procedure of ['incidents.onChanged', 'watchlist.onAlert']) {
      const stream = await follow(procedure);
      await stream.ended;
      expect(stream.error).toMatchObject({ data: { code: 'FORBIDDEN', httpStatus: 403 } });
      const field = await follow(procedure, { token: await gantry.tokenFor('FIELD') });
      await isUpToDate(field);
      field.close();
    }
  });

  it('is refused like any other call when the input is invalid', async () => {
    const stream = await follow('events.onIngested', { input: { eventType: 'NONE' } });
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'BAD_REQUEST', issues: [{ path: 'eventType' }] } });
  });

  it('is limited for each user', async () => {
    const mine = await gantry.login('viewer@gantry.local', 'Correct-horse-1');
    const streams = await Promise.all(
      Array.from({ length: 50 }, () => follow('sensors.onStatusChanged', { token: mine })),
    );
    await Promise.all(streams.map(isUpToDate));
    const further = await follow('sensors.onStatusChanged', { token: mine });
    await further.ended;
    for (const stream of streams) stream.close();
    expect(further.error).toMatchObject({ data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429 } });
    // Besides the first message, changes of sensors of other tests may arrive.
    await eventually(
      async () => {
        const again = await follow('sensors.onStatusChanged', { token: mine });
        await Promise.race([again.ended, sleep(200)]);
        again.close();
        return again.messages.length;
      },
      (length) => length > 0,
    );
  });
});

describe('a stream that is requested in another way', () => {
  it('answers HEAD at once, with the headers of GET', async () => {
    const path = `${gantry.url}/trpc/events.onIngested?input=${encodeURIComponent('{"json":{}}')}`;
    for (const accept of ['*/*', 'text/event-stream']) {
      const headers = { accept, authorization: `Bearer ${token}` };
      const head = await fetch(path, { method: 'HEAD', headers, signal: AbortSignal.timeout(10_000) });
      const leaving = new AbortController();
      const get = await fetch(path, { headers, signal: leaving.signal });
      leaving.abort();
      const headersOf = (response: Response) =>
        Object.fromEntries(
          [...response.headers].filter(([name]) => !/^(date|x-request-id|transfer-encoding)$/.test(name)),
        );
      expect(head.status).toBe(get.status);
      expect(headersOf(head)).toEqual(headersOf(get));
      expect(await head.text()).toBe('');
    }
    const refused = await fetch(path, { method: 'HEAD', signal: AbortSignal.timeout(10_000) });
    expect(refused.status).toBe(401);
  });

  it.each(['{', '{"json":', 'nonsense'])('with %s for an input is a parse error', async (input) => {
    const path = `/trpc/events.onIngested?input=${encodeURIComponent(input)}`;
    const authorization = `Bearer ${token}`;
    const error = {
      message: 'The request is not valid JSON',
      code: -32700,
      data: { code: 'PARSE_ERROR', httpStatus: 400 },
    };
    const plain = await gantry.fetch(path, { headers: { authorization } });
    expect(plain.status).toBe(400);
    expect(plain.body).toEqual({ error: { json: error } });
    const streamed = await gantry.fetch(path, { headers: { authorization, accept: 'text/event-stream' } });
    expect(streamed.body).toContain(`data: ${JSON.stringify({ json: error })}`);
    const stranger = await gantry.fetch(path);
    expect(stranger.body.error.json.message).toBe('No token provided');
  });

  it('is refused by POST and in a batch, with how to open it', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = await gantry.fetch('/trpc/events.onIngested', {
      method: 'POST',
      headers,
      body: '{"json":{}}',
    });
    expect(post.status).toBe(405);
    expect(post.headers.get('allow')).toBe('GET');
    expect(post.body.error.json.message).toBe('Call events.onIngested with GET');
    const batch = await gantry.fetch('/trpc/auth.me,events.onIngested?batch=1', { headers });
    expect(batch.status).toBe(207);
    expect(batch.body['1'].error.json.data.code).toBe('METHOD_NOT_SUPPORTED');
    expect(batch.body['1'].error.json.message).toContain('is a subscription: open it alone');
  });
});

describe('a stream ends', () => {
  const SOON_MS = 12_000;
  const PASSWORD = 'Correct-Horse-7';
  const endings: [string, (user: { id: string }, mine: string, admin: string) => Promise<unknown>][] = [
    ['its session is logged out', (_, mine) => gantry.ok('auth.logout', undefined, { token: mine })],
    [
      'its session is revoked',
      (_, mine, admin) => gantry.ok('auth.revokeSession', { id: decodeJwt(mine).sid }, { token: admin }),
    ],
    [
      'its user is switched off',
      ({ id }, _, admin) => gantry.ok('users.update', { id, isActive: false }, { token: admin }),
    ],
    [
      'its user gets another role',
      ({ id }, _, admin) => gantry.ok('users.updateRole', { id, role: 'ANALYST' }, { token: admin }),
    ],
    [
      'the password is reset',
      ({ id: userId }, _, admin) => gantry.ok('users.resetPassword', { userId }, { token: admin }),
    ],
    ['its user is deleted', ({ id }, _, admin) => gantry.ok('users.delete', { id }, { token: admin })],
  ];

  it.each(endings)('soon after %s, and those of others continue', async (_, end) => {
    const admin = await gantry.tokenFor('ADMIN');
    const email = `follower-${randomUUID()}@example.org`;
    const person = { email, password: PASSWORD, firstName: 'Ada', lastName: 'Lovelace' };
    const user = await gantry.ok('users.create', person, { token: admin });
    const mine = await gantry.login(email, PASSWORD);
    const stream = await follow('events.onIngested', { token: mine });
    const other = await follow('events.onIngested', { token });
    await Promise.all([stream, other].map(isUpToDate));
    await end(user, mine, admin);
    await Promise.race([stream.ended, sleep(SOON_MS)]);
    expect(stream.error).toMatchObject({ data: { code: 'UNAUTHORIZED', httpStatus: 401 } });
    expect(other.error).toBeNull();
    other.close();
  });

  it('when its token expires', async () => {
    const { exp: _, iat: __, ...claims } = decodeJwt(token);
    const short = await new SignJWT({ ...claims, jti: randomUUID() })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + 2)
      .sign(new TextEncoder().encode(JWT_SECRET));
    const stream = await follow('events.onIngested', { token: short });
    await isUpToDate(stream);
    await stream.ended;
    expect(stream.error).toMatchObject({ message: 'Invalid or expired token' });
  });

  it('when the service stops, also for a client that does not read, and both soon', async () => {
    const service = await startGantry({ overrides: { timings: { farewellMs: 300 } } });
    const joined = vi.spyOn(service.app.context.realtime, 'join');
    const apiKey = await service.registerSensor();
    const admin = await service.tokenFor('ADMIN');
    const stream = await openStream(service.url, 'events.onIngested', { token: admin });
    await isUpToDate(stream);
    const { hostname, port } = new URL(service.url);
    const deaf = connect(Number(port), hostname).pause();
    deaf.on('error', () => undefined);
    deaf.write(
      `GET /trpc/events.onIngested HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await eventually(
      async () => joined.mock.results.filter(({ value }) => value !== null).length,
      (count) => count === 2,
    );
    const events = Array.from({ length: 1000 }, () => ({ eventType: 'VEHICLE_DETECTION' }));
    for (let batch = 0; batch < 20; batch++) await service.ok('events.ingestBatch', { apiKey, events });
    await service.stop();
    await stream.ended;
    expect(stream.error).toMatchObject({ data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } });
  });
});

describe('the other streams', () => {
  it('send changes of sensors by heartbeats, silence and users, with the reason', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const sensor = await gantry.ok(
      'sensors.create',
      { name: 'Mast 9', deviceId: randomUUID(), type: 'RADAR' },
      { token: admin },
    );
    const stream = await follow('sensors.onStatusChanged', { input: { sensorId: sensor.id.toUpperCase() } });
    await isUpToDate(stream);
    await gantry.ok('sensors.heartbeat', { apiKey: sensor.apiKey });
    await gantry.ok('sensors.heartbeat', { apiKey: sensor.apiKey });
    await gantry.ok('sensors.heartbeat', {
      apiKey: sensor.apiKey,
      issues: [{ code: 'HOT', message: 'too hot', severity: 'critical' }],
    });
    await gantry.ok('sensors.update', { id: sensor.id, status: 'MAINTENANCE' }, { token: admin });
    const messages = await payloadsOf(stream, 3);
    stream.close();
    expect(messages.map(({ change }) => change)).toMatchObject([
      { sensorId: sensor.id, sensorName: 'Mast 9', from: 'OFFLINE', to: 'ONLINE', reason: 'heartbeat' },
      { from: 'ONLINE', to: 'ERROR', reason: 'critical issue: HOT (too hot)' },
      { from: 'ERROR', to: 'MAINTENANCE', reason: 'set by hand' },
    ]);
  });

  it('send incidents, from the event that opens one to the actions of users', async () => {
    const field = await gantry.tokenFor('FIELD');
    const apiKey = await gantry.registerSensor();
    const stream = await follow('incidents.onChanged', { token: field });
    await isUpToDate(stream);
    await ingest(apiKey, { eventType: 'INCIDENT', violationType: 'WRONG_WAY' });
    const [opened] = await payloadsOf(stream, 1);
    await gantry.ok(
      'incidents.acknowledge',
      { id: opened?.change.incident.id, note: 'seen' },
      { token: field },
    );
    const [, acknowledged] = await payloadsOf(stream, 2);
    stream.close();
    expect(opened).toMatchObject({
      change: { action: 'create', by: null, incident: { status: 'OPEN', type: 'WRONG_WAY_DRIVER' } },
    });
    expect(acknowledged).toMatchObject({
      change: {
        action: 'acknowledge',
        by: { name: 'FIELD Tester' },
        note: 'seen',
        incident: { status: 'ACKNOWLEDGED' },
      },
    });
  });

  it('send reads of watched plates within a second', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const apiKey = await gantry.registerSensor();
    const entry = await gantry.ok(
      'watchlist.create',
      { pattern: 'W-8O1', reason: 'stolen', priority: 'HIGH', fuzzy: true },
      { token: admin },
    );
    const stream = await follow('watchlist.onAlert', { token: admin });
    await isUpToDate(stream);
    const eventId = await ingest(apiKey, { licensePlateNumber: 'w BO I' });
    const [message] = await payloadsOf(stream, 1, 1_000);
    stream.close();
    expect(message).toMatchObject({
      type: 'alert',
      alert: { entryId: entry.id, eventId, licensePlateNumber: 'w BO I', priority: 'HIGH', reason: 'stolen' },
    });
  });
});
