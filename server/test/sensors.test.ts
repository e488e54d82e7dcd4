import { randomUUID } from 'node:crypto';
import { permissions, role } from '@gantry/contract/permissions';
import { sensorStatus, sensorType } from '@gantry/contract/sensors';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';

interface SensorJson {
  id: string;
  name: string;
  deviceId: string;
  status: string;
  apiKey: string;
  locationId: string | null;
  createdAt: string;
  updatedAt: string;
}

const CREATED_KEYS = [
  'apiKey',
  'coordinates',
  'createdAt',
  'description',
  'deviceId',
  'eventsPerMin',
  'id',
  'ipAddress',
  'locationId',
  'name',
  'status',
  'type',
  'updatedAt',
];
const FULL_KEYS = [
  ...CREATED_KEYS,
  'certificatePlace',
  'direction',
  'firmware',
  'lane',
  'lastCommunication',
  'lastHeartbeat',
  'lastPing',
  'macAddress',
  'make',
  'model',
  'serialNumber',
  'tags',
  'warrantyUntil',
].sort();
const STRANGE_IDS = ['x', 'constructor', "'; DROP TABLE sensors; --", '\u0000', '\ud800', randomUUID()];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
const operator: { id: string; firstName: string; lastName: string } = await gantry.ok('auth.me', undefined, {
  token,
});

const ok = <Output = SensorJson>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input?: unknown) => gantry.refusal(procedure, input, { token });
const camera = (fields: object = {}) => ({
  name: 'Camera',
  deviceId: randomUUID(),
  type: 'CAMERA',
  ...fields,
});
const create = (fields: object = {}): Promise<SensorJson> => ok('sensors.create', camera(fields));
const historyOf = async (id: string) =>
  (
    await ok<{ history: { from: string | null; to: string; reason: string }[] }>('sensors.getStatusHistory', {
      id,
    })
  ).history;

