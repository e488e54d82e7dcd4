import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import superjson from 'superjson';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { appRouter } from '../src/api/router.ts';
import { prepare } from '../src/rpc/run.ts';
import { unknownInput } from '../src/rpc/unknown-input.ts';
import { ADMIN, type HttpAnswer, sharedGantry } from './harness.ts';
import { mayCall, type ProcedurePath } from './permissions-table.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();

const post = (
  procedure: string,
  body: string | undefined,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<HttpAnswer> =>
  gantry.fetch(`/trpc/${procedure}`, { method: 'POST', headers, ...(body !== undefined && { body }) });
const get = (procedure: string, input: string): Promise<HttpAnswer> =>
  gantry.fetch(`/trpc/${procedure}?input=${encodeURIComponent(input)}`, {
    headers: { authorization: `Bearer ${token}` },
  });

/** Sends a value like a client with superjson. */
const callWith = (procedure: string, value: unknown): Promise<HttpAnswer> => {
  const { json, meta } = superjson.serialize(value);
  return gantry.call(procedure, json, { token, ...(meta && { meta }) });
};
const ingest = async (event: Record<string, unknown>) => {
  const { status, body } = await callWith('events.ingest', { apiKey, eventType: 'INCIDENT', ...event });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return gantry.ok('events.getById', { id: body.result.data.json.eventId }, { token });
};

describe('a mutation without input', () => {
  it.each([
    ['no body', undefined, {}],
    ['no body but its type', undefined, { 'content-type': 'application/json' }],
    ['no body but another type', undefined, { 'content-type': 'text/plain' }],
    ['{}', '{}', { 'content-type': 'application/json' }],
    ['null', 'null', { 'content-type': 'application/json' }],
    ['{"json":null}', '{"json":null}', { 'content-type': 'application/json' }],
    ['{"json":{}}', '{"json":{}}', { 'content-type': 'application/json' }],
    ['fields it does not know', '{"json":{"all":true}}', { 'content-type': 'application/json' }],
    [
      'undefined in superjson',
      '{"json":null,"meta":{"values":["undefined"],"v":1}}',
      { 'content-type': 'application/json' },
    ],
    ['a charset', '{"json":{}}', { 'content-type': 'application/json; charset=utf-8' }],
  ] as [string, string | undefined, Record<string, string>][])(
    'succeeds with %s',
    async (_, body, headers) => {
      const logout = await post('auth.logout', body, headers);
      expect(logout.body).toEqual({ result: { data: { json: { success: true } } } });
      const refresh = await post('auth.refreshToken', body, { ...headers, authorization: `Bearer ${token}` });
      expect(refresh.status).toBe(200);
      expect(refresh.body.result.data.json.expiresIn).toBe(86_400);
    },
  );

  it.each([
    ['broken JSON', '{', 'application/json', 400, 'PARSE_ERROR'],
    ['a wrong type', '{}', 'text/plain', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['no wrapper', '{"all":true}', 'application/json', 400, 'BAD_REQUEST'],
  ])('refuses %s like any other', async (_, body, type, status, code) => {
    const answer = await post('auth.logout', body, { 'content-type': type });
    expect(answer.status).toBe(status);
    expect(answer.body.error.json.data.code).toBe(code);
  });
});

describe('a mutation with an input', () => {
  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['{}', '{}'],
    ['null', 'null'],
    ['{"json":null}', '{"json":null}'],
  ])('says what is missing with %s', async (_, body) => {
    const { status, body: answer } = await post('auth.login', body);
    expect(status).toBe(400);
    expect(answer.error.json.data.code).toBe('BAD_REQUEST');
    expect(answer.error.json.data.issues).toHaveLength(1);
  });

  it.each(['{"email":"a","password":"b"}', '[]', '"json"', '5', 'true', '[{"json":{}}]', '{"meta":{}}'])(
    'with the body %s is answered with the format of an input',
    async (body) => {
      const { status, body: answer } = await post('auth.login', body);
      expect(status).toBe(400);
      expect(answer.error.json.message).toBe('Send the input as {"json": …}');
    },
  );

  it('ignores unknown members, in the input and beside it', async () => {
    const body = { json: { ...ADMIN, remember: true, '': 1 }, extra: [1], id: 0 };
    expect((await post('auth.login', JSON.stringify(body))).status).toBe(200);
  });

  it('uses the last of two values with one name, as JSON does', async () => {
    const body = `{"json":{"email":"x","email":"${ADMIN.email}","password":"${ADMIN.password}"}}`;
    expect((await post('auth.login', body)).status).toBe(200);
  });

  it('may begin with a byte order mark', async () => {
    const body = `\ufeff${JSON.stringify({ json: ADMIN })}`;
    expect((await post('auth.login', body)).status).toBe(200);
  });

  it('may include a referrer', async () => {
    const headers = { 'content-type': 'application/json', 'x-trpc-source': 'web' };
    expect((await post('auth.login', JSON.stringify({ json: ADMIN }), headers)).status).toBe(200);
  });
});

