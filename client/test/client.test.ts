import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createGantryClient, GantryError } from '@gantry/client';
import { describe, expect, it } from 'vitest';
import { ADMIN, sharedGantry } from '../../server/test/harness.ts';

const gantry = await sharedGantry();

/** A client, and the HTTP requests that it has made. */
const watched = (token?: string) => {
  const made: { path: string; init: RequestInit }[] = [];
  const client = createGantryClient({
    url: gantry.url,
    ...(token !== undefined && { token }),
    fetch: (url, init = {}) => {
      made.push({ path: new URL(String(url)).pathname, init });
      return fetch(url, init);
    },
  });
  return { client, api: client.api, made };
};

const failure = async (call: Promise<unknown>): Promise<GantryError> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof GantryError) return error;
  throw new Error(`Expected a GantryError, got ${String(error)}`);
};

describe('batching', () => {
  it('combines calls that are made together into one request', async () => {
    const { api, made } = watched();
    const [health, license, types] = await Promise.all([
      api.system.health.query(),
      api.system.getLicense.query(),
      api.events.getEventTypes.query(),
    ]);
    expect(health.status).toBe('healthy');
    expect(license.issuedAt).toBeInstanceOf(Date);
    expect(types).toContain('INCIDENT');
    expect(made.map(({ path }) => path)).toEqual([
      '/trpc/system.health,system.getLicense,events.getEventTypes',
    ]);
  });

  it('sends no more than 50 calls in one request', async () => {
    const { api, made } = watched();
    const answers = await Promise.all(Array.from({ length: 120 }, () => api.events.getEventTypes.query()));
    expect(answers).toHaveLength(120);
    expect(made.map(({ path }) => path.split(',').length)).toEqual([50, 50, 20]);
  });

  it('keeps addresses short, and sends a long input separately', async () => {
    const { api, made } = watched();
    const search = 'Łódź %_ '.repeat(24);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => api.sensors.getAll.query({ search: search.slice(0, 190) })),
    );
    expect(answers.every(({ total }) => total === 0)).toBe(true);
    expect(made.length).toBeGreaterThan(1);
    const long = await failure(api.sensors.getById.query({ id: 'x'.repeat(5000) }));
    expect(long).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: 'id' }] });
  });

  it('sends logins and calls of devices separately', async () => {
    const { client, api, made } = watched();
    const [user, refused] = await Promise.all([
      client.login(ADMIN.email, ADMIN.password),
      failure(api.events.ingest.mutate({ apiKey: 'x', eventType: 'INCIDENT' })),
      failure(api.sensors.heartbeat.mutate({ apiKey: 'x' })),
      api.system.health.query(),
      api.system.getSettings.query(),
    ]);
    expect(user.role).toBe('ADMIN');
    expect(refused).toMatchObject({ code: 'UNAUTHORIZED', message: 'Invalid API key' });
    expect(made.map(({ path }) => path).sort()).toEqual([
      '/trpc/auth.login',
      '/trpc/events.ingest',
      '/trpc/sensors.heartbeat',
      '/trpc/system.health,system.getSettings',
    ]);
  });
});

describe('the token', () => {
  it('is kept from login to logout, and invalid afterwards', async () => {
    const { client, api } = watched();
    expect(await failure(api.auth.me.query())).toMatchObject({ message: 'No token provided' });
    await client.login(ADMIN.email, ADMIN.password);
    expect(await api.auth.me.query()).toMatchObject({ email: ADMIN.email });
    const { token } = client;
    await client.logout();
    expect(client.token).toBeNull();
    expect(await failure(api.auth.me.query())).toMatchObject({ message: 'No token provided' });
    client.setToken(token);
    expect(await failure(api.auth.me.query())).toMatchObject({ message: 'Invalid or expired token' });
  });

  it('can be given, and exchanged for a new one', async () => {
    const token = await gantry.login(ADMIN.email, ADMIN.password);
    const { client, api } = watched(token);
    expect((await api.auth.me.query()).role).toBe('ADMIN');
    expect((await client.refresh()).email).toBe(ADMIN.email);
    expect(client.token).not.toBe(token);
    expect((await api.auth.me.query()).role).toBe('ADMIN');
  });

  it('is not changed by a failed login', async () => {
    const token = await gantry.tokenFor('VIEWER');
    const { client } = watched(token);
    const error = await failure(client.login(ADMIN.email, 'wrong'));
    expect(error).toMatchObject({ code: 'UNAUTHORIZED', httpStatus: 401, message: 'Invalid credentials' });
    expect(client.token).toBe(token);
  });
});