describe('sensors.create', () => {
  it('returns the new sensor, OFFLINE, with a key and exactly the documented keys', async () => {
    const location = await ok<{ id: string }>('locations.create', { name: 'Bridge' });
    const input = {
      name: 'North camera',
      deviceId: 'CAM-0001',
      type: 'ANPR',
      eventsPerMin: 45,
      ipAddress: '10.0.0.7',
      coordinates: { latitude: 48.1, longitude: 11.5, address: 'North ramp' },
      description: 'Looks south',
      locationId: location.id,
    };
    const sensor = await ok('sensors.create', input);
    expect(Object.keys(sensor).sort()).toEqual(CREATED_KEYS);
    expect(sensor).toMatchObject({ ...input, status: 'OFFLINE' });
    expect(sensor.apiKey).toMatch(/^[0-9a-f]{64}$/);
    const read = await ok('sensors.getById', { id: sensor.id });
    expect(Object.keys(read).sort()).toEqual(FULL_KEYS);
    expect(read).toEqual({
      ...sensor,
      firmware: null,
      lastCommunication: null,
      lastHeartbeat: null,
      lastPing: null,
      macAddress: null,
      lane: null,
      direction: null,
      make: null,
      model: null,
      serialNumber: null,
      warrantyUntil: null,
      certificatePlace: null,
      tags: [],
    });
  });

  it('stores what it is and covers, which only sensors.getById and sensors.update show', async () => {
    const more = {
      lane: 3,
      direction: 'NB',
      model: 'X-200',
      serialNumber: '00-42',
      tags: ['Tunnel', 'east'],
    };
    const made = await create({ ...more, lane: '3', tags: [' Tunnel ', 'east'] });
    expect(Object.keys(made).sort()).toEqual(CREATED_KEYS);
    const { id } = made;
    expect(await ok('sensors.getById', { id })).toMatchObject(more);
    const cleared = { lane: null, direction: null, model: null, serialNumber: null, tags: [] };
    expect(await ok('sensors.update', { id, ...cleared })).toMatchObject(cleared);
    const again = {
      lane: 'bus',
      direction: 'BOTH',
      tags: Array.from({ length: 20 }, (_, n) => `${n}`.repeat(20)),
    };
    expect(await ok('sensors.update', { id, ...again })).toMatchObject(again);
    expect(await ok('sensors.update', { id, name: 'Other' })).toMatchObject(again);
  });

  it.each([
    [{ tags: ['Tunnel', 'TUNNEL'] }, 'tags', 'The tags "Tunnel" and "TUNNEL" are the same: leave one out'],
    [{ tags: ['İstanbul', 'i̇stanbul'] }, 'tags', 'are the same'],
    [{ tags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 'tags', 'Use at most 20 tags'],
    [{ tags: ['t'.repeat(41)] }, 'tags.0', 'Use at most 40 characters'],
    [{ tags: [' '] }, 'tags.0', 'Must not be empty'],
    [{ tags: 'tunnel' }, 'tags', 'Must be a list'],
    [{ lane: 17 }, 'lane', 'from 1 to 16'],
    [{ direction: 'APPROACHING' }, 'direction', 'Use NB, NE'],
    [{ model: 'm'.repeat(101) }, 'model', 'Use at most 100 characters'],
    [{ serialNumber: '\u0000' }, 'serialNumber', 'NUL'],
  ])('refuses %j', async (fields, path, message) => {
    const issue = { path, message: expect.stringContaining(message) };
    for (const [procedure, input] of [
      ['sensors.create', camera(fields)],
      ['sensors.update', { id: randomUUID(), ...fields }],
    ] as const) {
      const { status, data } = await refusal(procedure, input);
      expect({ status, issues: data.issues }).toEqual({ status: 400, issues: [issue] });
    }
  });

  it('leaves null what is not given and defaults to 20 events a minute', async () => {
    expect(await create()).toMatchObject({
      eventsPerMin: 20,
      ipAddress: null,
      coordinates: null,
      description: null,
      locationId: null,
    });
  });

  it('begins the status history', async () => {
    const { id } = await create();
    const { body } = await gantry.call('sensors.getStatusHistory', { id }, { token });
    const { at } = body.result.data.json.history[0];
    expect(body.result.data.json).toEqual({
      sensorId: id,
      history: [
        {
          from: null,
          to: 'OFFLINE',
          at,
          reason: 'registered',
          changedBy: { id: operator.id, name: `${operator.firstName} ${operator.lastName}` },
        },
      ],
      total: 1,
      pageCount: 1,
    });
    expect(body.result.data.meta.values['history.0.at']).toEqual(['Date']);
  });

  it('accepts values at their limits, counting characters as people do', async () => {
    for (const fields of [
      { name: 'abc' },
      { name: 'n'.repeat(50) },
      { name: '😀'.repeat(50) },
      { deviceId: 'd-1' },
      { deviceId: `${randomUUID()}${'d'.repeat(14)}` },
      { eventsPerMin: 1 },
      { eventsPerMin: 1_000_000 },
      { ipAddress: 'h'.repeat(255) },
      { description: 'd'.repeat(2000) },
      { coordinates: { latitude: 90, longitude: -180 } },
      ...sensorType.options.map((type) => ({ type })),
    ]) {
      expect(await create(fields)).toMatchObject(fields);
    }
  });

  it.each([
    { name: undefined },
    { name: 'ab' },
    { name: ' ab ' },
    { name: '😀😀' },
    { name: 'n'.repeat(51) },
    { name: 'a\u0000bc' },
    { deviceId: undefined },
    { deviceId: 'ab' },
    { deviceId: 'd'.repeat(51) },
    { deviceId: 'abc\ud800' },
    { type: undefined },
    { type: 'camera' },
    { type: 'DRONE' },
    { eventsPerMin: 0 },
    { eventsPerMin: -1 },
    { eventsPerMin: 1.5 },
    { eventsPerMin: 1_000_001 },
    { eventsPerMin: '20' },
    { ipAddress: 'h'.repeat(256) },
    { description: 'd'.repeat(2001) },
    { coordinates: { latitude: 90.01, longitude: 0 } },
    { coordinates: { longitude: 0 } },
    { locationId: '' },
    { locationId: 'nowhere' },
    { locationId: randomUUID() },
  ])('refuses %j, naming the field, and stores nothing', async (fields) => {
    const before = await ok<{ total: number }>('sensors.getAll');
    const { status, data } = await refusal('sensors.create', camera(fields));
    expect({ status, code: data.code }).toEqual({ status: 400, code: 'BAD_REQUEST' });
    expect(data.issues[0].path.split('.')[0]).toBe(Object.keys(fields)[0]);
    expect((await ok<{ total: number }>('sensors.getAll')).total).toBe(before.total);
  });

  it('refuses a deviceId in use, exactly as documented', async () => {
    const { deviceId } = await create();
    expect(await refusal('sensors.create', camera({ deviceId }))).toEqual({
      status: 400,
      message: `The deviceId "${deviceId}" is already in use: choose another one`,
      code: -32600,
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
  });

  it('gives a deviceId to one of twelve concurrent calls', async () => {
    const input = camera();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gantry.call('sensors.create', input, { token })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(400)]);
    const { rows } = await gantry.pool.query('SELECT id FROM sensors WHERE device_id = $1', [input.deviceId]);
    expect(rows).toHaveLength(1);
    expect(await historyOf(rows[0].id)).toHaveLength(1);
  });
});

describe('sensors.update', () => {
  it('changes the given fields, leaves the others, and returns the whole sensor', async () => {
    const made = await create({ ipAddress: '10.1.1.1', description: 'words' });
    await gantry.pool.query(`UPDATE sensors SET updated_at = '2020-01-01' WHERE id = $1`, [made.id]);
    const location = await ok<{ id: string }>('locations.create', { name: 'New place' });
    const changes = {
      name: 'Renamed',
      type: 'RADAR',
      eventsPerMin: 7,
      coordinates: { latitude: 1.5, longitude: 2.5 },
      locationId: location.id,
    };
    const updated = await ok('sensors.update', { id: made.id, ...changes, deviceId: 'ignored' });
    expect(Object.keys(updated).sort()).toEqual(FULL_KEYS);
    expect(updated).toMatchObject({ ...made, ...changes, updatedAt: updated.updatedAt });
    expect(updated.updatedAt >= made.updatedAt).toBe(true);
    expect(await ok('sensors.getById', { id: made.id })).toEqual(updated);
  });

  it('clears nullable fields with null, and no others', async () => {
    const location = await ok<{ id: string }>('locations.create', { name: 'Left behind' });
    const { id } = await create({
      ipAddress: '10.1.1.1',
      description: 'words',
      coordinates: { latitude: 1, longitude: 2 },
      locationId: location.id,
    });
    const empty = { ipAddress: null, description: null, coordinates: null, locationId: null };
    expect(await ok('sensors.update', { id, ...empty })).toMatchObject(empty);
    for (const field of ['name', 'type', 'status', 'eventsPerMin']) {
      expect((await refusal('sensors.update', { id, [field]: null })).status, field).toBe(400);
    }
  });

  it('sets any status by hand and records each change in the history', async () => {
    const { id } = await create();
    const wanted = [...sensorStatus.options, 'ERROR', 'ONLINE', 'ERROR', 'OFFLINE'];
    for (const status of wanted) expect((await ok('sensors.update', { id, status })).status).toBe(status);
    const changes = (await historyOf(id)).reverse();
    expect(changes.map(({ from, to }) => [from, to])).toEqual([
      [null, 'OFFLINE'],
      ['OFFLINE', 'ONLINE'],
      ['ONLINE', 'OFFLINE'],
      ['OFFLINE', 'MAINTENANCE'],
      ['MAINTENANCE', 'ERROR'],
      ['ERROR', 'ONLINE'],
      ['ONLINE', 'ERROR'],
      ['ERROR', 'OFFLINE'],
    ]);
    for (const change of changes.slice(1)) {
      expect(change).toMatchObject({ reason: 'set by hand', changedBy: { id: operator.id } });
    }
  });

  it.each([
    { name: 'ab' },
    { name: 'n'.repeat(51) },
    { type: 'DRONE' },
    { status: 'BROKEN' },
    { status: 'online' },
    { eventsPerMin: 0 },
    { coordinates: { latitude: 0, longitude: 181 } },
    { locationId: 'nowhere' },
    { locationId: randomUUID() },
  ])('refuses %j, naming the field, and changes nothing', async (fields) => {
    const made = await create();
    const { status, data } = await refusal('sensors.update', { id: made.id, description: 'x', ...fields });
    expect(status).toBe(400);
    expect(data.issues[0].path.split('.')[0]).toBe(Object.keys(fields)[0]);
    expect(await ok('sensors.getById', { id: made.id })).toMatchObject(made);
    expect(await historyOf(made.id)).toHaveLength(1);
  });

  it('loses no change among many concurrent ones', async () => {
    const { id, apiKey } = await create();
    const statuses = ['MAINTENANCE', 'ERROR', 'ONLINE', 'OFFLINE'];
    await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        n % 2 === 0
          ? ok('sensors.update', { id, status: statuses[(n / 2) % 4], description: `change ${n}` })
          : ok('sensors.heartbeat', { apiKey, firmware: `v${n}` }),
      ),
    );
    const changes = (await historyOf(id)).reverse();
    for (const [n, change] of changes.entries()) expect(change.from).toBe(changes[n - 1]?.to ?? null);
    const sensor = await ok<Record<string, string>>('sensors.getById', { id });
    expect(sensor.status).toBe(changes.at(-1)?.to);
    expect(sensor.firmware).toMatch(/^v\d+$/);
    expect(sensor.description).toMatch(/^change \d+$/);
  });

  it('makes ingestion use the new name at once and notifies the other processes', async () => {
    const { id, apiKey } = await create({ name: 'Old name' });
    const nameAtIngestion = async () => {
      const { eventId } = await ok<{ eventId: string }>('events.ingest', {
        apiKey,
        eventType: 'VEHICLE_DETECTION',
      });
      return (await ok<{ sensorName: string }>('events.getById', { id: eventId })).sensorName;
    };
    expect(await nameAtIngestion()).toBe('Old name');
    const heard: (string | undefined)[] = [];
    const listener = await gantry.pool.connect();
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query('LISTEN gantry_sensors');
    await ok('sensors.update', { id: id.toUpperCase(), name: 'New name' });
    expect(await nameAtIngestion()).toBe('New name');
    await ok('sensors.rotateKey', { id: id.toUpperCase() });
    await ok('sensors.delete', { id: id.toUpperCase() });
    await eventually(
      async () => heard,
      () => heard.length === 3,
    );
    listener.release(true);
    expect(heard).toEqual([id, id, id]);
  });
});

