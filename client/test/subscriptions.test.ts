import { createGantryClient, GantryError } from '@gantry/client';
import { describe, expect, it } from 'vitest';
import { ADMIN, eventually, sharedGantry } from '../../server/test/harness.ts';

const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();

type Message = { type: string; change?: { incident: { title: string; openedAt: Date } } };

describe('a subscription', () => {
  it('sends messages with their types, and the token in a header', async () => {
    const addresses: string[] = [];
    const client = createGantryClient({
      url: gantry.url,
      fetch: (url, init) => {
        addresses.push(String(url));
        return fetch(url, init);
      },
    });
    await client.login(ADMIN.email, ADMIN.password);
    const messages: Message[] = [];
    const subscription = client.api.incidents.onChanged.subscribe(
      {},
      { onData: ({ data }) => messages.push(data) },
    );
    await eventually(
      async () => messages.length,
      (length) => length === 1,
    );
    await client.api.incidents.create.mutate({ title: 'Lorry on its side', type: 'COLLISION' });
    await eventually(
      async () => messages.length,
      (length) => length === 2,
    );
    subscription.unsubscribe();
    expect(messages[0]?.type).toBe('upToDate');
    expect(messages[1]?.change?.incident).toMatchObject({
      title: 'Lorry on its side',
      openedAt: expect.any(Date),
    });
    expect(addresses.join(' ')).not.toContain(client.token);
  });

  it('delivers all topics in one stream, each message with the type of its topic', async () => {
    const client = createGantryClient(gantry.url);
    await client.login(ADMIN.email, ADMIN.password);
    const received: string[] = [];
    let isReady = false;
    const subscription = client.api.live.onAny.subscribe(
      { topics: ['events', 'sensors', 'incidents', 'watchlist'] },
      {
        onData: ({ data }) => {
          switch (data.type) {
            case 'events':
              return received.push(`${data.event.eventType} at ${data.event.timestamp instanceof Date}`);
            case 'sensors':
              return received.push(`${data.change.from} to ${data.change.to}`);
            case 'incidents':
              return received.push(`${data.change.action} ${data.change.incident.status}`);
            case 'watchlist':
              return received.push(`${data.alert.priority} ${data.alert.licensePlateNumber}`);
            case 'missed':
              return received.push(`missed ${data.count}`);
            case 'upToDate':
              isReady = true;
          }
        },
      },
    );
    await eventually(
      async () => isReady,
      (is) => is,
    );
    const has = (count: number) =>
      eventually(
        async () => received.length,
        (length) => length === count,
      );
    await client.api.watchlist.create.mutate({ pattern: 'ANY 1', reason: 'stolen', priority: 'HIGH' });
    await client.api.sensors.heartbeat.mutate({ apiKey });
    await has(1);
    await client.api.incidents.create.mutate({ title: 'Oil on the road', type: 'OBSTRUCTION' });
    await has(2);
    const plate = { eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'ANY 1' } as const;
    await client.api.events.ingest.mutate({ apiKey, ...plate });
    await has(4);
    subscription.unsubscribe();
    expect(received).toEqual(['OFFLINE to ONLINE', 'create OPEN', 'PLATE_RECOGNITION at true', 'HIGH ANY 1']);
  });

  it.each([
    ['its connection was cut', 0],
    ['a proxy answered 502 during a restart', 2],
  ])('continues after %s, without a gap', async (_, refusals) => {
    const cuts: (() => Promise<void>)[] = [];
    const errors: unknown[] = [];
    let refused = 0;
    const client = createGantryClient({
      url: gantry.url,
      fetch: async (url, init) => {
        const isStream = String(url).includes('onIngested');
        if (isStream && cuts.length > 0 && refused < refusals) {
          refused++;
          return new Response('Bad Gateway', { status: 502 });
        }
        const response = await fetch(url, init);
        if (!isStream || !response.body) return response;
        const { readable, writable } = new TransformStream();
        const network = new AbortController();
        response.body.pipeTo(writable, { signal: network.signal }).catch(() => undefined);
        cuts.push(async () => network.abort(new TypeError('the network is gone')));
        return new Response(readable, response);
      },
    });
    await client.login(ADMIN.email, ADMIN.password);
    const received: string[] = [];
    let notes = 0;
    const subscription = client.api.events.onIngested.subscribe(
      {},
      {
        onData: ({ data }) => {
          if (data.type === 'event') received.push(data.event.id);
          else notes++;
        },
        onError: (error) => errors.push(error),
      },
    );
    await eventually(
      async () => notes,
      (count) => count === 1,
    );
    const sent: string[] = [];
    const send = async () => {
      const { eventId } = await client.api.events.ingest.mutate({ apiKey, eventType: 'SPEED_DETECTION' });
      sent.push(eventId);
    };
    await send();
    await eventually(
      async () => received.length,
      (length) => length === 1,
    );
    await cuts[0]?.();
    for (let n = 0; n < 10; n++) await send();
    await eventually(
      async () => received.length,
      (length) => length >= sent.length,
      20_000,
    );
    subscription.unsubscribe();
    expect(cuts.length).toBeGreaterThan(1);
    expect(received).toEqual(sent);
    expect([refused, errors]).toEqual([refusals, []]);
  });

  it('that is refused throws a GantryError', async () => {
    const client = createGantryClient({ url: gantry.url, token: 'nonsense' });
    const error = await new Promise<unknown>((resolve) => {
      client.api.events.onIngested.subscribe({}, { onError: resolve });
    });
    expect(error).toBeInstanceOf(GantryError);
    expect(error).toMatchObject({
      code: 'UNAUTHORIZED',
      httpStatus: 401,
      message: 'Invalid or expired token',
    });
  });
});