describe('the content type of a body', () => {
  const body = JSON.stringify({ json: ADMIN });

  it.each([
    'application/json',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json ;charset=utf-8',
    'application/json;',
    'application/json; profile="x"',
    'Application/JSON',
  ])('%s is accepted', async (type) => {
    expect((await post('auth.login', body, { 'content-type': type })).status).toBe(200);
  });

  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonl',
    'application/octet-stream',
    'application/vnd.api+json',
    'application/json, text/plain',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'json',
    ';;;',
    '*/*',
    'text/plain; application/json',
  ])('%s is 415', async (type) => {
    const { status, body: answer } = await post('auth.login', body, { 'content-type': type });
    expect(status).toBe(415);
    expect(answer.error.json).toEqual({
      message: expect.stringMatching(/^Send the body /),
      code: -32015,
      data: { code: 'UNSUPPORTED_MEDIA_TYPE', httpStatus: 415 },
    });
  });

  it('is required', async () => {
    const bytes = new TextEncoder().encode(body);
    const { status } = await gantry.fetch('/trpc/auth.login', { method: 'POST', body: bytes });
    expect(status).toBe(415);
  });

  it.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x'])(
    'with the encoding %s is 415',
    async (encoding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      expect((await post('auth.login', body, headers)).status).toBe(415);
    },
  );
});

describe('a query', () => {
  it.each([
    '',
    '{}',
    'null',
    '{"json":null}',
    '{"json":{}}',
    '{"json":null,"meta":{"values":["undefined"]}}',
  ])('treats %j as no input', async (input) => {
    expect((await get('sensors.getAll', input)).status).toBe(200);
  });

  it.each(['{', '{"json":{}', 'undefined', "{'json':{}}", '{"json":{},}', 'NaN', '\u0000'])(
    'says that %j is not JSON',
    async (input) => {
      const { status, body } = await get('sensors.getAll', input);
      expect(status).toBe(400);
      expect(body.error.json).toEqual({
        message: 'The request is not valid JSON',
        code: -32700,
        data: { code: 'PARSE_ERROR', httpStatus: 400 },
      });
    },
  );

  it.each(['{"take":1}', '[]', '1', '""', 'false'])('explains how to wrap %s', async (input) => {
    const { status, body } = await get('sensors.getAll', input);
    expect(status).toBe(400);
    expect(body.error.json.message).toBe('Send the input as {"json": …}');
  });

  it.each(['{"json":[]}', '{"json":1}', '{"json":"x"}', '{"json":true}'])(
    'says what is wrong with %s',
    async (input) => {
      const { status, body } = await get('sensors.getAll', input);
      expect(status).toBe(400);
      expect(body.error.json.data.issues).toHaveLength(1);
    },
  );

  it('uses the first of two inputs, and ignores other parameters', async () => {
    const input = (take: number) => `input=${encodeURIComponent(JSON.stringify({ json: { take } }))}`;
    expect((await gantry.fetch(`/trpc/sensors.getAll?${input(1)}&${input(0)}&_=5`)).status).toBe(200);
    expect((await gantry.fetch(`/trpc/sensors.getAll?${input(0)}&${input(1)}`)).status).toBe(400);
  });

  it('may have its input unescaped in the query string, with plus signs for blanks', async () => {
    expect((await gantry.fetch('/trpc/sensors.getAll?input={"json":{"search":"a+b"}}')).status).toBe(200);
  });

  it('ignores a body', async () => {
    const { status } = await post('auth.logout', undefined);
    expect(status).toBe(200);
  });
});