describe('sensors.delete', () => {
  it('removes the sensor, frees its deviceId, and leaves its events', async () => {
    const { id, apiKey, deviceId } = await create({ name: 'Doomed' });
    const { eventId } = await ok<{ eventId: string }>('events.ingest', { apiKey, eventType: 'INCIDENT' });
    expect(await ok('sensors.delete', { id })).toEqual({ success: true, id });
    for (const procedure of ['getById', 'update', 'delete', 'rotateKey', 'ping', 'getStatusHistory']) {
      expect((await refusal(`sensors.${procedure}`, { id })).status, procedure).toBe(404);
    }
    const all = await ok<SensorJson[]>('sensors.getAllSensors');
    expect(all.filter((sensor) => sensor.id === id)).toEqual([]);
    expect(await ok('events.getById', { id: eventId })).toMatchObject({ sensorId: id, sensorName: 'Doomed' });
    expect((await create({ deviceId })).id).not.toBe(id);
  });
});

describe('sensors.getStatusHistory', () => {
  it('returns pages, newest first', async () => {
    const { id } = await create();
    for (const status of ['ONLINE', 'ERROR', 'MAINTENANCE']) await ok('sensors.update', { id, status });
    const page = await ok<{ history: { to: string }[] }>('sensors.getStatusHistory', {
      id,
      skip: 1,
      take: 2,
    });
    expect(page).toMatchObject({ sensorId: id, total: 4, pageCount: 2 });
    expect(page.history.map(({ to }) => to)).toEqual(['ERROR', 'ONLINE']);
    for (const input of [{ take: 0 }, { take: 101 }, { skip: -1 }]) {
      expect((await refusal('sensors.getStatusHistory', { id, ...input })).status).toBe(400);
    }
  });

  it('shows only the name of a deleted user', async () => {
    const admin = await gantry.tokenFor('ADMIN');
    const leaver = await gantry.ok(
      'users.create',
      {
        email: 'leaver@gantry.local',
        password: 'Correct-horse-1',
        firstName: 'Lea',
        lastName: 'Ver',
        role: 'OPERATOR',
      },
      { token: admin },
    );
    const own = await gantry.login('leaver@gantry.local', 'Correct-horse-1');
    const { id } = await gantry.ok('sensors.create', camera(), { token: own });
    expect(await historyOf(id)).toMatchObject([{ changedBy: { id: leaver.id, name: 'Lea Ver' } }]);
    await gantry.ok('users.delete', { id: leaver.id }, { token: admin });
    expect(await historyOf(id)).toMatchObject([{ changedBy: { id: leaver.id, name: 'Lea Ver' } }]);
  });
});

