import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type KnownSensor, SensorKeys } from '../src/sensors/sensor-keys.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

const create = (): Promise<{ id: string; apiKey: string }> =>
  gantry.ok('sensors.create', { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA' }, { token });
const rotate = (id: string, overlapMinutes?: number): Promise<{ id: string; apiKey: string }> =>
  gantry.ok('sensors.rotateKey', { id, ...(overlapMinutes !== undefined && { overlapMinutes }) }, { token });
const infoOf = (id: string) => gantry.ok('sensors.getKeyInfo', { id }, { token });
const heartbeat = async (apiKey: string, at = gantry) =>
  (await at.call('sensors.heartbeat', { apiKey })).status;
const ingest = async (apiKey: string, at = gantry) =>
  (await at.call('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' })).status;
const endOverlap = (id: string) =>
  gantry.pool.query(`UPDATE sensors SET previous_key_until = now() + interval '300 ms' WHERE id = $1`, [id]);
const NOTHING = { lastUsedAt: null, rotatedAt: null, previousValidUntil: null, previousLastUsedAt: null };

describe('a rotation with an overlap', () => {
  it('keeps the previous key valid for the given time, and no longer', async () => {
    const { id, apiKey } = await create();
    const rotated = await rotate(id, 10);
    expect(rotated).toEqual({ id, apiKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
    for (const key of [apiKey, rotated.apiKey]) {
      expect([await heartbeat(key), await ingest(key)]).toEqual([200, 200]);
    }
    const { previousValidUntil, rotatedAt } = await infoOf(id);
    expect(Date.parse(previousValidUntil) - Date.parse(rotatedAt)).toBe(600_000);
    expect(await gantry.ok('sensors.getById', { id }, { token })).toMatchObject({ apiKey: rotated.apiKey });
    await endOverlap(id);
    // The key is read again, as after a notification or a while. From here on, the cache may keep it only until the
    // overlap ends.
    gantry.app.context.sensorKeys.forget(id);
    expect(await ingest(apiKey)).toBe(200);
    await eventually(
      () => ingest(apiKey),
      (status) => status === 401,
    );
    expect(await heartbeat(apiKey)).toBe(401);
    expect([await heartbeat(rotated.apiKey), await ingest(rotated.apiKey)]).toEqual([200, 200]);
    expect(await infoOf(id)).toMatchObject({ previousValidUntil: null, previousLastUsedAt: null });
  });

  it('keeps no previous key unless an overlap is requested', async () => {
    const { id, apiKey } = await create();
    await rotate(id);
    expect([await heartbeat(apiKey), await ingest(apiKey)]).toEqual([401, 401]);
    expect(await infoOf(id)).toEqual({ ...NOTHING, rotatedAt: expect.any(String) });
  });

  it('applies only to the previous key, and ends with the next rotation', async () => {
    const { id, apiKey } = await create();
    const second = await rotate(id, 1_440);
    const third = await rotate(id, 5);
    expect(await Promise.all([apiKey, second.apiKey, third.apiKey].map((key) => ingest(key)))).toEqual([
      401, 200, 200,
    ]);
    const fourth = await rotate(id, 0);
    expect(await Promise.all([second.apiKey, third.apiKey, fourth.apiKey].map((key) => ingest(key)))).toEqual(
      [401, 401, 200],
    );
  });

  it('applies in every process', async () => {
    const url = gantry.app.context.config.DATABASE_URL ?? '';
    const other = await startGantry({ config: { DATABASE_URL: url } });
    try {
      const { id, apiKey } = await create();
      expect(await ingest(apiKey, other)).toBe(200);
      const rotated = await rotate(id, 10);
      await eventually(
        () => ingest(rotated.apiKey, other),
        (status) => status === 200,
      );
      expect([await ingest(apiKey, other), await heartbeat(apiKey, other)]).toEqual([200, 200]);
      await rotate(id, 0);
      for (const key of [apiKey, rotated.apiKey]) {
        await eventually(
          () => ingest(key, other),
          (status) => status === 401,
        );
      }
    } finally {
      await other.stop();
    }
  });

  it('lasts one day at most', async () => {
    const { id } = await create();
    for (const overlapMinutes of [-1, 1_441, 1.5, '10', null]) {
      const { status } = await gantry.call('sensors.rotateKey', { id, overlapMinutes }, { token });
      expect([overlapMinutes, status]).toEqual([overlapMinutes, 400]);
    }
    for (const unknown of ['x', '00000000-0000-0000-0000-000000000000']) {
      for (const verb of ['rotateKey', 'revealKey', 'getKeyInfo']) {
        expect((await gantry.call(`sensors.${verb}`, { id: unknown }, { token })).status).toBe(404);
      }
    }
  });
});

describe('the use of a key', () => {
  it('is shown for the current key and the previous one', async () => {
    const { id, apiKey } = await create();
    expect(await infoOf(id)).toEqual(NOTHING);
    await heartbeat(apiKey);
    const used = await infoOf(id);
    expect(used).toEqual({ ...NOTHING, lastUsedAt: expect.any(String) });
    const rotated = await rotate(id, 10);
    expect(await infoOf(id)).toMatchObject({ lastUsedAt: null, previousLastUsedAt: used.lastUsedAt });
    await heartbeat(apiKey);
    const before = await infoOf(id);
    expect(before.lastUsedAt).toBeNull();
    expect(Date.parse(before.previousLastUsedAt)).toBeGreaterThan(Date.parse(used.lastUsedAt));
    await heartbeat(rotated.apiKey);
    expect(await infoOf(id)).toMatchObject({
      lastUsedAt: expect.any(String),
      previousLastUsedAt: before.previousLastUsedAt,
    });
  });

  it('is updated within seconds of an event', async () => {
    const { id, apiKey } = await create();
    await ingest(apiKey);
    await eventually(
      () => infoOf(id),
      ({ lastUsedAt }) => lastUsedAt !== null,
      20_000,
    );
    const rotated = await rotate(id, 10);
    const before = await infoOf(id);
    await eventually(
      async () => {
        await ingest(apiKey);
        return infoOf(id);
      },
      ({ previousLastUsedAt }) => previousLastUsedAt > before.previousLastUsedAt,
      20_000,
    );
    expect((await infoOf(id)).lastUsedAt).toBeNull();
    await eventually(
      async () => {
        await ingest(rotated.apiKey);
        return infoOf(id);
      },
      ({ lastUsedAt }) => lastUsedAt !== null,
      20_000,
    );
  });
});

describe('sensors.revealKey', () => {
  it('returns the key, and is recorded without it', async () => {
    const { id, apiKey } = await create();
    expect(await gantry.ok('sensors.revealKey', { id: id.toUpperCase() }, { token })).toEqual({ id, apiKey });
    await rotate(id, 15);
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'sensorId' = $1 AND action LIKE '%Key' ORDER BY id`,
      [id],
    );
    const details = { sensorId: id, name: 'Camera', deviceId: expect.any(String) };
    expect(rows).toEqual([
      { action: 'sensors.revealKey', details },
      { action: 'sensors.rotateKey', details: { ...details, overlapMinutes: 15 } },
    ]);
  });
});

describe('the cache of keys', () => {
  it('keeps the previous key no longer than it is valid', async () => {
    const sensor: KnownSensor = {
      id: 'one',
      name: 'Mast',
      address: null,
      locationId: null,
      locationName: null,
      speedLimit: null,
      eventsPerMin: 20,
      previousKey: { validMs: 200.5 },
    };
    let asked = 0;
    const keys = new SensorKeys(async () => (asked++ === 0 ? sensor : null));
    const key = 'a'.repeat(64);
    expect(await keys.find(key)).toEqual(sensor);
    await eventually(
      async () => keys.find(key),
      (found) => found === null,
    );
    expect(asked).toBe(2);
  });
});
