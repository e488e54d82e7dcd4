import { setTimeout as sleep } from 'node:timers/promises';
import { createTRPCClient, httpBatchStreamLink, httpLink, TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { open, router } from '../src/api/procedures.ts';
import type { AppRouter } from '../src/api/router.ts';
import { closeServer, createServer } from '../src/http/server.ts';
import { sharedGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');

/** A client as in tRPC's documentation. */
const streaming = (headers: Record<string, string> = {}) =>
  createTRPCClient<AppRouter>({
    links: [httpBatchStreamLink({ url: `${gantry.url}/trpc`, transformer: superjson, headers })],
  });
const withToken = () => streaming({ authorization: `Bearer ${token}` });

const failure = async (call: Promise<unknown>) => {
  try {
    await call;
  } catch (error) {
    if (error instanceof TRPCClientError)
      return { message: error.message, data: error.data, code: error.shape?.code };
    throw error;
  }
  throw new Error('The call succeeded');
};

describe("tRPC's streaming link", () => {
  it('gets every value of a batch, with its dates', async () => {
    const api = withToken();
    const [health, types, page, me] = await Promise.all([
      api.system.health.query(),
      api.events.getEventTypes.query(),
      api.sensors.getAll.query({ take: 5 }),
      api.auth.me.query(),
    ]);
    expect(health.timestamp).toBeInstanceOf(Date);
    expect(types).toHaveLength(6);
    expect(page).toEqual({ sensors: [], total: 0, pageCount: 0 });
    expect(me.role).toBe('ADMIN');
  });

  it('sends mutations, Dates and undefined', async () => {
    const api = withToken();
    const [first, second] = await Promise.all([
      api.sensors.create.mutate({ name: 'One', deviceId: 'one', type: 'RADAR', description: undefined }),
      api.sensors.create.mutate({ name: 'Two', deviceId: 'two', type: 'RADAR', eventsPerMin: 5 }),
    ]);
    expect(first.createdAt).toBeInstanceOf(Date);
    expect(second.eventsPerMin).toBe(5);
    const timestamp = new Date('2026-02-03T04:05:06.789Z');
    const { eventId } = await api.events.ingest.mutate({
      apiKey: first.apiKey,
      eventType: 'INCIDENT',
      timestamp,
      metadata: { 'a.b': { c: 1 } },
    });
    const stored = await api.events.getById.query({ id: eventId });
    expect(stored.timestamp).toEqual(timestamp);
    expect(stored.metadata).toEqual({ 'a.b': { c: 1 } });
    expect(await api.events.getStats.query({ startDate: timestamp })).toMatchObject({ total: 1 });
  });

  it('gets the documented error of each call that fails, and the values of the others', async () => {
    const api = streaming();
    const [types, me, sensor, page] = await Promise.all([
      api.events.getEventTypes.query(),
      failure(api.auth.me.query()),
      failure(api.sensors.getById.query({ id: 'nobody' })),
      failure(api.sensors.getAll.query({ take: 0 })),
    ]);
    expect(types).toHaveLength(6);
    expect(me).toEqual({
      message: 'No token provided',
      code: -32001,
      data: { code: 'UNAUTHORIZED', httpStatus: 401 },
    });
    expect(sensor).toMatchObject({
      message: 'Sensor not found',
      data: { code: 'NOT_FOUND', httpStatus: 404 },
    });
    expect(page.data).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'take' }] });
  });

  it('is refused as a whole like any batch', async () => {
    const api = streaming();
    const calls = Array.from({ length: 51 }, () => failure(api.events.getEventTypes.query()));
    expect((await Promise.all(calls))[0]?.message).toBe('A batch may contain at most 50 calls');
    const logins = [1, 2].map(() => failure(api.auth.login.mutate({ email: 'x', password: 'x' })));
    expect((await Promise.all(logins))[0]?.message).toBe('A batch may contain at most one auth.login');
  });
});

