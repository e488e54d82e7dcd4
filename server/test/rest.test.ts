import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { appRouter } from '../src/api/router.ts';
import { describeProcedure } from '../src/http/docs/procedures.ts';
import { routes } from '../src/http/rest/routes.ts';
import { ADMIN, eventually, sharedGantry } from './harness.ts';
import { requestRaw } from './raw-http.ts';

const EVENT = { eventType: 'VEHICLE_DETECTION' };
const KEYED = { ...EVENT, timestamp: '2026-03-01T10:00:00.000Z' };

const gantry = await sharedGantry({
  config: { WEB_ORIGIN: 'https://console.example.org', EVENT_RATE_FACTOR: '1' },
});
const token = await gantry.tokenFor('ADMIN');
const sensor: { id: string; apiKey: string } = await gantry.ok(
  'sensors.create',
  { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA', eventsPerMin: 100_000 },
  { token },
);

const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(`${gantry.url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers as a client without types does
  const json: any = type.includes('json') && text !== '' ? JSON.parse(text) : null;
  return { status: response.status, headers: response.headers, type, text, json };
};
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const asUser = (method: string, path: string, body?: unknown) => send(method, path, body, bearer(token));
const asDevice = (method: string, path: string, body?: unknown) =>
  send(method, path, body, { 'x-api-key': sensor.apiKey });
const problem = (status: number, code: string) => ({
  type: 'about:blank',
  title: expect.any(String),
  status,
  detail: expect.any(String),
  code,
  requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
});

describe('the table of routes', () => {
  it('names procedures that exist, and fields of their inputs', () => {
    for (const { path, procedure } of routes) {
      const document = describeProcedure(appRouter, procedure);
      const fields = Object.keys((document?.input?.properties ?? {}) as object);
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) expect(fields, path).toContain(name);
      expect(document, procedure).not.toBeNull();
    }
    const addresses = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});

describe('POST /v1/events', () => {
  it('stores an event with the key in either header or the body, and returns its address', async () => {
    const headers = [{ 'x-api-key': sensor.apiKey }, bearer(sensor.apiKey)];
    for (const each of headers) {
      const { status, json, headers: sent } = await send('POST', '/v1/events', EVENT, each);
      expect(status).toBe(201);
      expect(json).toEqual({ success: true, eventId: expect.any(String) });
      expect(sent.get('location')).toBe(`events/${json.eventId}`);
      const there = new URL(sent.get('location') ?? '', `${gantry.url}/v1/events`);
      expect((await asUser('GET', there.pathname)).json).toMatchObject({
        id: json.eventId,
        timestamp: expect.stringMatching(/Z$/),
      });
    }
    expect((await send('POST', '/v1/events', { ...EVENT, apiKey: sensor.apiKey })).status).toBe(201);
  });

  it('returns an address that leads to the event when its own ends with a slash', async () => {
    const { json, headers } = await send('POST', '/v1/events/', EVENT, bearer(sensor.apiKey));
    const there = new URL(headers.get('location') ?? '', `${gantry.url}/v1/events/`);
    expect(there.pathname).toBe(`/v1/events/${json.eventId}`);
  });

  it('stores a repeated event once, with the key in the body or the header', async () => {
    const key = randomUUID();
    const one = await asDevice('POST', '/v1/events', { ...KEYED, idempotencyKey: key });
    const again = await send('POST', '/v1/events', KEYED, {
      'x-api-key': sensor.apiKey,
      'idempotency-key': key,
    });
    expect(again.json).toEqual(one.json);
    const other = await asDevice('POST', '/v1/events', {
      ...KEYED,
      idempotencyKey: key,
      description: 'other',
    });
    expect(other.status).toBe(409);
    expect(other.json).toEqual(problem(409, 'CONFLICT'));
  });

  it('refuses a key in the header for an array, and one that differs from the key in the body', async () => {
    const withHeader = (body: unknown) =>
      send('POST', '/v1/events', body, { 'x-api-key': sensor.apiKey, 'idempotency-key': 'header' });
    const array = await withHeader([KEYED]);
    expect(array.json).toEqual(problem(400, 'BAD_REQUEST'));
    expect(array.json.detail).toContain('give each event of the array an idempotencyKey of its own');
    const differing = await withHeader({ ...KEYED, idempotencyKey: 'body' });
    expect(differing.json).toEqual(problem(400, 'BAD_REQUEST'));
    expect(differing.json.detail).toContain('send one of them');
    expect((await withHeader({ ...KEYED, idempotencyKey: 'header' })).status).toBe(201);
    expect((await withHeader({ ...KEYED, events: [] })).status).toBe(201);
  });

  it('accepts an array as a batch, and reports which events were refused', async () => {
    const all = await asDevice('POST', '/v1/events', [EVENT, { ...EVENT, plate: 'x' }]);
    expect(all.status).toBe(200);
    expect(all.json).toMatchObject({ success: true, results: [{}, { warnings: [{ path: 'plate' }] }] });
    const some = await asDevice('POST', '/v1/events', ' \n [{}, {"eventType": "INCIDENT"}]');
    expect(some.status).toBe(207);
    expect(some.json.results).toMatchObject([{ error: { code: 'BAD_REQUEST' } }, { duplicate: false }]);
    expect((await asDevice('POST', '/v1/events', [])).status).toBe(400);
  });

  it.each<[string, unknown, number, string]>([
    ['an invalid field', { eventType: 'X' }, 400, 'BAD_REQUEST'],
    ['a text', '"text"', 400, 'BAD_REQUEST'],
    ['broken JSON', '{', 400, 'PARSE_ERROR'],
    ['a prototype', '{"__proto__": {}}', 400, 'BAD_REQUEST'],
  ])('answers %s with a problem', async (_, body, status, code) => {
    const answer = await asDevice('POST', '/v1/events', body);
    expect(answer.type).toBe('application/problem+json; charset=utf-8');
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject(problem(status, code));
  });

  it('refuses unknown and missing keys, other media types, and bodies that are too large', async () => {
    const missing = await send('POST', '/v1/events', EVENT);
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(missing.json.detail).toContain('x-api-key');
    expect((await send('POST', '/v1/events', EVENT, bearer('0'.repeat(64)))).status).toBe(401);
    const text = await send('POST', '/v1/events', EVENT, {
      'x-api-key': sensor.apiKey,
      'content-type': 'text/plain',
    });
    expect(text.json).toEqual(problem(415, 'UNSUPPORTED_MEDIA_TYPE'));
    const large = await asDevice('POST', '/v1/events', `"${'x'.repeat(10 * 1024 * 1024)}"`);
    expect(large.json).toEqual(problem(413, 'PAYLOAD_TOO_LARGE'));
  });

  it('limits the rate as events.ingest does', async () => {
    const limited = await gantry.ok(
      'sensors.create',
      { name: 'Mast 8', deviceId: randomUUID(), type: 'CAMERA', eventsPerMin: 1 },
      { token },
    );
    const many = Array.from({ length: 1_000 }, () => EVENT);
    const answers = await eventually(
      () => send('POST', '/v1/events', many, bearer(limited.apiKey)),
      ({ status }) => status === 429,
    );
    expect(answers.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answers.json).toEqual(problem(429, 'TOO_MANY_REQUESTS'));
  });
});

describe('heartbeats', () => {
  it.each(['GET', 'HEAD', 'POST'])('can be sent with %s and the key in a header', async (method) => {
    const { id, apiKey } = await gantry.ok(
      'sensors.create',
      { name: 'Mast 9', deviceId: randomUUID(), type: 'RADAR' },
      { token },
    );
    const { status, text } = await send(method, '/v1/heartbeat', undefined, bearer(apiKey));
    expect(status).toBe(200);
    if (method === 'HEAD') expect(text).toBe('');
    else expect(JSON.parse(text)).toMatchObject({ success: true, status: 'ONLINE' });
    expect((await gantry.ok('sensors.getById', { id })).lastHeartbeat).not.toBeNull();
  });

  // At the end of the run, the logs of all services are searched for the keys of all sensors, including this one.
  it('can have the key in the address', async () => {
    const { status, json } = await send('GET', `/v1/heartbeat?apiKey=${sensor.apiKey}&firmware=2.1`);
    expect([status, json.status]).toEqual([200, 'ONLINE']);
    expect(await gantry.ok('sensors.getById', { id: sensor.id })).toMatchObject({ firmware: '2.1' });
    const wrong = await send('GET', `/v1/heartbeat?apiKey=${'f'.repeat(64)}`);
    expect(wrong.json).toEqual({ ...problem(401, 'UNAUTHORIZED'), detail: 'Invalid API key' });
    expect((await send('GET', `/v1/heartbeats?apiKey=${sensor.apiKey}`)).text).not.toContain(sensor.apiKey);
    expect((await send('HEAD', '/v1/heartbeat')).status).toBe(401);
  });
});

describe('reading', () => {
  it('reads filters from the address, as texts, numbers and booleans', async () => {
    await asDevice('POST', '/v1/events', { ...EVENT, licensePlateNumber: 'REST 1' });
    const { status, json } = await asUser(
      'GET',
      '/v1/events?licensePlateNumber=REST%201&take=1&processed=false&sortOrder=asc',
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({ total: 1, pageCount: 1, events: [{ licensePlateNumber: 'REST 1' }] });
    expect((await asUser('GET', '/v1/incidents?status=OPEN&status=CLOSED')).status).toBe(200);
    expect((await asUser('GET', '/v1/events/recent?limit=2')).json).toHaveLength(2);
    expect((await send('GET', '/v1/events/types')).json).toContain('INCIDENT');
    expect((await send('GET', '/v1/health')).json).toMatchObject({ status: 'healthy' });
    const flow = '/v1/traffic/flow?startDate=2026-01-01&endDate=2026-01-02';
    expect((await asUser('GET', `${flow}&sensorId=${sensor.id}`)).status).toBe(200);
  });

  it('refuses unknown parameters and wrong values by name', async () => {
    const misspelt = await asUser('GET', '/v1/events?sensorID=1');
    expect(misspelt.json).toMatchObject({ status: 400, issues: [{ path: 'sensorID' }] });
    const wrong = await asUser('GET', '/v1/events?take=many&processed=perhaps');
    expect(wrong.json.issues.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining(['take', 'processed']),
    );
    const repeated = await asUser('GET', '/v1/events?eventType=INCIDENT&eventType=SPEED_DETECTION');
    expect(repeated.json).toMatchObject({
      status: 400,
      detail: 'Send eventType once: it is not a list',
      issues: [{ path: 'eventType' }],
    });
    expect((await asUser('GET', '/v1/events/%E0%A4%A')).status).toBe(400);
  });

  it('requires a token, and answers HEAD without a body', async () => {
    expect((await send('GET', '/v1/events')).json).toEqual({
      ...problem(401, 'UNAUTHORIZED'),
      detail: 'No token provided',
    });
    const whole = await asUser('GET', '/v1/sensors');
    const head = await asUser('HEAD', '/v1/sensors');
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(whole.headers.get('content-length'));
  });
});

describe('changing', () => {
  it('creates, changes and deletes a sensor', async () => {
    const made = await asUser('POST', '/v1/sensors', {
      name: 'Mast 10',
      deviceId: randomUUID(),
      type: 'ANPR',
    });
    expect(made.status).toBe(201);
    const path = `/v1/sensors/${made.json.id}`;
    expect(made.headers.get('location')).toBe(`sensors/${made.json.id}`);
    const changed = await asUser('PATCH', path, { name: 'Mast 11', id: 'ignored' });
    expect(changed.json).toMatchObject({ id: made.json.id, name: 'Mast 11' });
    const gone = await asUser('DELETE', path);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await asUser('GET', path)).json).toEqual({
      ...problem(404, 'NOT_FOUND'),
      detail: 'Sensor not found',
    });
  });

  it('marks events, and moves an incident through its states', async () => {
    const { json: stored } = await asDevice('POST', '/v1/events', { ...EVENT, severity: 'LOW' });
    expect((await asUser('PUT', `/v1/events/${stored.eventId}/processed`)).status).toBe(204);
    expect((await asUser('GET', `/v1/events/${stored.eventId}`)).json.processed).toBe(true);
    const incident = await asUser('POST', '/v1/incidents', {
      title: 'Debris',
      type: 'OBSTRUCTION',
      severity: 'LOW',
    });
    expect(incident.status).toBe(201);
    const path = `/v1/incidents/${incident.json.id}`;
    expect((await asUser('POST', `${path}/acknowledge`)).json.status).toBe('ACKNOWLEDGED');
    expect((await asUser('POST', `${path}/reopen`, { note: 'x' })).status).toBe(409);
  });
});

describe('addresses', () => {
  it('that do not exist, and methods that they do not support, are refused', async () => {
    for (const path of ['/v1/nothing', '/v1/', '/v1', '/v1?page=1'])
      expect((await send('GET', path)).json).toEqual(problem(404, 'NOT_FOUND'));
    const wrong = await send('DELETE', '/v1/events');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD, OPTIONS']);
    expect(wrong.json).toEqual(problem(405, 'METHOD_NOT_SUPPORTED'));
    const options = await send('OPTIONS', '/v1/sensors/1');
    expect([options.status, options.headers.get('allow')]).toEqual([
      204,
      'GET, PATCH, DELETE, HEAD, OPTIONS',
    ]);
  });

  /** Sent without a library, which would rewrite the URL. */
  it.each<[string, string, number, string | null]>([
    ['GET', '/v1/events', 401, null],
    ['GET', '/v1/events/', 401, null],
    ['GET', '/v1/events//', 404, null],
    ['GET', '//v1/events', 404, null],
    ['GET', '/v1//events', 404, null],
    ['GET', '/V1/events', 404, null],
    ['GET', '/v1/Events', 404, null],
    ['GET', '/v1/%65vents', 404, null],
    ['GET', '/v1/events%2Frecent', 404, null],
    ['GET', '/v1/events/x%2Fhistory', 401, null],
    ['GET', '/v1/events/types', 200, null],
    ['GET', '/v1/events/types/', 200, null],
    ['GET', '/v1/events/%74ypes', 401, null],
    ['GET', '/v1/events/types/history', 401, null],
    ['GET', '/v1/events/types?x=1', 400, null],
    ['GET', '/v1/events/types#x', 400, null],
    ['GET', 'http://elsewhere/v1/events/types', 200, null],
    ['GET', `/v1/events/${'x'.repeat(5_000)}`, 401, null],
    ['GET', '/v1/events/x/nothing', 404, null],
    ['GET', '/v1/events/x/history/more', 404, null],
    ['GET', '/v1/events/:id', 401, null],
    ['GET', '/v1/events/*', 401, null],
    ['GET', '/v1/events/x;y', 401, null],
    ['GET', '/v1/events/%E0%A4%A', 400, null],
    ['GET', '/v1/events/%', 400, null],
    ['DELETE', '/v1/events/%zz/review', 400, null],
    ['PATCH', '/v1/events/%zz', 400, null],
    ['GET', '/v1/%zz', 404, null],
    ['GET', '/v1/nothing/%zz', 404, null],
    ['HEAD', '/v1/events', 401, null],
    ['HEAD', '/v1/events/types', 200, null],
    ['HEAD', '/v1/nothing', 404, null],
    ['HEAD', '/v1/login', 405, 'POST, OPTIONS'],
    ['DELETE', '/v1/events/recent', 405, 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/locations/', 405, 'GET, POST, HEAD, OPTIONS'],
    ['TRACE', '/v1/locations', 405, 'GET, POST, HEAD, OPTIONS'],
    ['PROPFIND', '/v1/events/x/review', 405, 'PUT, DELETE, OPTIONS'],
    ['PATCH', '/v1/nothing', 404, null],
    ['OPTIONS', '/v1/events', 204, 'POST, GET, HEAD, OPTIONS'],
    ['OPTIONS', '/v1/events/x/review/', 204, 'PUT, DELETE, OPTIONS'],
    ['OPTIONS', '/v1/events/%zz', 400, null],
    ['OPTIONS', '/v1/nothing', 404, null],
    ['OPTIONS', '/v1', 404, null],
  ])('%s %s is answered with %d', async (method, path, status, allow) => {
    const answer = await requestRaw(gantry.url, `${method} ${path}`);
    expect([answer.status, answer.headers.allow ?? null]).toEqual([status, allow]);
  });

  it('admit pages of the allowed origins only', async () => {
    const preflight = (origin: string) =>
      send('OPTIONS', '/v1/events', undefined, { origin, 'access-control-request-method': 'PATCH' });
    const allowed = await preflight('https://console.example.org');
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('x-api-key');
    const stranger = await preflight('https://elsewhere.example.org');
    expect(stranger.headers.get('access-control-allow-origin')).toBeNull();
    const health = await send('GET', '/v1/health', undefined, { origin: 'https://console.example.org' });
    expect(health.headers.get('access-control-allow-origin')).toBe('https://console.example.org');
    expect(health.headers.get('access-control-expose-headers')).toBe(
      'x-request-id, retry-after, x-gantry-ignored, location',
    );
  });
});

describe('unknown fields of a body', () => {
  it('are refused by name, at any depth, and nothing is stored', async () => {
    const body = { name: 'Mast 10', deviceId: 'mast-10', type: 'RADAR' };
    const misspelt = await asUser('POST', '/v1/sensors', { ...body, adress: 'Ring 1' });
    expect(misspelt.json).toMatchObject({
      ...problem(400, 'BAD_REQUEST'),
      detail: expect.stringMatching(/^There is no field "adress": there are name, deviceId, type/),
      issues: [{ path: 'adress', message: 'There is no such field' }],
    });
    const place = { latitude: 52.5, longitude: 13.4, adress: 'Ring 1' };
    const inner = await asUser('POST', '/v1/sensors', { ...body, coordinates: place });
    expect(inner.json).toMatchObject({ status: 400, issues: [{ path: 'coordinates.adress' }] });
    expect((await asUser('GET', '/v1/sensors?search=Mast%2010')).json.total).toBe(0);
    expect((await asUser('POST', '/v1/sensors', body)).status).toBe(201);
    expect((await send('POST', '/v1/sensors', { adress: 1 })).status).toBe(401);
    const login = { email: 'nobody@example.org', password: 'wrong', code: null, remember: true };
    expect((await send('POST', '/v1/login', login)).json.issues).toMatchObject([{ path: 'remember' }]);
  });

  it('are named to devices, whose events are stored', async () => {
    const { status, json } = await asDevice('POST', '/v1/events', { ...EVENT, plate: 'X' });
    expect([status, json]).toMatchObject([201, { success: true, warnings: [{ path: 'plate' }] }]);
  });
});

describe('GET /v1/stream', () => {
  /** The text of a stream until it contains something. */
  const until = async (response: Response, wanted: RegExp): Promise<string> => {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (wanted.test(text)) return text;
    }
    return text;
  };
  const open = (query: string, headers: Record<string, string> = bearer(token)) =>
    fetch(`${gantry.url}/v1/stream${query}`, { headers });

  it('sends messages as plain JSON with ids, after which it continues', async () => {
    const first = await open('?topics=events&topics=sensors');
    expect(first.headers.get('content-type')).toBe('text/event-stream');
    const [, id = ''] =
      /^id: (\S+)\ndata: \{"type":"upToDate"/m.exec(await until(first, /upToDate.*\n\n/)) ?? [];
    expect(id).not.toBe('');
    const { json } = await asDevice('POST', '/v1/events', { ...EVENT, licensePlateNumber: 'REST 2' });
    const resumed = await open('?topics=events', { ...bearer(token), 'last-event-id': id });
    // Events of the tests before may be announced in between.
    const text = await until(resumed, new RegExp(`"id":"${json.eventId}".*\\n\\n`));
    const [, data = ''] =
      new RegExp(`^id: \\S+\\ndata: (\\{"type":"events".*"id":"${json.eventId}".*)\\n\\n`, 'm').exec(text) ??
      [];
    expect(JSON.parse(data)).toMatchObject({
      type: 'events',
      event: { id: json.eventId, licensePlateNumber: 'REST 2', timestamp: expect.stringMatching(/Z$/) },
    });
    expect(text).not.toContain('"meta"');
    const inUrl = await open(`?topics=events&lastEventId=${id}`);
    expect(await until(inUrl, new RegExp(json.eventId))).toContain(json.eventId);
  });

  it('is refused with a problem before it begins', async () => {
    const refused = async (query: string, headers?: Record<string, string>) => {
      const answer = await open(query, headers);
      return [
        answer.status,
        answer.headers.get('content-type'),
        ((await answer.json()) as { code: string }).code,
      ];
    };
    const type = 'application/problem+json; charset=utf-8';
    expect(await refused('', {})).toEqual([401, type, 'UNAUTHORIZED']);
    expect(await refused('?topics=weather')).toEqual([400, type, 'BAD_REQUEST']);
    expect(await refused('?topic=events')).toEqual([400, type, 'BAD_REQUEST']);
    expect(await refused('?lastEventId=nonsense')).toEqual([400, type, 'BAD_REQUEST']);
    const head = await asUser('HEAD', '/v1/stream');
    expect([head.status, head.type, head.text]).toEqual([200, 'text/event-stream', '']);
  });

  it('ends with a problem when the token is revoked', async () => {
    const { body } = await gantry.call('auth.login', ADMIN, {});
    const own = body.result.data.json.token;
    const stream = await open('', bearer(own));
    const text = until(stream, /event: problem.*\n.*\n\n/);
    expect((await send('POST', '/v1/logout', {}, bearer(own))).status).toBe(200);
    const [, data = ''] = /^event: problem\ndata: (.*)$/m.exec(await text) ?? [];
    expect(JSON.parse(data)).toMatchObject(problem(401, 'UNAUTHORIZED'));
  });
});