describe('values that only superjson can send', () => {
  it('undefined is the same as omitted', async () => {
    const query = { eventType: undefined, startDate: undefined, search: undefined, take: undefined };
    expect((await callWith('events.getAll', query)).status).toBe(200);
    const input = {
      name: 'Radar',
      deviceId: 'radar-1',
      type: 'RADAR',
      description: undefined,
      eventsPerMin: undefined,
    };
    const { status, body } = await callWith('sensors.create', input);
    expect(status).toBe(200);
    expect(body.result.data.json).toMatchObject({ description: null, eventsPerMin: 20 });
    expect((await callWith('system.timezone.updateTimezoneSettings', undefined)).status).toBe(200);
  });

  it('undefined is not valid for a required field', async () => {
    const { status, body } = await callWith('sensors.create', {
      name: undefined,
      deviceId: 'x-1',
      type: 'RADAR',
    });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path).toBe('name');
  });

  it('a Date is a bound of a range and the time of an event', async () => {
    const at = new Date('2026-03-04T05:06:07.089Z');
    expect((await ingest({ timestamp: at })).timestamp).toBe(at.toISOString());
    const range = { startDate: at, endDate: new Date(at.getTime()) };
    expect((await callWith('events.getStats', range)).body.result.data.json.total).toBe(1);
    const before = { startDate: new Date(at.getTime() + 1), endDate: new Date(at.getTime() + 2) };
    expect((await callWith('events.getStats', before)).body.result.data.json.total).toBe(0);
  });

  it('a text that is annotated as a Date has the same meaning without it', async () => {
    const at = '2026-03-04';
    const counts = await Promise.all(
      [undefined, { values: { startDate: ['Date'], endDate: ['Date'] } }].map((meta) =>
        gantry.ok('events.getStats', { startDate: at, endDate: at }, { token, ...(meta && { meta }) }),
      ),
    );
    expect(counts.map(({ total }) => total)).toEqual([1, 1]);
  });

  it('the fields of a device are read once, so a Date beside the key is kept', async () => {
    const event = { eventType: 'INCIDENT', timestamp: new Date('2026-03-05T00:00:00Z') };
    const { status, body } = await callWith('events.ingestBatch', { apiKey, events: [event] });
    expect(status).toBe(200);
    expect(body.result.data.json.success).toBe(true);
  });

  it('a Date in free data is stored as its ISO text, and undefined is omitted', async () => {
    const text = '2026-01-02T03:04:05.006Z';
    const seen = () => new Date(text);
    const sent = { seen: seen(), none: undefined, list: [undefined, seen()], 'a.b\\c': seen() };
    const { metadata } = await ingest({ metadata: sent });
    expect(metadata).toEqual({ seen: text, list: [null, text], 'a.b\\c': text });
  });

  it('one object may be in two places', async () => {
    const at = new Date();
    expect((await callWith('events.getStats', { startDate: at, endDate: at })).status).toBe(200);
    const place = { latitude: 52.52, longitude: 13.405 };
    const { location, metadata } = await ingest({ location: place, metadata: { places: [place, place] } });
    expect(location).toEqual(place);
    expect(metadata).toEqual({ places: [place, place] });
  });

  it('minus zero is a number', async () => {
    const { location, vehicleSpeed } = await ingest({
      location: { latitude: -0, longitude: -0 },
      vehicleSpeed: -0,
    });
    expect(location).toEqual({ latitude: 0, longitude: 0 });
    expect(vehicleSpeed).toBe(0);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['NaN', { vehicleSpeed: Number.NaN }, 'vehicleSpeed'],
    ['Infinity', { vehicleSpeed: Number.POSITIVE_INFINITY }, 'vehicleSpeed'],
    ['a bigint for a number', { vehicleSpeed: 5n }, 'vehicleSpeed'],
    ['a Date for a text', { description: new Date(0) }, 'description'],
    ['a Set for a list', { tags: new Set(['a']) }, 'tags'],
    ['a Map for an object', { location: new Map([['latitude', 1]]) }, 'location'],
    ['a Map for free data', { metadata: new Map([['a', 1]]) }, 'metadata'],
    ['a bigint in free data', { metadata: { a: [1n] } }, 'metadata'],
    ['a Map in free data', { metadata: { a: new Map() } }, 'metadata'],
    ['NaN in free data', { metadata: { a: { b: Number.NaN } } }, 'metadata'],
    ['a regular expression for a text', { description: /x/i }, 'description'],
    ['a regular expression in free data', { metadata: { a: /x/i } }, 'metadata'],
  ])('%s is refused by name', async (_, event, path) => {
    const { status, body } = await callWith('events.ingest', { apiKey, eventType: 'INCIDENT', ...event });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path.split('.')[0]).toBe(path);
  });

  it.each<[string, unknown]>([
    ['an Error', new Error('x')],
    ['a URL', new URL('http://gantry.test')],
    ['a typed array', new Uint8Array([1])],
  ])('%s is not an input', async (_, value) => {
    const { status, body } = await callWith('events.getAll', { search: value });
    expect(status).toBe(400);
    expect(body.error.json.message).toMatch(/^The superjson meta cannot be used: /);
  });
});

