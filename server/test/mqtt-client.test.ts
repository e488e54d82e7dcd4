import { randomUUID } from 'node:crypto';
import { connectAsync, type MqttClient } from 'mqtt';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { BrokerClient } from '../src/devices/mqtt-client.ts';
import { isTopicFilter, matchesTopic } from '../src/devices/topic.ts';
import { eventually } from './harness.ts';
import { type Broker, connectDevice, startBroker } from './mqtt-broker.ts';

const opened: AsyncDisposable[] = [];
const use = <Thing extends AsyncDisposable>(thing: Thing): Thing => {
  opened.push(thing);
  return thing;
};
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing[Symbol.asyncDispose]();
});

const broker = async (port?: number): Promise<Broker> => use(await startBroker(port));

/** Starts a client that keeps what it receives; `receive` replaces this. */
const client = (url: string, clientId: string, receive?: (body: string) => Promise<void>) => {
  const received: string[] = [];
  let isConnected = false;
  const made = new BrokerClient({
    address: { url, clientId },
    log: pino({ level: 'silent' }),
    receive: (_, body) => async () => {
      await receive?.(body.toString());
      received.push(body.toString());
    },
    report: (now) => (isConnected = now),
  });
  use(made);
  return {
    follow: (topics: ReadonlySet<string>) => made.follow(topics),
    end: () => made[Symbol.asyncDispose](),
    received,
    isConnected: () => isConnected,
  };
};

const connected = ({ isConnected }: { isConnected: () => boolean }) =>
  eventually(async () => isConnected(), Boolean);

/** Publishes a message until the client has received it: from then on, the broker knows its subscription. */
const publishUntilReceived = (
  device: MqttClient,
  { received }: { received: readonly string[] },
  topic: string,
  body: string,
  options: { retain?: boolean } = {},
) =>
  eventually(async () => {
    await device.publishAsync(topic, body, { qos: 1, ...options });
    return received.includes(body);
  }, Boolean);

