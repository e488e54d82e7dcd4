import { createHash, randomUUID } from 'node:crypto';
import { role } from '@gantry/contract/permissions';
import { beforeAll, describe, expect, it } from 'vitest';
import { findSensorByKey } from '../src/sensors/store.ts';
import { type Gantry, sharedGantry, startGantry } from './harness.ts';

interface SensorJson {
  id: string;
  apiKey: string;
}

const INVALID_KEY = {
  status: 401,
  message: 'Invalid API key',
  code: -32001,
  data: { code: 'UNAUTHORIZED', httpStatus: 401 },
};

let sensor: SensorJson;
const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
beforeAll(async () => {
  sensor = await create();
});

const create = (fields: object = {}): Promise<SensorJson> =>
  gantry.ok(
    'sensors.create',
    { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', ...fields },
    { token },
  );
const fingerprint = (key: string) => createHash('sha256').update(key).digest('hex');
const speak = async (procedure: string, apiKey: unknown, rest: object = {}) => {
  const { status, body } = await gantry.call(procedure, { apiKey, ...rest });
  return { status, ...(body.error ?? body.result.data).json };
};
const heartbeat = (apiKey: unknown, rest: object = {}) => speak('sensors.heartbeat', apiKey, rest);
const ingest = (apiKey: unknown) => speak('events.ingest', apiKey, { eventType: 'INCIDENT' });

/** The key of the sensor as returned by each public procedure. */
const shownKeys = async (service: Gantry, id: string, headers: Record<string, string>) => {
  const [page, all, one] = await Promise.all([
    service.ok<{ sensors: SensorJson[] }>('sensors.getAll', { take: 100 }, { headers }),
    service.ok<SensorJson[]>('sensors.getAllSensors', undefined, { headers }),
    service.ok<SensorJson>('sensors.getById', { id }, { headers }),
  ]);
  return [...page.sensors, ...all, one].filter((item) => item.id === id).map(({ apiKey }) => apiKey);
};
const bearer = (value: string) => ({ authorization: `Bearer ${value}` });

describe('the API key in public answers', () => {
  it('is a fingerprint for anonymous callers and for invalid tokens', async () => {
    const gone = await gantry.login('operator@gantry.local', 'Correct-horse-1');
    await gantry.ok('auth.logout', undefined, { token: gone });
    const strangers = [
      {},
      bearer('nonsense'),
      bearer(gone),
      { authorization: token },
      { authorization: 'Basic YTpi' },
    ];
    for (const headers of strangers) {
      expect(await shownKeys(gantry, sensor.id, headers)).toEqual(Array(3).fill(fingerprint(sensor.apiKey)));
    }
  });

  it.each(role.options)('for %s is the key only with Manage Sensors', async (name) => {
    const own = await gantry.tokenFor(name);
    const expected = ['ADMIN', 'OPERATOR'].includes(name) ? sensor.apiKey : fingerprint(sensor.apiKey);
    expect(await shownKeys(gantry, sensor.id, bearer(own))).toEqual(Array(3).fill(expected));
  });

  it('is never the key in refusals', async () => {
    const { body } = await gantry.call('sensors.update', { id: sensor.id, name: 'x' }, { token });
    expect(JSON.stringify(body)).not.toContain(sensor.apiKey);
  });

  it('cannot be used as a key', async () => {
    expect(await heartbeat(fingerprint(sensor.apiKey))).toEqual(INVALID_KEY);
    expect(await ingest(fingerprint(sensor.apiKey))).toEqual(INVALID_KEY);
  });

  it('is the key for everybody with PUBLIC_SENSOR_KEYS', async () => {
    await using literal = await startGantry({ config: { PUBLIC_SENSOR_KEYS: 'true' } });
    const made = await literal.ok<SensorJson>(
      'sensors.create',
      { name: 'Camera', deviceId: 'open', type: 'CAMERA' },
      { token: await literal.tokenFor('ADMIN') },
    );
    expect(await shownKeys(literal, made.id, {})).toEqual(Array(3).fill(made.apiKey));
  });
});

describe('an API key', () => {
  it('is returned to those who create or change a sensor, and is different for each', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create()));
    expect(new Set(made.map(({ apiKey }) => apiKey)).size).toBe(8);
    for (const { id, apiKey } of made) {
      const updated = await gantry.ok('sensors.update', { id, name: 'Renamed' }, { token });
      expect(updated.apiKey).toBe(apiKey);
    }
  });

  it.each(['x', '0'.repeat(64), 'g'.repeat(64), '\u0000', '\ud800', 'constructor', 'k'.repeat(1000)])(
    'that belongs to no sensor (%j) is unauthorized',
    async (apiKey) => {
      expect(await heartbeat(apiKey)).toEqual(INVALID_KEY);
    },
  );

  it('is accepted in lower case only', async () => {
    expect(await heartbeat(sensor.apiKey.toUpperCase())).toEqual(INVALID_KEY);
    expect(await heartbeat(` ${sensor.apiKey}`)).toEqual(INVALID_KEY);
  });

  it('is required before the rest of the input is checked', async () => {
    const rest = { issues: 'nonsense' };
    expect(await heartbeat('x', rest)).toEqual(INVALID_KEY);
    expect(await heartbeat(sensor.apiKey, rest)).toMatchObject({ status: 400 });
    for (const missing of [undefined, null, '', 7]) {
      expect(await heartbeat(missing, rest)).toMatchObject({
        status: 400,
        data: { issues: [{ path: 'apiKey' }] },
      });
    }
  });
});