describe('fields of an input that are not known', () => {
  const ignoredBy = async (procedure: string, input: unknown): Promise<string | null> => {
    const { status, headers } = await gantry.call(procedure, input, { token });
    expect(status).toBe(200);
    return headers.get('x-gantry-ignored');
  };
  const incident = { type: 'OTHER', severity: 'LOW', title: 'Gravel', description: 'On the shoulder' };

  it('are named in a header of the answer, at any depth', async () => {
    const named = await ignoredBy('incidents.create', {
      ...incident,
      plannedStart: '2026-12-01',
      reason: 'works',
    });
    expect(named).toBe('plannedStart, reason');
    const place = { latitude: 52.5, longitude: 13.4, 'größe, x': 1 };
    const sensor = { name: 'Mast 3', deviceId: 'mast-3', type: 'RADAR', coordinates: place };
    expect(await ignoredBy('sensors.create', sensor)).toBe('coordinates.gr%C3%B6%C3%9Fe%2C%20x');
    expect(await ignoredBy('sensors.getAll', { serach: 'Mast' })).toBe('serach');
    expect(await ignoredBy('auth.refreshToken', { all: true })).toBe('all');
  });

  it('are found in the input of every change that is not made by a device', () => {
    const changes = Object.entries<AnyTRPCProcedure>((appRouter as AnyTRPCRouter)._def.procedures).filter(
      ([path, { _def }]) => _def.type === 'mutation' && mayCall[path as ProcedurePath] !== 'devices',
    );
    const silent = changes.filter(
      ([path, procedure]) => prepare(path, procedure).ignored({ unheardOf: 1 })[0] !== 'unheardOf',
    );
    expect(changes.length).toBeGreaterThan(80);
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  it('are not named where all are known, or where a field may contain anything', async () => {
    expect(await ignoredBy('incidents.create', incident)).toBeNull();
    expect(await ignoredBy('sensors.getAll', { search: 'Mast', take: 5 })).toBeNull();
    const anything = z.object({ open: z.record(z.string(), z.object({ a: z.number() })), json: z.unknown() });
    const given = { open: { any: { a: 1, b: 2 } }, json: { any: { thing: 1 } } };
    expect(unknownInput(anything, given)).toEqual(['open.any.b']);
  });

  it('are named with the position of their call in a batch', async () => {
    const inputs = {
      0: { json: { search: 'x' } },
      1: { json: { take: 1, page: 2 } },
      2: { json: { kind: 3 } },
    };
    const query = encodeURIComponent(JSON.stringify(inputs));
    const { status, headers } = await gantry.fetch(
      `/trpc/sensors.getAll,events.getAll,incidents.getAll?batch=1&input=${query}`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    expect([status, headers.get('x-gantry-ignored')]).toEqual([200, '1.page, 2.kind']);
  });

  it('do not make the header longer than clients and proxies accept', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${'ü'.repeat(500)}`, at]));
    const named = await ignoredBy('incidents.create', { ...incident, ...many });
    expect(named?.length).toBeGreaterThan(500);
    expect(named?.length).toBeLessThanOrEqual(2_000);
  });

  it('are named to devices by the answer itself', async () => {
    const { body, headers } = await callWith('events.ingest', { apiKey, eventType: 'INCIDENT', plate: 'X' });
    expect(body.result.data.json.warnings).toMatchObject([{ path: 'plate' }]);
    expect(headers.get('x-gantry-ignored')).toBeNull();
  });
});
