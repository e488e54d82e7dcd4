import { describe, expect, it } from 'vitest';
import { type HttpAnswer, sharedGantry } from './harness.ts';
import { processorMs } from './processor-time.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const apiKey = await gantry.registerSensor();
const locationId: string = (await gantry.ok('locations.create', { name: 'Main Street' }, { token })).id;

const post = (procedure: string, body: string | Uint8Array): Promise<HttpAnswer> =>
  gantry.fetch(`/trpc/${procedure}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
const event = (members: string) => `{"json":{"apiKey":"${apiKey}","eventType":"INCIDENT",${members}}}`;
const countEvents = async (): Promise<number> => (await gantry.ok('events.getStats', {}, { token })).total;
const refusalOf = async (procedure: string, body: string | Uint8Array) => {
  const { status, body: answer } = await post(procedure, body);
  return { status, code: answer.error?.json.data.code, message: answer.error?.json.message };
};

describe('invalid JSON', () => {
  const invalidUtf8 = Buffer.concat([
    Buffer.from(event('"description":"')).subarray(0, -2),
    Buffer.from([0xff]),
  ]);

  it.each<[string, string | Uint8Array]>([
    ['a broken object', '{"json":'],
    ['a comma too many', '{"json":{},}'],
    ['single quotes', "{'json':{}}"],
    ['words', 'hello'],
    ['a comment', '{"json":{}} // done'],
    ['two values', '{"json":{}}{"json":{}}'],
    ['NaN', event('"vehicleSpeed":NaN')],
    ['a number in hexadecimal', event('"vehicleSpeed":0x10')],
    ['a tab inside a text', event('"description":"a\tb"')],
    ['NUL as it is', event('"description":"a\u0000b"')],
    ['NUL alone', '\u0000'],
    ['half an escape', event('"description":"\\u12"')],
    ['bytes that are no UTF-8', invalidUtf8],
    ['half a character', Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ['an overlong character', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['half a surrogate pair in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('\ufeff{"json":{}}', 'utf16le')],
  ])('%s is a PARSE_ERROR', async (_, body) => {
    const { status, body: answer } = await post('events.ingest', body);
    expect(status).toBe(400);
    expect(answer.error.json).toMatchObject({ code: -32700, data: { code: 'PARSE_ERROR', httpStatus: 400 } });
    expect(Object.keys(answer.error.json.data)).toEqual(['code', 'httpStatus']);
  });
});

describe('malicious JSON', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it('is limited to a nesting of 60 levels, plus or minus the envelope', async () => {
    expect((await post('events.ingest', event(`"metadata":{"deep":${nested(60)}}`))).status).toBe(200);
    const { status, message } = await refusalOf('events.ingest', event(`"metadata":{"deep":${nested(62)}}`));
    expect(status).toBe(400);
    expect(message).toBe('The JSON nests deeper than 64 levels');
  });

  it.each([
    ['lists', '['.repeat(1_000_000)],
    ['objects', '{"a":'.repeat(1_000_000)],
    ['both, closed again', `${'[{"a":'.repeat(100_000)}1${'}]'.repeat(100_000)}`],
    ['meta', `{"json":{},"meta":{"values":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`],
  ])('%s without end are refused', async (_, body) => {
    const work = await processorMs(async () =>
      expect(await refusalOf('events.ingest', body)).toMatchObject({ status: 400, code: 'BAD_REQUEST' }),
    );
    expect(work).toBeLessThan(5_000);
  });

  it('does not count brackets inside texts', async () => {
    const text = `${'[{'.repeat(500)}\\"${'\\\\'.repeat(3)}`;
    expect((await post('events.ingest', event(`"description":"${text}"`))).status).toBe(200);
  });

  it.each([
    ['__proto__', '"metadata":{"__proto__":{"admin":true}}'],
    ['__proto__ in escapes', '"metadata":{"__pr\\u006fto__":{"admin":true}}'],
    ['__proto__ deep inside', '"metadata":{"a":[{"b":{"__proto__":null}}]}'],
    ['__proto__ beside the fields', '"__proto__":{"tags":["x"]}'],
    ['constructor.prototype', '"metadata":{"constructor":{"prototype":{"admin":true}}}'],
  ])('a key %s is refused by name', async (_, members) => {
    const { status, message } = await refusalOf('events.ingest', event(members));
    expect(status).toBe(400);
    expect(message).toBe('The JSON has a key that is not allowed: __proto__ or constructor.prototype');
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  it('keeps keys that only look similar', async () => {
    const metadata = {
      constructor: 1,
      prototype: { a: 1 },
      toString: 'x',
      hasOwnProperty: null,
      toJSON: 2,
    };
    const { body } = await post('events.ingest', event(`"metadata":${JSON.stringify(metadata)}`));
    const { eventId } = body.result.data.json;
    expect((await gantry.ok('events.getById', { id: eventId }, { token })).metadata).toEqual(metadata);
    const nulls = await post(
      'events.ingest',
      event('"metadata":{"constructor":null,"x":"\\"__proto__\\":"}'),
    );
    expect(nulls.status).toBe(200);
  });

  it.each([
    [
      'equalities that double forty times',
      { a: Array.from({ length: 40 }, () => [null, null]) },
      {
        referentialEqualities: Object.fromEntries(
          Array.from({ length: 39 }, (_, index) => [`a.${index}`, [`a.${index + 1}.0`, `a.${index + 1}.1`]]),
        ),
      },
    ],
    ['a list of four billion', { a: [] }, { values: { 'a.4294967294': ['undefined'] } }],
    ['a list without a length', { a: [1] }, { values: { 'a.length': ['undefined'] } }],
    ['a class', {}, { values: [['class', 'Sensor']] }],
  ])('meta that makes %s is refused', async (_, json, meta) => {
    for (const procedure of ['auth.login', 'sensors.create', 'events.ingest']) {
      const { status, code } = await refusalOf(procedure, JSON.stringify({ json, meta }));
      expect(status).toBe(400);
      expect(code).toBe('BAD_REQUEST');
    }
    const query = encodeURIComponent(JSON.stringify({ json, meta }));
    expect((await gantry.fetch(`/trpc/sensors.getAll?input=${query}`)).status).toBe(400);
  });
});

describe('invalid numbers', () => {
  it.each([
    '"vehicleSpeed":1e400',
    '"vehicleSpeed":-1e400',
    '"vehicleSpeed":-1',
    '"vehicleSpeed":1e300',
    '"vehicleSpeed":"50"',
    '"location":{"latitude":1e400,"longitude":0}',
    '"location":{"latitude":90.0001,"longitude":0}',
    '"location":{"latitude":0,"longitude":-180.5}',
    '"location":{"latitude":null,"longitude":0}',
    '"metadata":{"a":1e400}',
    '"metadata":{"a":[[-1e999]]}',
  ])('%s is refused', async (members) => {
    expect(await refusalOf('events.ingest', event(members))).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
    });
  });

  it.each([
    ['sensors.getAll', { take: Number.POSITIVE_INFINITY }],
    ['sensors.getAll', { take: 1.5 }],
    ['sensors.getAll', { take: '10' }],
    ['sensors.getAll', { skip: -1 }],
    ['sensors.getAll', { skip: 1e15 }],
    ['events.getAll', { take: 101 }],
    ['events.getRecent', { limit: 0 }],
  ])('%s with %j is refused', async (procedure, input) => {
    const json = JSON.stringify({ json: input }).replace('null', '1e400');
    const { status } = await gantry.fetch(`/trpc/${procedure}?input=${encodeURIComponent(json)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(status).toBe(400);
  });

  it('minus zero and tiny and huge numbers are kept', async () => {
    const { body } = await post(
      'events.ingest',
      event('"vehicleSpeed":-0,"metadata":{"a":-0,"b":5e-324,"c":1.7e308}'),
    );
    const stored = await gantry.ok('events.getById', { id: body.result.data.json.eventId }, { token });
    expect(stored.vehicleSpeed).toBe(0);
    expect(stored.metadata).toEqual({ a: 0, b: 5e-324, c: 1.7e308 });
  });
});

/** Texts that PostgreSQL cannot store. They are sent in JSON, so they arrive unchanged. */
const FLAWED = { 'a NUL character': 'a\u0000b', 'half a pair': 'a\ud800b', 'the other half': '\udc00 ab' };

describe('text that PostgreSQL cannot store', () => {
  const user = { email: 'x@gantry.local', password: 'Correct-horse-1', firstName: 'A', lastName: 'B' };
  const sensor = { name: 'Radar', deviceId: 'radar-1', type: 'RADAR' };
  const positions: [string, (text: string) => object][] = [
    ['auth.login', (email) => ({ email, password: 'x' })],
    ['auth.login', (password) => ({ email: 'admin@gantry.local', password })],
    ['sensors.create', (name) => ({ ...sensor, name })],
    ['sensors.create', (deviceId) => ({ ...sensor, deviceId })],
    ['sensors.create', (type) => ({ ...sensor, type })],
    ['sensors.create', (ipAddress) => ({ ...sensor, ipAddress })],
    ['sensors.create', (description) => ({ ...sensor, description })],
    ['sensors.create', (locationId) => ({ ...sensor, locationId })],
    ['sensors.create', (address) => ({ ...sensor, coordinates: { latitude: 1, longitude: 1, address } })],
    ['sensors.update', (id) => ({ id })],
    ['sensors.delete', (id) => ({ id })],
    ['sensors.rotateKey', (id) => ({ id })],
    ['events.markAsProcessed', (id) => ({ id })],
    ['events.markAsArchived', (id) => ({ id })],
    ['events.delete', (id) => ({ id })],
    ['sensors.heartbeat', (firmware) => ({ apiKey, firmware })],
    ['sensors.heartbeat', (macAddress) => ({ apiKey, macAddress })],
    ['sensors.heartbeat', (message) => ({ apiKey, issues: [{ code: 'X', message, severity: 'warning' }] })],
    ['sensors.heartbeat', (key) => ({ apiKey: key })],
    ['locations.create', (name) => ({ name })],
    ['locations.create', (address) => ({ name: 'X', address })],
    ['locations.update', (description) => ({ id: locationId, description })],
    ['users.create', (email) => ({ ...user, email })],
    ['users.create', (password) => ({ ...user, password: `Correct-horse-1${password}` })],
    ['users.create', (firstName) => ({ ...user, firstName })],
    ['users.create', (department) => ({ ...user, department })],
    ['users.update', (id) => ({ id, firstName: 'A' })],
    ['users.resetPassword', (userId) => ({ userId })],
    ['system.timezone.updateTimezoneSettings', (timezone) => ({ timezone })],
    ['system.timezone.updateTimezoneSettings', (dateFormat) => ({ dateFormat })],
    ...[
      'description',
      'violationType',
      'licensePlateNumber',
      'vehicleType',
      'eventType',
      'severity',
      'timestamp',
    ].map((field): [string, (text: string) => object] => [
      'events.ingest',
      (text) => ({ apiKey, eventType: 'INCIDENT', [field]: text }),
    ]),
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', tags: ['fine', text] })],
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', images: [text] })],
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', metadata: { text } })],
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', metadata: { [text]: 1 } })],
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', metadata: { a: [{ b: [text] }] } })],
    ['events.ingest', (text) => ({ apiKey, eventType: 'INCIDENT', metadata: { a: [{ [text]: {} }] } })],
    [
      'events.ingest',
      (text) => ({ apiKey, eventType: 'INCIDENT', location: { latitude: 1, longitude: 1, address: text } }),
    ],
    [
      'events.ingest',
      (text) => ({ apiKey, eventType: 'INCIDENT', timestamp: '2026-01-01T00:00:00Z', idempotencyKey: text }),
    ],
  ];
  const queries: [string, (text: string) => object][] = [
    ...['search', 'type', 'status', 'sortBy', 'sortOrder'].map(
      (field): [string, (text: string) => object] => ['sensors.getAll', (text) => ({ [field]: text })],
    ),
    ...[
      'eventType',
      'sensorId',
      'startDate',
      'endDate',
      'violationType',
      'licensePlateNumber',
      'vehicleType',
      'locationName',
      'sortBy',
    ].map((field): [string, (text: string) => object] => ['events.getAll', (text) => ({ [field]: text })]),
    ['events.getRecent', (eventType) => ({ eventType })],
    ['events.getStats', (startDate) => ({ startDate })],
    ['sensors.getById', (id) => ({ id })],
    ['sensors.getStatusHistory', (id) => ({ id })],
    ['events.getById', (id) => ({ id })],
    ['locations.getById', (id) => ({ id })],
    ['locations.getAll', (search) => ({ search })],
    ['users.getAll', (search) => ({ search })],
    ['users.getAll', (department) => ({ department })],
    ['users.getById', (id) => ({ id })],
    ['users.getActivity', (userId) => ({ userId })],
  ];
  const all = [...positions, ...queries].map(([procedure, input]) => {
    const shown = JSON.stringify(input('…')).replace(/"apiKey":"[^"]*",?/, '');
    return [procedure, shown, input] as const;
  });

  it.each(all)('is never an internal error: %s %s', async (procedure, _, input) => {
    const before = await countEvents();
    for (const [what, text] of Object.entries(FLAWED)) {
      const { status, body } = await gantry.call(procedure, input(text), { token });
      const isFilter = procedure === 'events.getAll' && 'sensorId' in input(text);
      if (isFilter) expect(status, what).toBe(200);
      else expect([400, 401, 404], what).toContain(status);
      if (status === 400) expect(body.error.json.data.code).toBe('BAD_REQUEST');
    }
    expect(await countEvents()).toBe(before);
  });

  it('is refused with a clear message', async () => {
    const { body } = await post('events.ingest', event('"metadata":{"a\\u0000":1}'));
    expect(body.error.json.data.issues).toEqual([
      { path: 'metadata', message: 'Text must not contain NUL characters or lone surrogates' },
    ]);
  });

  it('does not prevent text that only looks unusual', async () => {
    const odd = '\u0001\u200b\ufffe\u{10ffff}😀\u202e\'"\\;--%_*$1{{x}}<script>';
    const { eventId } = await gantry.ok('events.ingest', {
      apiKey,
      eventType: 'INCIDENT',
      description: odd,
      metadata: { [odd]: odd },
      tags: [odd],
    });
    const stored = await gantry.ok('events.getById', { id: eventId }, { token });
    expect(stored).toMatchObject({ description: odd, metadata: { [odd]: odd }, tags: [odd] });
  });
});

describe('invalid dates', () => {
  it.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '20260131',
    '2026-01-31T25:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:59:60Z',
    '2026-01-31T08:15:00+15:00',
    '+012026-01-31T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '99999-01-01',
    'tomorrow',
    'now',
    '',
    ' ',
    '1767225600000',
    'infinity',
    '2026-01-31T08:15:00Z; DROP TABLE events',
    `2026-01-31T08:15:00.${'1'.repeat(1_000)}Z`,
  ])('%j is refused with an example', async (startDate) => {
    const { status, body } = await gantry.call('events.getAll', { startDate }, { token });
    expect(status).toBe(400);
    expect(body.error.json.data.issues).toEqual([
      {
        path: 'startDate',
        message: 'Use an ISO 8601 date or time, such as 2026-01-31 or 2026-01-31T08:15:00Z',
      },
    ]);
  });

  it.each([5, 1767225600000, null, true, [], {}, ['2026-01-31']])(
    '%j is refused as well',
    async (startDate) => {
      const { status, body } = await gantry.call('events.getStats', { startDate }, { token });
      expect(status).toBe(400);
      expect(body.error.json.data.issues).toHaveLength(1);
    },
  );

  it.each([
    ['0000-01-01', '9999-12-31'],
    ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31', '9999-12-31'],
    ['9999-12-31T23:59:59-14:00', '9999-12-31T23:59:59-14:00'],
    ['0000-01-01', '0000-01-01'],
    ['0000-01-01T00:00:00+14:00', '1969-12-31T23:59:59Z'],
    ['1969-12-31', '1970-01-01'],
  ])('%s to %s are far from the present, but valid', async (startDate, endDate) => {
    for (const procedure of ['events.getStats', 'events.getAll']) {
      const { status } = await gantry.call(procedure, { startDate, endDate }, { token });
      expect(status).toBe(200);
    }
    for (const only of [{ startDate }, { endDate }]) {
      for (const procedure of ['events.getStats', 'events.getAll']) {
        expect((await gantry.call(procedure, only, { token })).status).toBe(200);
      }
    }
  });

  it('of an event are refused outside of its limits', async () => {
    for (const timestamp of ['9999-12-31', '1999-12-31T23:59:59Z', '0000-01-01', '1970-01-01T00:00:00Z']) {
      expect((await refusalOf('events.ingest', event(`"timestamp":"${timestamp}"`))).code).toBe(
        'BAD_REQUEST',
      );
    }
  });
});