describe('sensors.rotateKey', () => {
  it('returns the new key; the old one is invalid at once', async () => {
    const { id, apiKey } = await create();
    await gantry.ok('sensors.heartbeat', { apiKey });
    await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    const rotated = await gantry.ok('sensors.rotateKey', { id }, { token });
    expect(rotated).toEqual({ id, apiKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(rotated.apiKey).not.toBe(apiKey);
    expect(await heartbeat(apiKey)).toEqual(INVALID_KEY);
    expect(await ingest(apiKey)).toEqual(INVALID_KEY);
    expect(await heartbeat(rotated.apiKey)).toMatchObject({ status: 'ONLINE', success: true });
    expect(await ingest(rotated.apiKey)).toMatchObject({ success: true });
    expect(await gantry.ok('sensors.getById', { id }, { token })).toMatchObject({ apiKey: rotated.apiKey });
  });

  it('invalidates the old key here even while the process receives no notifications', async () => {
    const { id, apiKey } = await create();
    await gantry.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'gantry listener'`,
    );
    await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    await gantry.ok('sensors.rotateKey', { id }, { token });
    expect(await ingest(apiKey)).toEqual(INVALID_KEY);
  });

  it('leaves one valid key after concurrent rotations', async () => {
    const { id } = await create();
    const rotated = await Promise.all(
      Array.from({ length: 6 }, () => gantry.ok<SensorJson>('sensors.rotateKey', { id }, { token })),
    );
    const answers = await Promise.all(rotated.map(({ apiKey }) => heartbeat(apiKey)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(401), 'ONLINE']);
  });

  it('invalidates the old key even where a process still has it cached', async () => {
    const { id, apiKey } = await create();
    await gantry.ok('sensors.heartbeat', { apiKey });
    const { rows } = await gantry.pool.query(
      'UPDATE sensors SET api_key = md5(id::text) || md5(device_id) WHERE id = $1 RETURNING api_key',
      [id],
    );
    expect(await heartbeat(apiKey)).toEqual(INVALID_KEY);
    expect(await heartbeat(rows[0].api_key)).toMatchObject({ status: 'ONLINE' });
  });
});

describe('sensors.delete', () => {
  it('invalidates the key at once', async () => {
    const { id, apiKey } = await create();
    await gantry.ok('sensors.heartbeat', { apiKey });
    await gantry.ok('sensors.delete', { id }, { token });
    expect(await heartbeat(apiKey)).toEqual(INVALID_KEY);
    expect(await ingest(apiKey)).toEqual(INVALID_KEY);
  });
});

describe('the cached data of a key', () => {
  it('is the sensor, its location and the speed limit there', async () => {
    const location = await gantry.ok('locations.create', { name: 'Bridge', speedLimit: 50 }, { token });
    const coordinates = { latitude: 1, longitude: 2, address: 'North ramp' };
    const placed = await create({ name: 'Placed', locationId: location.id, coordinates });
    const { db } = gantry.app.context;
    expect(await findSensorByKey(db, placed.apiKey)).toEqual({
      id: placed.id,
      name: 'Placed',
      address: 'North ramp',
      locationId: location.id,
      locationName: 'Bridge',
      speedLimit: 50,
      eventsPerMin: 20,
    });
    expect(await findSensorByKey(db, sensor.apiKey)).toEqual({
      id: sensor.id,
      name: 'Camera',
      address: null,
      locationId: null,
      locationName: null,
      speedLimit: null,
      eventsPerMin: 20,
    });
    expect(await findSensorByKey(db, '0'.repeat(64))).toBeNull();
  });
});