describe('a stream of answers', () => {
  const lines = async (path: string, init: RequestInit = {}) => {
    const headers = { 'trpc-accept': 'application/jsonl', ...init.headers };
    const response = await fetch(`${gantry.url}/trpc/${path}`, { ...init, headers });
    const text = await response.text();
    const parsed = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return { status: response.status, headers: response.headers, lines: parsed };
  };
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    lines(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

  it('keeps the order of checks: an anonymous caller receives no information about the input', async () => {
    for (const body of ['{"0":', '{"0":{"json":1,"meta":{"custom":{}}}}', '['.repeat(1000)]) {
      const answer = await post('sensors.create,auth.login?batch=1', body);
      expect(answer.status).toBe(200);
      const errors = Object.fromEntries(
        answer.lines.slice(1).map(({ json: [position, , [[{ error }]]] }) => [position, error]),
      );
      expect(errors[0].message).toBe('No token provided');
      expect(errors[1].data.httpStatus).toBe(400);
    }
  });

  it.each([
    ['hostile meta', '{"0":{"json":{"a":[]},"meta":{"values":{"a.4294967294":["undefined"]}}}}'],
    ['a prototype', '{"0":{"json":{"__proto__":{"admin":true}}}}'],
    ['deep nesting', `{"0":{"json":${'['.repeat(100)}${']'.repeat(100)}}}`],
    ['a list for an object', '[{"json":{}}]'],
    ['no wrapper', '{"0":{"email":"x","password":"x"}}'],
  ])('refuses %s like any other request', async (_, body) => {
    const { lines: answer } = await post('auth.login?batch=1', body);
    expect(answer).toHaveLength(2);
    expect(answer[1].json[2][0][0].error.data).toMatchObject({ code: 'BAD_REQUEST', httpStatus: 400 });
  });

  it('has the headers of every answer', async () => {
    const { headers } = await lines('system.health?batch=1', {
      headers: { origin: 'http://localhost:3000' },
    });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  });

  it('can be requested by Accept as well', async () => {
    const { lines: answer } = await lines('events.getEventTypes?batch=1', {
      headers: { 'trpc-accept': '', accept: 'application/jsonl' },
    });
    expect(answer[0]).toEqual({ json: { 0: [[0], [null, 0, 0]] } });
    expect(answer[1].json[2][0][0].result.data).toHaveLength(6);
  });

  it('of one unbatched call is a plain answer', async () => {
    const { lines: answer } = await lines('events.getEventTypes');
    expect(Object.keys(answer[0])).toEqual(['result']);
  });

  it('sends each answer when it is ready, not when all are', async () => {
    let release = (_: number): void => undefined;
    const released = new Promise<number>((resolve) => {
      release = resolve;
    });
    const slow = router({
      quick: open.output(z.number()).query(() => 1),
      slow: open.output(z.number()).query(() => released),
    });
    const server = await createServer(gantry.app.context, slow);
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const api = createTRPCClient<typeof slow>({
      links: [httpBatchStreamLink({ url: `${url}/trpc`, transformer: superjson })],
    });
    let isOver = false;
    const later = api.slow.query().finally(() => {
      isOver = true;
    });
    expect(await api.quick.query()).toBe(1);
    expect(isOver).toBe(false);
    release(2);
    expect(await later).toBe(2);
    await closeServer(server);
  });
});

describe("tRPC's plain link", () => {
  it('requires nothing', async () => {
    const api = createTRPCClient<AppRouter>({
      links: [
        httpLink({
          url: `${gantry.url}/trpc`,
          transformer: superjson,
          headers: { authorization: `Bearer ${token}` },
        }),
      ],
    });
    expect((await api.system.health.query()).timestamp).toBeInstanceOf(Date);
    expect((await api.auth.refreshToken.mutate()).expiresIn).toBe(86_400);
    expect((await failure(api.sensors.delete.mutate({ id: 'x' }))).data).toEqual({
      code: 'NOT_FOUND',
      httpStatus: 404,
    });
  });
});

describe('a subscription', () => {
  it('is answered as server-sent events, and ends when its client leaves', async () => {
    let ended = false;
    const described = open.meta({ message: z.date() }).input(z.object({ from: z.date() }));
    const ticking = router({
      ticks: described.subscription(async function* ({ input, signal }) {
        try {
          for (let tick = 0; !signal?.aborted; tick++) {
            yield new Date(input.from.getTime() + tick);
            await sleep(10);
          }
        } finally {
          ended = true;
        }
      }),
    });
    const server = await createServer(gantry.app.context, ticking);
    const url = await server.listen({ host: '127.0.0.1', port: 0 });
    const input = JSON.stringify(superjson.serialize({ from: new Date(0) }));
    const leaving = new AbortController();
    const response = await fetch(`${url}/trpc/ticks?input=${encodeURIComponent(input)}`, {
      headers: { accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('00.002Z')) text += (await reader?.read())?.value ?? '';
    expect(text).toContain('"json":"1970-01-01T00:00:00.000Z"');
    leaving.abort();
    for (const deadline = Date.now() + 5_000; !ended && Date.now() < deadline; ) await sleep(10);
    expect(ended).toBe(true);
    await closeServer(server);
  });
});