describe('inputs', () => {
  it('may use the same object twice', async () => {
    const { api, made } = watched(await gantry.tokenFor('ADMIN'));
    const sensor = { name: 'Twice', deviceId: 'twice-1', type: 'CAMERA' } as const;
    const { apiKey } = await api.sensors.create.mutate(sensor);
    const event = { eventType: 'INCIDENT', metadata: { lane: 1 } } as const;
    const { results } = await api.events.ingestBatch.mutate({ apiKey, events: [event, event] });
    expect(results).toMatchObject([{ duplicate: false }, { duplicate: false }]);
    expect(made.at(-1)?.init.body).not.toContain('referentialEqualities');
    const { total } = await api.events.getAll.query({ eventType: 'INCIDENT' });
    expect(total).toBe(2);
  });

  it('may be dates, and dates are returned as Date', async () => {
    const { api } = watched(await gantry.tokenFor('ADMIN'));
    const sensor = { name: 'Dates', deviceId: 'dates-1', type: 'ANPR' } as const;
    const { apiKey, id } = await api.sensors.create.mutate(sensor);
    const timestamp = new Date('2026-01-31T08:15:00.123Z');
    await api.events.ingest.mutate({ apiKey, eventType: 'PLATE_RECOGNITION', timestamp });
    const range = { sensorId: id, startDate: timestamp, endDate: timestamp };
    const { events } = await api.events.getAll.query(range);
    expect(events.map((event) => event.timestamp)).toEqual([timestamp]);
  });
});

describe('errors', () => {
  it('say which fields are wrong', async () => {
    const { api } = watched(await gantry.tokenFor('ADMIN'));
    const error = await failure(api.sensors.create.mutate({ name: 'x', deviceId: 'ok-1', type: 'RADAR' }));
    expect(error).toMatchObject({ name: 'GantryError', code: 'BAD_REQUEST', httpStatus: 400 });
    expect(error.issues).toEqual([{ path: 'name', message: 'Use at least 3 characters' }]);
    expect(error.message).toBe('Invalid input: name: Use at least 3 characters');
  });

  it('say what is forbidden, and what does not exist', async () => {
    const { api } = watched(await gantry.tokenFor('VIEWER'));
    const forbidden = await failure(api.users.getAll.query());
    expect(forbidden).toMatchObject({
      code: 'FORBIDDEN',
      httpStatus: 403,
      issues: [],
      retryAfter: undefined,
    });
    const missing = await failure(api.sensors.getById.query({ id: 'nothing' }));
    expect(missing).toMatchObject({ code: 'NOT_FOUND', httpStatus: 404, message: 'Sensor not found' });
  });

  it('say when to try again', async () => {
    const { client } = watched();
    const wrong = () => failure(client.login('guessed@gantry.local', 'wrong'));
    let error = await wrong();
    for (let attempt = 0; error.code === 'UNAUTHORIZED' && attempt < 50; attempt++) error = await wrong();
    expect(error).toMatchObject({ code: 'TOO_MANY_REQUESTS', httpStatus: 429 });
    expect(error.retryAfter).toBeGreaterThan(0);
  });

  it('distinguish an unreachable service from one that is not Gantry, and from an aborted call', async () => {
    const unreachable = createGantryClient('http://127.0.0.1:9');
    expect(await failure(unreachable.api.system.health.query())).toMatchObject({
      code: 'UNREACHABLE',
      httpStatus: undefined,
      message: expect.stringContaining('Cannot reach http://127.0.0.1:9'),
    });

    await using site = await serve('<h1>502</h1>', 'text/html');
    expect(await failure(createGantryClient(site.url).api.system.health.query())).toMatchObject({
      code: 'INVALID_RESPONSE',
      httpStatus: 502,
      message: expect.stringContaining('not JSON'),
    });

    await using other = await serve('{"hello":"world"}', 'application/json');
    const strange = await failure(createGantryClient(other.url).api.system.health.query());
    expect(strange).toMatchObject({ code: 'INVALID_RESPONSE', httpStatus: 502 });

    const aborting = new AbortController();
    const call = watched().api.system.health.query(undefined, { signal: aborting.signal });
    aborting.abort();
    expect(await failure(call)).toMatchObject({ code: 'ABORTED' });
  });

  it('are thrown in time when the service never answers', async () => {
    const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const client = createGantryClient({ url: `http://127.0.0.1:${port}`, timeoutMs: 200 });
    const error = await failure(client.api.system.health.query());
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('no answer within 0.2 s'),
    });
    silent.close();
  });
});

/** A web server that is not Gantry. */
const serve = async (body: string, type: string) => {
  const server = createServer((_request, response) => {
    response.writeHead(502, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

describe('unknown fields of an input', () => {
  it('are named to the client, with the position of their call in a batch', async () => {
    const named: (readonly string[])[] = [];
    const token = await gantry.tokenFor('ADMIN');
    const { api } = createGantryClient({
      url: gantry.url,
      token,
      onIgnored: (fields) => named.push(fields),
    });
    const wide = { name: 'Mast 8', deviceId: 'mast-8', type: 'RADAR' as const, country: 'NL' };
    await api.sensors.create.mutate(wide);
    expect(named).toEqual([['0.country']]);
    const filter = { search: 'Mast', region: 'north' };
    await Promise.all([api.system.health.query(), api.sensors.getAll.query(filter)]);
    expect(named.at(-1)).toEqual(['1.region']);
    await api.sensors.getAll.query({ search: 'Mast' });
    expect(named).toHaveLength(2);
  });
});
