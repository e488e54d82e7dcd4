import { hash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { eventually, expectBetween, sharedGantry } from './harness.ts';
import { dataUrl, jpeg } from './sample-images.ts';

const LIST_KEYS = [
  'archived',
  'createdAt',
  'description',
  'eventType',
  'id',
  'licensePlateNumber',
  'locationName',
  'processed',
  'sensorId',
  'sensorName',
  'severity',
  'timestamp',
  'vehicleSpeed',
  'vehicleType',
  'violationType',
];
const DETAIL_KEYS = [
  ...LIST_KEYS,
  'archivedAt',
  'archivedBy',
  'images',
  'location',
  'metadata',
  'processedAt',
  'processedBy',
  'tags',
].sort();
const MINUTE = 60_000;
const NUL = '\u0000';
const HALF = '\ud83d';

const addSensor = async (fields: object = {}) =>
  gantry.ok(
    'sensors.create',
    { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA', ...fields },
    { token },
  );

const gantry = await sharedGantry({ overrides: { timings: { writeContactsMs: 200 } } });
const token = await gantry.tokenFor('OPERATOR');
const sensor: { id: string; name: string; apiKey: string } = await addSensor();

const send = (fields: object, meta?: unknown) =>
  gantry.call(
    'events.ingest',
    { apiKey: sensor.apiKey, eventType: 'VEHICLE_DETECTION', ...fields },
    { meta },
  );
const get = (id: string) => gantry.ok('events.getById', { id }, { token });
const ingest = async (fields: object, meta?: unknown) => {
  const { status, body } = await send(fields, meta);
  expect({ status, body }).toMatchObject({ status: 200 });
  return get(body.result.data.json.eventId);
};
const countEvents = async (): Promise<number> =>
  (await gantry.pool.query('SELECT count(*) AS n FROM events')).rows[0].n;
const setTimezone = async (timezone: string) =>
  gantry.ok(
    'system.timezone.updateTimezoneSettings',
    { timezone },
    { token: await gantry.tokenFor('ADMIN') },
  );

describe('events.ingest', () => {
  it('returns success and the id, and no other keys', async () => {
    const answer = await gantry.ok('events.ingest', { apiKey: sensor.apiKey, eventType: 'INCIDENT' });
    expect(answer).toEqual({ success: true, eventId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  it('stores every field as it was sent', async () => {
    const sent = {
      eventType: 'TRAFFIC_VIOLATION',
      description: 'Ran the light — „rot“ 🚦',
      location: { latitude: 52.520008, longitude: -13.404954, address: 'Straße des 17. Juni' },
      metadata: { lane: 2, confidence: 0.97, none: null, list: [1, 'two', { three: 3 }], ключ: true },
      images: ['https://cameras.example.org/1.jpg', 'cam7/2026/01/31/0815.jpg'],
      tags: ['night', 'rain'],
      violationType: 'RED_LIGHT',
      licensePlateNumber: 'B-GX 1234',
      vehicleType: 'Truck',
      vehicleSpeed: 61.25,
      severity: 'CRITICAL',
      timestamp: '2026-01-31T08:15:00.123Z',
    };
    expect(await ingest(sent)).toEqual({
      ...sent,
      id: expect.any(String),
      sensorId: sensor.id,
      sensorName: 'Mast 7',
      processed: false,
      archived: false,
      locationName: 'Straße des 17. Juni',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      processedAt: null,
      processedBy: null,
      archivedAt: null,
      archivedBy: null,
    });
  });

  it('requires only a key and a type', async () => {
    const before = Date.now();
    const event = await ingest({});
    expect(event).toMatchObject({
      eventType: 'VEHICLE_DETECTION',
      description: null,
      location: null,
      metadata: null,
      images: [],
      tags: [],
      violationType: null,
      licensePlateNumber: null,
      vehicleType: null,
      vehicleSpeed: null,
      severity: null,
      locationName: null,
    });
    expect(Date.parse(event.timestamp)).toBeGreaterThanOrEqual(before - 1_000);
    // The event has the time of the database, whose clock may be some milliseconds ahead of the test's.
    expect(Date.parse(event.timestamp)).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('returns events with exactly the documented keys', async () => {
    const event = await ingest({});
    expect(Object.keys(event).sort()).toEqual(DETAIL_KEYS);
    const page = await gantry.ok('events.getAll', { take: 1 }, { token });
    expect(Object.keys(page).sort()).toEqual(['events', 'pageCount', 'total']);
    expect(Object.keys(page.events[0]).sort()).toEqual(LIST_KEYS);
    const [recent] = await gantry.ok('events.getRecent', { limit: 1 }, { token });
    expect(Object.keys(recent).sort()).toEqual(LIST_KEYS);
  });

  it.each<[string, object, object]>([
    ['words', { direction: 'NB', lane: 'bus', movement: { from: 'NE' } }, {}],
    [
      'numbers',
      { direction: 22.5, lane: '3', movement: { from: 'N', turn: 'U' }, vehicleLength: 16.54, gap: 86399.99 },
      { lane: 3, vehicleLength: 16.5 },
    ],
    [
      'a class',
      { vehicleClass: { scheme: 'TLS8+1', code: 'LKW_A' }, headway: 2.345, occupancyMs: 310 },
      { headway: 2.35 },
    ],
    ['an id', { passageId: 'a1', lane: (17.5).toString() }, {}],
    ['a plate', { plateRegion: 'AT', plateConfidence: 0 }, {}],
    ['a plate of a part', { plateRegion: ' us-ca ', plateConfidence: 100 }, { plateRegion: 'US-CA' }],
  ])('returns how the vehicle passed, in %s, and nothing else of it', async (_, passage, stored) => {
    const others = await Promise.all([ingest({}), ingest({ lane: 1 })]);
    const keyed = { idempotencyKey: randomUUID(), timestamp: new Date().toISOString() };
    for (const more of [{}, keyed, { eventType: 'INCIDENT' }]) {
      const detail = await ingest({ ...passage, ...more });
      expect(detail).toMatchObject({ ...passage, ...stored });
      expect(Object.keys(detail).sort()).toEqual([...DETAIL_KEYS, ...Object.keys(passage)].sort());
      const { events } = await gantry.ok('events.getAll', { take: 5 }, { token });
      const listed = events.find(({ id }: { id: string }) => id === detail.id);
      expect(Object.keys(listed).sort()).toEqual([...LIST_KEYS, ...Object.keys(passage)].sort());
    }
    expect(Object.keys(others[0]).sort()).toEqual(DETAIL_KEYS);
  });

  it.each([
    ['plateRegion', 'ZZ', 'There is no "ZZ". Use the code of a country'],
    ['plateRegion', 'Austria', 'There is no "AUSTRIA". Use the code of a country'],
    ['plateRegion', 7, 'Must be text'],
    ['plateConfidence', 0.98, 'Use a whole number from 0 to 100, in percent'],
    ['plateConfidence', 101, 'Use a whole number from 0 to 100, in percent'],
    ['plateConfidence', '98', 'Use a whole number from 0 to 100, in percent'],
  ])('refuses %s %j, alone and for each event of a batch', async (path, value, message) => {
    const apiKey = await gantry.registerSensor();
    const event = { eventType: 'PLATE_RECOGNITION', [path]: value };
    const issue = { path, message: expect.stringContaining(message) };
    const { status, data } = await gantry.refusal('events.ingest', { apiKey, ...event });
    expect({ status, issues: data.issues }).toEqual({ status: 400, issues: [issue] });
    const batch = await gantry.ok('events.ingestBatch', {
      apiKey,
      events: [event, { eventType: 'PLATE_RECOGNITION' }],
    });
    expect(batch.results[0].error.issues).toEqual([issue]);
    expect(batch.results[1]).toMatchObject({ duplicate: false });
  });

  it('is another event for the same key if only the region of the plate differs', async () => {
    const apiKey = await gantry.registerSensor();
    const event = {
      ...{ apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber: 'B AB 1', plateRegion: 'DE' },
      ...{ timestamp: new Date().toISOString(), idempotencyKey: 'read-1' },
    };
    const { eventId } = await gantry.ok('events.ingest', event);
    expect(await gantry.ok('events.ingest', event)).toMatchObject({ eventId });
    expect((await gantry.refusal('events.ingest', { ...event, plateRegion: 'AT' })).status).toBe(409);
    const { plateRegion: _, ...without } = event;
    expect((await gantry.refusal('events.ingest', without)).status).toBe(409);
  });

  it('annotates dates in the meta of the answer', async () => {
    const { id } = await ingest({});
    const { body } = await gantry.call('events.getById', { id }, { token });
    expect(body.result.data.meta.values).toEqual({ timestamp: ['Date'], createdAt: ['Date'] });
  });

  it('treats null for every optional field as not given', async () => {
    const names = [
      'description',
      'location',
      'metadata',
      'images',
      'tags',
      'violationType',
      'licensePlateNumber',
      'vehicleType',
      'vehicleSpeed',
      'severity',
      'timestamp',
      'idempotencyKey',
    ];
    const event = await ingest(Object.fromEntries(names.map((name) => [name, null])));
    const plain = await ingest({});
    const moment = { id: '', timestamp: '', createdAt: '' };
    expect({ ...event, ...moment }).toEqual({ ...plain, ...moment });
  });

  it('trims texts, and treats blank ones as not given', async () => {
    const event = await ingest({ violationType: ' SPEEDING\n', vehicleType: '   ', tags: [' a b '] });
    expect(event).toMatchObject({ violationType: 'SPEEDING', vehicleType: null, tags: ['a b'] });
  });

  it('ignores unknown fields', async () => {
    const event = await ingest({
      eventId: 'mine',
      processed: true,
      sensorId: 'other',
      id: 'x',
      colour: 'red',
    });
    expect(event).toMatchObject({ processed: false, sensorId: sensor.id });
    expect(Object.keys(event).sort()).toEqual(DETAIL_KEYS);
  });

  it('warns of values that are not stored as they were sent', async () => {
    const metadata = {
      id: 2 ** 53 + 2,
      list: [{ n: -1.2e19 }],
      big: 1e300,
      ok: 2 ** 53 - 1,
    };
    const { status, body } = await send({ metadata, timestamp: null });
    expect(status).toBe(200);
    const message = expect.stringMatching(/^This integer has more digits than a number holds/);
    expect(body.result.data.json.warnings).toEqual([
      { path: 'timestamp', message: expect.stringContaining('the event has the time of receipt') },
      { path: 'metadata.id', message },
      { path: 'metadata.list.0.n', message },
    ]);
    expect(Object.keys((await send({ metadata: { ok: 1.5 } })).body.result.data.json)).toEqual([
      'success',
      'eventId',
    ]);
  });

  it('accepts every offset of ISO 8601', async () => {
    for (const [timestamp, expected] of [
      ['2026-01-31T08:15:00+01', '2026-01-31T07:15:00.000Z'],
      ['2026-01-31T08:15:00,123-0330', '2026-01-31T11:45:00.123Z'],
      ['2026-01-31T08:15-03', '2026-01-31T11:15:00.000Z'],
    ] as const) {
      expect(new Date((await ingest({ timestamp })).timestamp).toISOString()).toBe(expected);
    }
  });

  it('refuses a Date that is none', async () => {
    const { status } = await send({ timestamp: null }, { values: { timestamp: ['Date'] } });
    expect(status).toBe(400);
  });

  it('stores plates of every script unchanged', async () => {
    for (const plate of ['МО 77 АВ', '品川 500 さ 20-46', '١٢٣ د ب', "O'N-1_%\\*"]) {
      expect((await ingest({ licensePlateNumber: plate })).licensePlateNumber).toBe(plate);
    }
  });

  it('stores metadata as deep as a request may nest, and refuses deeper ones', async () => {
    const nested = (depth: number): unknown => (depth === 0 ? 'floor' : { inner: nested(depth - 1) });
    const metadata = nested(60);
    expect((await ingest({ metadata })).metadata).toEqual(metadata);
    const { status, body } = await send({ metadata: nested(70) });
    expect(status).toBe(400);
    expect(body.error.json.message).toMatch(/nests deeper/);
  });

  it('stores the numbers in metadata exactly', async () => {
    const numbers = [0.1 + 0.2, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, -1e-7, 1234567.1234567];
    expect((await ingest({ metadata: { numbers } })).metadata).toEqual({ numbers });
  });

  it('stores an image of megabytes in base64 and large metadata', async () => {
    const bytes = Buffer.concat([jpeg(), Buffer.alloc(3_000_000)]);
    const metadata = { trace: Array.from({ length: 20_000 }, (_, n) => n / 7), note: 'n'.repeat(1_000_000) };
    const event = await ingest({ images: [dataUrl(bytes, 'image/jpeg')], metadata });
    expect(event.images).toEqual([`/images/${hash('sha256', bytes, 'hex')}`]);
    expect(event.metadata).toEqual(metadata);
  });

  it("updates the sensor's last communication, even for invalid input", async () => {
    const quiet = await addSensor();
    const sentAt = Date.now();
    const { status } = await gantry.call('events.ingest', { apiKey: quiet.apiKey, eventType: 'NONSENSE' });
    expect(status).toBe(400);
    const { lastCommunication } = await eventually(
      () => gantry.ok('sensors.getById', { id: quiet.id }),
      (found) => found.lastCommunication !== null,
    );
    expectBetween(lastCommunication, sentAt, Date.now());
  });
});

describe('values at their limits', () => {
  const anAddress = (length: number) => ({ latitude: 1, longitude: 2, address: 'a'.repeat(length) });

  it.each<[string, unknown]>([
    ['description', 'd'.repeat(10_000)],
    ['description', '🚗'.repeat(10_000)],
    ['violationType', 'v'.repeat(100)],
    ['licensePlateNumber', 'ß'.repeat(50)],
    ['vehicleType', '東'.repeat(100)],
    ['vehicleSpeed', 0],
    ['vehicleSpeed', 2000],
    ['location', { latitude: 90, longitude: -180 }],
    ['location', { latitude: -90, longitude: 180 }],
    ['location', anAddress(300)],
    ['tags', Array.from({ length: 100 }, () => 't'.repeat(100))],
    ['images', Array.from({ length: 100 }, (_, n) => `https://cameras.example.org/${n}`)],
    ['images', ['i'.repeat(2048)]],
    ['images', ['C:\\Program Files\\cam\\1.jpg', 's3://bucket/1.jpg', 'Bilder/Straße.jpg', 'frame1']],
    ['metadata', {}],
  ])('are accepted: %s', async (name, value) => {
    expect((await ingest({ [name]: value }))[name]).toEqual(value);
  });

  it.each<[string, unknown]>([
    ['eventType', undefined],
    ['eventType', 'traffic_violation'],
    ['eventType', null],
    ['eventType', 'constructor'],
    ['description', 'd'.repeat(10_001)],
    ['description', 7],
    ['violationType', 'v'.repeat(101)],
    ['violationType', ['SPEEDING']],
    ['licensePlateNumber', 'p'.repeat(51)],
    ['vehicleType', 'v'.repeat(101)],
    ['vehicleSpeed', -0.1],
    ['vehicleSpeed', 2000.1],
    ['vehicleSpeed', '50'],
    ['severity', 'high'],
    ['location', { latitude: 90.01, longitude: 0 }],
    ['location', { latitude: 0, longitude: 180.01 }],
    ['location', { latitude: 0 }],
    ['location', 'Main Street'],
    ['location', anAddress(301)],
    ['tags', Array.from({ length: 101 }, () => 't')],
    ['tags', ['t'.repeat(101)]],
    ['tags', ['']],
    ['tags', 'night'],
    ['images', Array.from({ length: 101 }, () => 'i')],
    ['images', ['i'.repeat(2049)]],
    ['images', [`data:image/svg+xml;base64,${'A'.repeat(3000)}`]],
    ['images', [null]],
    ['images', ['']],
    ['images', ['no image today']],
    ['images', ['two\nlines']],
    ['images', ['javascript:alert(1)']],
    ['images', ['<img>']],
    ['metadata', []],
    ['metadata', 'text'],
    ['idempotencyKey', ''],
    ['idempotencyKey', 'k'.repeat(129)],
    ['timestamp', ''],
    ['timestamp', 'yesterday'],
    ['timestamp', '2026-02-30T00:00:00Z'],
    ['timestamp', '2026-01-31T24:00:00Z'],
    ['timestamp', 1_700_000_000_000],
    ['timestamp', '1999-12-31T23:59:59.999Z'],
    ['timestamp', '0001-01-01T00:00:00Z'],
    ['timestamp', '9999-12-31T23:59:59Z'],
    ['timestamp', '+010000-01-01T00:00:00Z'],
    // Text that PostgreSQL cannot store.
    ['description', `a${NUL}b`],
    ['violationType', HALF],
    ['licensePlateNumber', NUL],
    ['vehicleType', `x${HALF}`],
    ['location', { latitude: 1, longitude: 2, address: NUL }],
    ['tags', [`a${HALF}`]],
    ['images', [`https://cameras.example.org/${NUL}`]],
    ['idempotencyKey', HALF],
    ['metadata', { a: { b: [`c${NUL}`] } }],
    ['metadata', { [`a${HALF}`]: 1 }],
    ['metadata', { deep: [{ [NUL]: 1 }] }],
  ])('are refused beyond, and nothing is stored: %s %#', async (name, value) => {
    const before = await countEvents();
    const { status, body } = await send({ timestamp: '2026-01-31', [name]: value });
    expect(status).toBe(400);
    expect(body.error.json).toMatchObject({
      message: expect.stringMatching(/\w{3}/),
      code: -32600,
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
    expect(body.error.json.data.issues[0].path.split('.')[0]).toBe(name);
    expect(await countEvents()).toBe(before);
  });

  it('are refused where a number is too large for JSON', async () => {
    const { status } = await gantry.fetch('/trpc/events.ingest', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"json":{"apiKey":"${sensor.apiKey}","eventType":"INCIDENT","metadata":{"n":1e400}}}`,
    });
    expect(status).toBe(400);
  });
});

describe('the API key', () => {
  const nonsense = { eventType: 'NONSENSE', vehicleSpeed: 'fast' };

  it.each([
    'x',
    '0'.repeat(64),
    'g'.repeat(64),
    `${'0'.repeat(64)} `,
    NUL,
    HALF,
    'k'.repeat(5000),
    'constructor',
  ])('is checked before the rest of the input: %j', async (apiKey) => {
    const { status, body } = await gantry.call('events.ingest', { apiKey, ...nonsense });
    expect(status).toBe(401);
    expect(body).toEqual({
      error: {
        json: { message: 'Invalid API key', code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
      },
    });
  });

  it.each([undefined, null, '', 7, {}, ['x']])('is required when it is %j', async (apiKey) => {
    const { status, body } = await gantry.call('events.ingest', { ...nonsense, apiKey });
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path).toBe('apiKey');
  });

  it.each([undefined, null, 'text', 7, []])('is required when the whole input is %j', async (input) => {
    expect((await gantry.call('events.ingest', input)).status).toBe(400);
  });

  it('as shown to unauthorized users cannot be used', async () => {
    const { apiKey } = await gantry.ok('sensors.getById', { id: sensor.id });
    expect(apiKey).toMatch(/^[0-9a-f]{64}$/);
    expect((await gantry.call('events.ingest', { apiKey, eventType: 'INCIDENT' })).status).toBe(401);
  });

  it('is used without a token, and an invalid one is ignored', async () => {
    const input = { apiKey: sensor.apiKey, eventType: 'INCIDENT' };
    expect((await gantry.call('events.ingest', input, { token: 'stale' })).status).toBe(200);
  });
});

describe('the time of an event', () => {
  it('may be up to five minutes ahead of the service', async () => {
    const soon = new Date(Date.now() + 5 * MINUTE - 2_000).toISOString();
    expect((await ingest({ timestamp: soon })).timestamp).toBe(soon);
    const { status, body } = await send({
      timestamp: new Date(Date.now() + 5 * MINUTE + 2_000).toISOString(),
    });
    expect(status).toBe(400);
    expect(body.error.json.message).toMatch(/5 minutes ahead/);
  });

  it('may be as old as the year 2000', async () => {
    const oldest = '2000-01-01T00:00:00.000Z';
    expect((await ingest({ timestamp: oldest })).timestamp).toBe(oldest);
  });

  it.each([
    ['2026-01-31T08:15:00+05:30', '2026-01-31T02:45:00.000Z'],
    ['2026-01-31T08:15:00-0500', '2026-01-31T13:15:00.000Z'],
    ['2026-01-31 08:15:00.5Z', '2026-01-31T08:15:00.500Z'],
    ['2026-01-31t08:15z', '2026-01-31T08:15:00.000Z'],
    ['2026-01-31T08:15:00,123456789Z', '2026-01-31T08:15:00.123Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T08:15', '2026-01-31T08:15:00.000Z'],
  ])('may be written as %s', async (timestamp, expected) => {
    expect((await ingest({ timestamp })).timestamp).toBe(expected);
  });

  it('may come as a Date of superjson', async () => {
    const timestamp = '2026-01-31T08:15:00.007Z';
    expect((await ingest({ timestamp }, { values: { timestamp: ['Date'] } })).timestamp).toBe(timestamp);
  });

  it('is local to the time zone of the service when it has no offset', async () => {
    await setTimezone('America/New_York');
    try {
      const utcOf = async (timestamp: string) => (await ingest({ timestamp })).timestamp;
      expect(await utcOf('2026-01-31T08:15:00')).toBe('2026-01-31T13:15:00.000Z');
      expect(await utcOf('2026-07-31T08:15:00')).toBe('2026-07-31T12:15:00.000Z');
      expect(await utcOf('2026-01-31')).toBe('2026-01-31T05:00:00.000Z');
      // On 8 March 2026 there was no 2:30.
      expect(await utcOf('2026-03-08T02:30:00')).toBe('2026-03-08T07:30:00.000Z');
      expect(await utcOf('2026-03-08T08:15:00Z')).toBe('2026-03-08T08:15:00.000Z');
    } finally {
      await setTimezone('UTC');
    }
  });
});

describe('the severity of an event', () => {
  it('is reported by the device, or follows from the table', async () => {
    const { id: locationId } = await gantry.ok(
      'locations.create',
      { name: 'School', speedLimit: 30 },
      { token },
    );
    const radar = await addSensor({ type: 'RADAR', locationId });
    const severityOf = async (fields: object) =>
      (await ingest({ apiKey: radar.apiKey, eventType: 'SPEED_DETECTION', ...fields })).severity;
    expect(await severityOf({})).toBeNull();
    expect(await severityOf({ vehicleSpeed: 30 })).toBeNull();
    expect(await severityOf({ vehicleSpeed: 41 })).toBe('MEDIUM');
    expect(await severityOf({ vehicleSpeed: 95 })).toBe('CRITICAL');
    expect(await severityOf({ vehicleSpeed: 95, severity: 'LOW' })).toBe('LOW');
    expect(await severityOf({ violationType: 'red_light' })).toBe('HIGH');
    expect(await severityOf({ eventType: 'INCIDENT' })).toBe('HIGH');
    await gantry.ok('locations.update', { id: locationId, speedLimit: null }, { token });
    expect(await severityOf({ vehicleSpeed: 95 })).toBeNull();
  });
});

describe('the name of the place', () => {
  it("is the event's own address, or the sensor's Location, or the sensor's address, or null", async () => {
    const { id: locationId } = await gantry.ok('locations.create', { name: 'Town Hall' }, { token });
    const coordinates = { latitude: 1, longitude: 2, address: 'Pole 9' };
    const nameFor = async (device: { apiKey: string }, fields: object = {}) =>
      (await ingest({ apiKey: device.apiKey, ...fields })).locationName;
    const both = await addSensor({ locationId, coordinates });
    const own = { location: { latitude: 3, longitude: 4, address: 'Bridge' } };
    expect(await nameFor(both, own)).toBe('Bridge');
    expect(await nameFor(both, { location: { latitude: 3, longitude: 4 } })).toBe('Town Hall');
    expect(await nameFor(both)).toBe('Town Hall');
    expect(await nameFor(await addSensor({ coordinates }))).toBe('Pole 9');
    expect(await nameFor(await addSensor({ coordinates: { latitude: 1, longitude: 2 } }))).toBeNull();
  });

  it('and of the sensor are fixed at ingestion', async () => {
    const { id: locationId } = await gantry.ok('locations.create', { name: 'Before' }, { token });
    const device = await addSensor({ name: 'Camera before', locationId });
    const old = await ingest({ apiKey: device.apiKey });
    await gantry.ok('locations.update', { id: locationId, name: 'After' }, { token });
    await gantry.ok('sensors.update', { id: device.id, name: 'Camera after' }, { token });
    const fresh = await ingest({ apiKey: device.apiKey });
    expect(fresh).toMatchObject({ locationName: 'After', sensorName: 'Camera after' });
    await gantry.ok('sensors.delete', { id: device.id }, { token });
    expect(await get(old.id)).toEqual(old);
    expect(old).toMatchObject({ locationName: 'Before', sensorName: 'Camera before', sensorId: device.id });
  });
});