describe('every sensors procedure', () => {
  it('finds nothing by an unusual id, whatever its format', async () => {
    for (const id of STRANGE_IDS) {
      for (const verb of ['getById', 'update', 'delete', 'rotateKey', 'ping', 'getStatusHistory']) {
        expect(await refusal(`sensors.${verb}`, { id }), `${verb} ${id}`).toEqual({
          status: 404,
          message: 'Sensor not found',
          code: -32004,
          data: { code: 'NOT_FOUND', httpStatus: 404 },
        });
      }
    }
    for (const input of [{}, { id: '' }, { id: 5 }, { id: null }]) {
      expect((await refusal('sensors.getById', input)).status).toBe(400);
    }
  });

  it('requires a login before the input is checked, except where reading is public', async () => {
    for (const verb of ['create', 'update', 'delete', 'rotateKey', 'ping', 'getStatusHistory']) {
      const { status, body } = await gantry.call(`sensors.${verb}`, {});
      expect({ status, ...body.error.json }, verb).toEqual({
        status: 401,
        message: 'No token provided',
        code: -32001,
        data: { code: 'UNAUTHORIZED', httpStatus: 401 },
      });
    }
    const { id } = await create();
    const tokens: Record<string, string>[] = [{}, { authorization: 'Bearer stale' }];
    for (const [verb, input] of [['getAll'], ['getAllSensors'], ['getById', { id }]] as const) {
      for (const headers of tokens) {
        expect((await gantry.call(`sensors.${verb}`, input, { headers })).status, verb).toBe(200);
      }
    }
  });

  it.each(role.options)('lets %s read, and change only with Manage Sensors', async (name) => {
    const own = await gantry.tokenFor(name);
    const may = (permissions.manageSensors as readonly string[]).includes(name);
    for (const verb of ['create', 'update', 'delete', 'rotateKey', 'ping']) {
      const { status } = await gantry.call(`sensors.${verb}`, {}, { token: own });
      expect(status, verb).toBe(may ? 400 : 403);
    }
    const { id } = await create();
    for (const verb of ['getById', 'getStatusHistory']) {
      expect((await gantry.call(`sensors.${verb}`, { id }, { token: own })).status, verb).toBe(200);
    }
  });

  it('records changes in the activity log, never with a key', async () => {
    const { id, deviceId, apiKey } = await create({ name: 'Logged' });
    await ok('sensors.update', { id, status: 'ERROR', ipAddress: null });
    const rotated = await ok('sensors.rotateKey', { id });
    await ok('sensors.delete', { id });
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'sensorId' = $1 ORDER BY id`,
      [id],
    );
    const details = { sensorId: id, name: 'Logged', deviceId };
    expect(rows).toEqual([
      { action: 'sensors.create', details },
      { action: 'sensors.update', details: { ...details, fields: ['status', 'ipAddress'] } },
      { action: 'sensors.rotateKey', details },
      { action: 'sensors.delete', details },
    ]);
    const { rows: everything } = await gantry.pool.query(
      `SELECT count(*) AS n FROM activity WHERE details::text LIKE ANY ($1)`,
      [[`%${apiKey}%`, `%${rotated.apiKey}%`]],
    );
    expect(everything).toEqual([{ n: 0 }]);
  });
});