describe('the MQTT client', () => {
  it('acknowledges a message when it is stored; the broker keeps the others for the next start', async () => {
    const { url } = await broker();
    const id = randomUUID();
    const first = client(url, id, (body) =>
      body === '2' ? new Promise(() => undefined) : Promise.resolve(),
    );
    first.follow(new Set(['cameras/+/events']));
    await connected(first);
    const device = await connectDevice(url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await publishUntilReceived(device, first, 'cameras/1/events', '1');
    await device.publishAsync('cameras/1/events', '2', { qos: 1 });
    await device.publishAsync('cameras/1/events', '3', { qos: 1 });
    await first.end();
    await device.publishAsync('cameras/1/events', '4', { qos: 1 });
    const second = client(url, id);
    second.follow(new Set(['cameras/+/events']));
    await eventually(
      async () => second.received,
      (bodies) => bodies.includes('4'),
    );
    expect(second.received.filter((body) => body !== '1')).toEqual(['2', '3', '4']);
  });

  it('tries again to store a message that could not be stored, before it receives others', async () => {
    const { url } = await broker();
    let failures = 2;
    const one = client(url, randomUUID(), async () => {
      if (failures-- > 0) throw new Error('away');
    });
    one.follow(new Set(['t']));
    await connected(one);
    const device = await connectDevice(url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await eventually(
      async () => {
        await device.publishAsync('t', 'a', { qos: 1 });
        return failures;
      },
      (left) => left < 2,
    );
    await device.publishAsync('t', 'b', { qos: 1 });
    await eventually(
      async () => one.received,
      (bodies) => bodies.includes('b'),
    );
    expect(one.received.at(-1)).toBe('b');
  });

  it('stores several messages at the same time, and acknowledges them in the order of their arrival', async () => {
    const { url } = await broker();
    const id = randomUUID();
    const waiting = new Map<string, () => void>();
    const one = client(url, id, (body) => new Promise((resolve) => waiting.set(body, resolve)));
    one.follow(new Set(['t']));
    await connected(one);
    const device = await connectDevice(url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await eventually(
      async () => {
        await device.publishAsync('t', 'first', { qos: 1 });
        return waiting.has('first');
      },
      (has) => has,
    );
    for (const body of ['a', 'b', 'c', 'd', 'e']) await device.publishAsync('t', body, { qos: 1 });
    await eventually(
      async () => waiting.size,
      (count) => count === 6,
    );
    for (const body of ['b', 'c', 'd', 'e']) waiting.get(body)?.();
    await eventually(
      async () => one.received.length,
      (count) => count === 4,
    );
    await one.end();
    // The first messages are not stored, and acknowledgements are in order, so the broker sends all of them at the next
    // start.
    const next = client(url, id);
    next.follow(new Set(['t']));
    await eventually(
      async () => next.received,
      (bodies) => bodies.includes('e'),
    );
    expect(next.received.filter((body) => body !== 'first')).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('does not receive a retained message again after it was connected again', async () => {
    const { url } = await broker();
    const id = randomUUID();
    const one = client(url, id);
    one.follow(new Set(['t']));
    await connected(one);
    const device = await connectDevice(url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await publishUntilReceived(device, one, 't', 'retained', { retain: true });
    // A subscription made later: the broker reads it after the acknowledgements of the retained message, which it
    // would otherwise send again as a message that was not acknowledged.
    one.follow(new Set(['t', 'u']));
    await publishUntilReceived(device, one, 'u', 'acknowledged');
    // The broker ends a connection when another client has the same id.
    const same = await connectAsync(url, { clientId: id, clean: false, reconnectPeriod: 0 });
    await same.endAsync();
    await eventually(
      async () => one.isConnected(),
      (is) => !is,
    );
    const before = one.received.length;
    await connected(one);
    await device.publishAsync('t', 'next', { qos: 1 });
    await eventually(
      async () => one.received,
      (bodies) => bodies.includes('next'),
    );
    expect(one.received.slice(before)).not.toContain('retained');
  });

  it('reconnects after the broker was killed, even to a broker that has lost its session', async () => {
    const first = await broker();
    const one = client(first.url, randomUUID());
    one.follow(new Set(['t/#']));
    await connected(one);
    await first.kill();
    await eventually(
      async () => one.isConnected(),
      (is) => !is,
    );
    const second = await broker(first.port);
    await connected(one);
    const device = await connectDevice(second.url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await publishUntilReceived(device, one, 't/x', 'again');
  });

  it('subscribes to other topics on request', async () => {
    const { url } = await broker();
    const one = client(url, randomUUID());
    one.follow(new Set(['a']));
    await connected(one);
    one.follow(new Set(['b']));
    const device = await connectDevice(url);
    use({ [Symbol.asyncDispose]: () => device.endAsync() });
    await eventually(
      async () => {
        await device.publishAsync('a', 'a', { qos: 1 });
        await device.publishAsync('b', 'b', { qos: 1 });
        return one.received.filter((body) => body === 'b').length;
      },
      (count) => count > 2,
    );
    expect(one.received.slice(-2)).toEqual(['b', 'b']);
  });
});

describe('topic filters', () => {
  it.each([
    ['a/b', 'a/b', true],
    ['a/+', 'a/b', true],
    ['a/+', 'a/b/c', false],
    ['a/#', 'a', true],
    ['a/#', 'a/b/c', true],
    ['#', '$SYS/x', false],
    ['+/b', 'a/b', true],
    ['a', 'a/b', false],
  ])('%s and %s', (filter, topic, matches) => {
    expect(matchesTopic(filter, topic)).toBe(matches);
  });

  it.each([
    ['a/+/#', true],
    ['a/#/b', false],
    ['a+', false],
    ['', false],
  ])('%s', (filter, isValid) => {
    expect(isTopicFilter(filter)).toBe(isValid);
  });
});
