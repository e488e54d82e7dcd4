import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { tracked } from '@trpc/server';
import { pino } from 'pino';
import { beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../src/programs/app.ts';
import { compare, readCursor } from '../src/realtime/position.ts';
import { messagesByTopic, messagesOf } from '../src/rpc/messages.ts';
import { Caller, eventually, sharedGantry, startGantry } from './harness.ts';
import { openStream, type Stream, type StreamMessage, type StreamOptions } from './sse.ts';

// One stream of several topics, compared with the subscriptions to each of them alone.

const SINGLE = {
  events: 'events.onIngested',
  sensors: 'sensors.onStatusChanged',
  incidents: 'incidents.onChanged',
  watchlist: 'watchlist.onAlert',
  alarms: 'alarms.onChanged',
} as const;
type Topic = keyof typeof SINGLE;
const TOPICS = Object.keys(SINGLE) as Topic[];

const NOTES = ['upToDate', 'missed'];

/** The messages of a stream so far, without its notes. */
const thingsOf = ({ messages }: Stream): StreamMessage[] =>
  messages.filter(({ data }) => !NOTES.includes(data.type));

const until = (is: () => boolean, ms = 20_000) =>
  eventually(
    async () => is(),
    (yes) => yes,
    ms,
  );

const follow = async (service: Caller, procedure: string, options: StreamOptions = {}): Promise<Stream> => {
  const token = await service.tokenFor('ADMIN');
  const stream = await openStream(service.url, procedure, { token, ...options });
  await until(() => stream.messages.length > 0 || stream.error !== null);
  return stream;
};

const positionOf = ({ id }: StreamMessage) => {
  const cursor = readCursor(id);
  if (!cursor) throw new Error(`${id} is no id of a message`);
  return cursor.position;
};
const inOrder = (a: StreamMessage, b: StreamMessage): number => compare(positionOf(a), positionOf(b));

interface Sensor {
  readonly id: string;
  readonly apiKey: string;
}

const addSensor = async (service: Caller): Promise<Sensor> => {
  const input = { name: 'Mast 3', deviceId: randomUUID(), type: 'CAMERA' };
  return service.ok('sensors.create', input, { token: await service.tokenFor('ADMIN') });
};

const PLATE = 'LIVE 1';

const watchPlate = async (service: Caller): Promise<void> => {
  const entry = { pattern: PLATE, reason: 'stolen', priority: 'HIGH' };
  await service.ok('watchlist.create', entry, { token: await service.tokenFor('ADMIN') });
};

/** What one call of `happen` causes: an event that opens an incident and one of a watched plate, and a status change. */
const CAUSED = { events: 2, sensors: 1, incidents: 1, watchlist: 1, alarms: 0 };

/** Registers a sensor that causes messages on every topic. */
const happen = async (service: Caller): Promise<void> => {
  const { apiKey } = await addSensor(service);
  await Promise.all([
    service.ok('sensors.heartbeat', { apiKey }),
    service.ingest(apiKey, { eventType: 'INCIDENT' }),
    service.ingest(apiKey, { eventType: 'PLATE_RECOGNITION', licensePlateNumber: PLATE }),
  ]);
};

/** What the four subscriptions sent, as the one stream should send it. */
const together = (streams: Record<Topic, Stream>): StreamMessage[] =>
  TOPICS.flatMap((topic) =>
    thingsOf(streams[topic]).map(({ id, data }) => ({ id, data: { ...data, type: topic } })),
  ).sort(inOrder);

const followEach = async (service: Caller): Promise<Record<Topic, Stream>> => {
  const streams = await Promise.all(
    TOPICS.map(async (topic) => [topic, await follow(service, SINGLE[topic])] as const),
  );
  return Object.fromEntries(streams) as Record<Topic, Stream>;
};

const close = async (...streams: Stream[]): Promise<void> => {
  for (const stream of streams) stream.close();
  await Promise.all(streams.map(({ ended }) => ended));
};

const gantry = await sharedGantry();
beforeAll(async () => {
  await watchPlate(gantry);
});

describe('live.onAny', () => {
  it('sends the messages of all four subscriptions, with the same ids, in the order of the commits', async () => {
    const all = await follow(gantry, 'live.onAny');
    const each = await followEach(gantry);
    const rounds = 12;
    await Promise.all(Array.from({ length: rounds }, () => happen(gantry)));
    await until(() => TOPICS.every((topic) => thingsOf(each[topic]).length === rounds * CAUSED[topic]));
    const expected = together(each);
    await until(() => thingsOf(all).length === expected.length);
    expect(thingsOf(all)).toEqual(expected);
    // The topics must alternate, because their order would prove little otherwise.
    const changes = expected.filter(({ data }, n) => n > 0 && data.type !== expected[n - 1]?.data.type);
    expect(changes.length).toBeGreaterThan(TOPICS.length);
    expect(all.messages[0]?.data).toEqual({ type: 'upToDate', at: expect.any(String) });

    const half = Math.floor(expected.length / 2);
    const rest = expected.slice(half + 1);
    const resumed = await follow(gantry, 'live.onAny', { lastEventId: expected[half]?.id ?? '' });
    await until(() => thingsOf(resumed).length === rest.length);
    expect(thingsOf(resumed)).toEqual(rest);

    // The id of a stream of another topic is a position in the same feed.
    const [alert] = thingsOf(each.watchlist);
    const changed = await follow(gantry, 'live.onAny', {
      input: { topics: ['incidents', 'events'] },
      lastEventId: alert?.id ?? '',
    });
    const later = expected.filter(
      (message) =>
        alert && inOrder(message, alert) > 0 && ['events', 'incidents'].includes(message.data.type),
    );
    await until(() => thingsOf(changed).length === later.length);
    expect(thingsOf(changed)).toEqual(later);
    await close(all, resumed, changed, ...Object.values(each));
  });

  it('sends only the requested topics', async () => {
    const some = await follow(gantry, 'live.onAny', {
      input: { topics: ['watchlist', 'sensors', 'sensors'] },
    });
    const all = await follow(gantry, 'live.onAny');
    await happen(gantry);
    await until(() => thingsOf(all).length === 5);
    const wanted = thingsOf(all).filter(({ data }) => ['watchlist', 'sensors'].includes(data.type));
    await until(() => thingsOf(some).length === wanted.length);
    expect(thingsOf(some)).toEqual(wanted);
    expect(wanted.map(({ data }) => data.type).sort()).toEqual(['sensors', 'watchlist']);
    await close(some, all);
  });

  it.each([
    ['none', { topics: [] }, 'topics'],
    ['one that does not exist', { topics: ['events', 'traffic'] }, 'topics.1'],
    ['something else than a list', { topics: 'events' }, 'topics'],
  ])('refuses as topics %s', async (_, input, path) => {
    const stream = await follow(gantry, 'live.onAny', { input });
    expect(stream.error).toMatchObject({ data: { code: 'BAD_REQUEST', issues: [{ path }] } });
    await stream.ended;
  });
});

describe('a stream of several topics after the service was restarted', () => {
  it('continues without a gap between messages of different topics', async () => {
    const log = pino({ level: 'silent' });
    const JWT_SECRET = 'the same secret before and after the restart';
    const { config: shared } = gantry.app.context;
    const config = { ...shared, DATA_DIR: `${shared.DATA_DIR}/restarted`, JWT_SECRET };
    const before = await createApp(config, log);
    const first = new Caller(await before.listen());
    // The other service uses the same database, so its streams show what the interrupted one should have sent.
    const each = await followEach(gantry);
    const cut = await follow(first, 'live.onAny');
    await Promise.all(Array.from({ length: 4 }, () => happen(first)));
    await until(() => thingsOf(cut).length >= 9);
    await before[Symbol.asyncDispose]();
    await cut.ended;
    expect(cut.error).toMatchObject({ data: { code: 'SERVICE_UNAVAILABLE' } });
    // As a client that had handled nine messages when it lost its connection.
    const taken = thingsOf(cut).slice(0, 9);
    await happen(gantry);

    await using after = await createApp(config, log);
    const second = new Caller(await after.listen());
    const resumed = await follow(second, 'live.onAny', { lastEventId: taken.at(-1)?.id ?? '' });
    await happen(second);
    await until(() => TOPICS.every((topic) => thingsOf(each[topic]).length === 6 * CAUSED[topic]));
    const expected = together(each);
    await until(() => taken.length + thingsOf(resumed).length >= expected.length);
    expect([...taken, ...thingsOf(resumed)]).toEqual(expected);
    expect(resumed.messages.filter(({ data }) => data.type === 'missed')).toEqual([]);
    await close(resumed, ...Object.values(each));
  });
});

describe('a stream of several topics that is not read', () => {
  it('receives the number of missed messages of all topics', async () => {
    const { id, apiKey } = await addSensor(gantry);
    const token = await gantry.tokenFor('ADMIN');
    // The events of this sensor must not change its status, because that would add messages.
    await gantry.ok('sensors.update', { id, requiresHeartbeats: true }, { token });
    const { hostname, port } = new URL(gantry.url);
    const input = encodeURIComponent(JSON.stringify({ json: { topics: ['events', 'sensors'] } }));
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.write(
      `GET /trpc/live.onAny?input=${input} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await until(() => text.includes('upToDate'));
    socket.pause();
    const sensors = await follow(gantry, 'live.onAny', { input: { topics: ['sensors'] } });
    const batches = 24;
    const events = Array.from({ length: 1_000 }, () => ({ eventType: 'VEHICLE_DETECTION' }));
    for (let batch = 0; batch < batches; batch++) {
      await gantry.ok('events.ingestBatch', { apiKey, events });
      const status = batch % 2 === 0 ? 'MAINTENANCE' : 'OFFLINE';
      await gantry.ok('sensors.update', { id, status }, { token });
    }
    await until(() => thingsOf(sensors).length === batches);
    socket.resume();
    await until(() => text.includes('"missed"'), 30_000);
    const last = await gantry.ingest(apiKey);
    await until(() => text.includes(last), 30_000);
    socket.destroy();
    const missed = [...text.matchAll(/"type":"missed","count":(\d+)/g)].map(([, count]) => Number(count));
    const received = [...text.matchAll(/"type":"(events|sensors)"/g)].map(([, topic]) => topic);
    expect(received).toContain('sensors');
    expect(received.length + missed.reduce((sum, count) => sum + count, 0)).toBe(batches * 1_001 + 1);
    await close(sensors);
  });
});

describe('the permission to follow topics', () => {
  it('leaves out topics that the role may not follow, and refuses them if they are requested', async () => {
    const token = await gantry.tokenFor('VIEWER');
    const stream = await follow(gantry, 'live.onAny', { token });
    const field = await follow(gantry, 'live.onAny', { token: await gantry.tokenFor('FIELD') });
    await happen(gantry);
    await until(() => thingsOf(field).length === 5);
    const open = thingsOf(field).filter(({ data }) => ['events', 'sensors'].includes(data.type));
    await until(() => thingsOf(stream).length === open.length);
    expect(thingsOf(stream)).toEqual(open);
    await close(stream, field);
    for (const topic of ['incidents', 'watchlist'] as const) {
      const single = await follow(gantry, SINGLE[topic], { token });
      const named = await follow(gantry, 'live.onAny', { token, input: { topics: ['events', topic] } });
      expect(named.error).toMatchObject({ data: { code: 'FORBIDDEN', httpStatus: 403 } });
      expect(named.error).toEqual(single.error);
      await Promise.all([single.ended, named.ended]);
    }
  });

  it('leaves out topics that are switched off, and refuses them if they are requested', async () => {
    await using few = await startGantry({ config: { FEATURES: 'realtime, watchlist' } });
    await watchPlate(few);
    const stream = await follow(few, 'live.onAny');
    await happen(few);
    await until(() => thingsOf(stream).length === 4);
    const types = thingsOf(stream).map(({ data }) => data.type);
    expect(types.sort()).toEqual(['events', 'events', 'sensors', 'watchlist']);
    await close(stream);
    const single = await follow(few, SINGLE.incidents);
    const named = await follow(few, 'live.onAny', { input: { topics: ['incidents'] } });
    expect(named.error).toMatchObject({ message: expect.stringContaining('"incidents" is disabled') });
    expect(named.error).toEqual(single.error);
    await Promise.all([single.ended, named.ended]);
  });

  it('is refused when realtime is switched off', async () => {
    await using none = await startGantry({ config: { FEATURES: 'incidents, watchlist' } });
    const stream = await follow(none, 'live.onAny');
    expect(stream.error).toMatchObject({ message: expect.stringContaining('"realtime" is disabled') });
    await stream.ended;
  });
});

describe('the message about a payload', () => {
  const feed = async function* (payload: object) {
    yield { id: '1.1.1.1', topic: 'sensors' as const, payload };
  };

  it('is one object for all streams of several topics, and another for streams of a single topic', async () => {
    const change = { sensorId: 's' };
    const names = { sensors: 'change' };
    const both = await Promise.all(
      [0, 1].map(async () => (await messagesByTopic(names, feed(change)).next()).value),
    );
    expect(both[0]?.[1]).toBe(both[1]?.[1]);
    expect(both[0]).toEqual(tracked('1.1.1.1', { type: 'sensors', change }));
    const { value: alone } = await messagesOf('change', feed(change)).next();
    expect(alone).toEqual(tracked('1.1.1.1', { type: 'change', change }));
  });
});
