import type { AppRouter } from '@gantry/server/router';
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client';
import superjson from 'superjson';
import { describe, expect, it } from 'vitest';
import { sharedGantry } from '../../server/test/harness.ts';

const gantry = await sharedGantry();
const headers: { authorization: string } = { authorization: `Bearer ${await gantry.tokenFor('ADMIN')}` };

/** A fetch that counts the requests it makes. */
const counting = () => {
  const made: string[] = [];
  const counted: typeof fetch = (url, init) => {
    made.push(String(url));
    return fetch(url, init);
  };
  return { made, fetch: counted };
};

const options = () => ({ url: `${gantry.url}/trpc`, transformer: superjson, headers });

const links = {
  httpLink: (counted: typeof fetch) => httpLink<AppRouter>({ ...options(), fetch: counted }),
  'httpBatchLink with the Accept header': (counted: typeof fetch) =>
    httpBatchLink<AppRouter>({
      ...options(),
      headers: { ...headers, accept: 'application/vnd.trpc.batch+json' },
      fetch: counted,
    }),
  httpBatchStreamLink: (counted: typeof fetch) =>
    httpBatchStreamLink<AppRouter>({ ...options(), fetch: counted }),
  'the same with the Accept header': (counted: typeof fetch) =>
    httpBatchStreamLink<AppRouter>({ ...options(), streamHeader: 'accept', fetch: counted }),
};

describe.each(Object.entries(links))('a standard tRPC client with %s', (name, link) => {
  it('queries, mutates and gets dates as Date', async () => {
    const { fetch: counted } = counting();
    const api = createTRPCClient<AppRouter>({ links: [link(counted)] });
    const health = await api.system.health.query();
    expect(health.timestamp).toBeInstanceOf(Date);
    const deviceId = `stock-${name}`.slice(0, 50);
    const created = await api.sensors.create.mutate({ name: 'Stock sensor', deviceId, type: 'RADAR' });
    expect(created.createdAt).toBeInstanceOf(Date);
    const found = await api.sensors.getById.query({ id: created.id });
    expect(found).toMatchObject({ deviceId, status: 'OFFLINE', lastHeartbeat: null });
  });

  it('sends an object that occurs twice in an input', async () => {
    const { fetch: counted } = counting();
    const api = createTRPCClient<AppRouter>({ links: [link(counted)] });
    const now = new Date();
    expect((await api.events.getStats.query({ startDate: now, endDate: now })).total).toBe(0);
  });

  it('gets the result of one call and the failure of another that were made together', async () => {
    const { fetch: counted, made } = counting();
    const api = createTRPCClient<AppRouter>({ links: [link(counted)] });
    const [me, missing] = await Promise.allSettled([
      api.auth.me.query(),
      api.sensors.getById.query({ id: 'no such sensor' }),
    ]);
    expect(me).toMatchObject({ status: 'fulfilled', value: { role: 'ADMIN' } });
    expect(missing).toMatchObject({
      status: 'rejected',
      reason: { message: 'Sensor not found', data: { code: 'NOT_FOUND', httpStatus: 404 } },
    });
    expect(made).toHaveLength(name === 'httpLink' ? 2 : 1);
  });
});

it('a page of another origin may send the headers of httpBatchStreamLink with the Accept header', async () => {
  const sent = new Set<string>();
  const noting: typeof fetch = (url, init) => {
    for (const name of new Headers(init?.headers).keys()) sent.add(name);
    return fetch(url, init);
  };
  const link = httpBatchStreamLink<AppRouter>({ ...options(), streamHeader: 'accept', fetch: noting });
  await createTRPCClient<AppRouter>({ links: [link] }).auth.me.query();
  const { headers: preflight } = await gantry.fetch('/trpc/auth.me', {
    method: 'OPTIONS',
    headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' },
  });
  const allowed = preflight.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? [];
  // Accept needs no permission: CORS always allows it.
  expect([...sent].filter((name) => name !== 'accept' && !allowed.includes(name))).toEqual([]);
});
