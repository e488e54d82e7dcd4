import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type KnownSensor, SensorKeys } from '../src/sensors/sensor-keys.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

const keyOf = (n: number) => n.toString(16).padStart(64, '0');
const sensorOf = (id: string, name = 'Mast'): KnownSensor => ({
  id,
  name,
  address: null,
  locationId: null,
  locationName: null,
  speedLimit: null,
  eventsPerMin: 20,
});

/** A cache over a table in memory, and the keys of the queries that it has made. */
const cacheOver = (table: Map<string, KnownSensor>) => {
  const asked: string[] = [];
  const keys = new SensorKeys(async (apiKey) => {
    asked.push(apiKey);
    return table.get(apiKey) ?? null;
  });
  return { keys, asked };
};

describe('the cache of sensor keys', () => {
  it('queries a key once, however many wait for it', async () => {
    const { keys, asked } = cacheOver(new Map([[keyOf(1), sensorOf('one')]]));
    const found = await Promise.all(Array.from({ length: 50 }, () => keys.find(keyOf(1))));
    expect(new Set(found.map((sensor) => sensor?.id))).toEqual(new Set(['one']));
    expect(keys.find(keyOf(1))).toEqual(sensorOf('one'));
    expect(asked).toHaveLength(1);
  });

  it('queries an unknown key once, and an invalid one not at all', async () => {
    const { keys, asked } = cacheOver(new Map());
    for (let n = 0; n < 20; n++) expect(await keys.find(keyOf(1))).toBeNull();
    expect(asked).toHaveLength(1);
    for (const text of ['', 'x', 'g'.repeat(64), keyOf(1).toUpperCase().slice(1), `${keyOf(1)}0`]) {
      expect(keys.find(text)).toBeNull();
    }
    expect(asked).toHaveLength(1);
  });

  it('keeps a limited number of unknown keys, the latest ones', async () => {
    const { keys, asked } = cacheOver(new Map());
    for (let n = 1; n <= 30_000; n++) await keys.find(keyOf(n));
    expect(asked).toHaveLength(30_000);
    await keys.find(keyOf(30_000));
    expect(asked).toHaveLength(30_000);
    await keys.find(keyOf(1));
    expect(asked).toHaveLength(30_001);
  });

  it('does not let unknown keys displace known ones', async () => {
    const { keys, asked } = cacheOver(new Map([[keyOf(0), sensorOf('one')]]));
    await keys.find(keyOf(0));
    for (let n = 1; n <= 60_000; n++) await keys.find(keyOf(n));
    const before = asked.length;
    expect(await keys.find(keyOf(0))).toEqual(sensorOf('one'));
    expect(asked).toHaveLength(before);
  });

  it('discards one sensor and keeps the others', async () => {
    const table = new Map([
      [keyOf(1), sensorOf('one', 'before')],
      [keyOf(2), sensorOf('two', 'before')],
    ]);
    const { keys } = cacheOver(table);
    await keys.find(keyOf(1));
    await keys.find(keyOf(2));
    table.set(keyOf(1), sensorOf('one', 'after')).set(keyOf(2), sensorOf('two', 'after'));
    keys.forget('one');
    expect(await keys.find(keyOf(1))).toMatchObject({ name: 'after' });
    expect(await keys.find(keyOf(2))).toMatchObject({ name: 'before' });
    keys.forgetAll();
    expect(await keys.find(keyOf(2))).toMatchObject({ name: 'after' });
  });

  it('does not keep a result read before a change and received after it', async () => {
    const answers: ((sensor: KnownSensor | null) => void)[] = [];
    const keys = new SensorKeys(() => new Promise((resolve) => answers.push(resolve)));
    const early = keys.find(keyOf(1));
    keys.forget('one');
    const late = keys.find(keyOf(1));
    answers[1]?.(sensorOf('one', 'fresh'));
    expect(await late).toMatchObject({ name: 'fresh' });
    answers[0]?.(sensorOf('one', 'stale'));
    await early;
    expect(await keys.find(keyOf(1))).toMatchObject({ name: 'fresh' });
    expect(answers).toHaveLength(2);
  });

  it('queries again after a failed query', async () => {
    let failures = 1;
    const keys = new SensorKeys(async () => {
      if (failures-- > 0) throw new Error('the database is away');
      return sensorOf('one');
    });
    await expect(keys.find(keyOf(1))).rejects.toThrow('away');
    expect(await keys.find(keyOf(1))).toMatchObject({ id: 'one' });
  });
});

describe('sensors that were read at the same time', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('are read again one by one, between half a minute and a minute later', async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => n + 1);
    const { keys, asked } = cacheOver(new Map(ids.map((n) => [keyOf(n), sensorOf(String(n))])));
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const findAll = () => Promise.all(ids.map((n) => keys.find(keyOf(n))));
    await findAll();
    const askedLater: number[] = [];
    for (const seconds of [29, 6, 6, 6, 6, 6, 2]) {
      now += seconds * 1_000;
      // The cache reads the clock at most once a millisecond.
      await sleep(5);
      const before = asked.length;
      await findAll();
      askedLater.push(asked.length - before);
    }
    expect(askedLater[0]).toBe(0);
    expect(Math.max(...askedLater)).toBeLessThan(400);
    expect(asked.length).toBeGreaterThanOrEqual(2_000);
  });
});

describe('a change of a sensor', () => {
  let here: Gantry;
  let there: Gantry;
  let token: string;

  beforeAll(async () => {
    here = await startGantry();
    const { DATABASE_URL } = here.app.context.config;
    there = await startGantry({ config: { DATABASE_URL: DATABASE_URL ?? '' } });
    token = await here.tokenFor('OPERATOR');
  });
  afterAll(async () => {
    await there.stop();
    await here.stop();
  });

  const addSensor = (fields: object = {}): Promise<{ id: string; apiKey: string }> =>
    here.ok(
      'sensors.create',
      { name: 'Before', deviceId: randomUUID(), type: 'CAMERA', ...fields },
      { token },
    );
  const statusOf = async (gantry: Gantry, apiKey: string) =>
    (await gantry.call('events.ingest', { apiKey, eventType: 'INCIDENT' })).status;
  const stored = async (gantry: Gantry, apiKey: string) => {
    const { eventId: id } = await gantry.ok('events.ingest', { apiKey, eventType: 'INCIDENT' });
    return here.ok('events.getById', { id }, { token });
  };
  const everywhere = <Answer>(ask: (gantry: Gantry) => Promise<Answer>) =>
    Promise.all([here, there].map((gantry) => ask(gantry)));
  /** Checks that a change made `here` applies there at once, and in the other process before it would ask again. */
  const takesEffect = async <Answer>(
    ask: (gantry: Gantry) => Promise<Answer>,
    holds: (answer: Answer) => boolean,
  ) => {
    expect(holds(await ask(here))).toBe(true);
    await eventually(() => ask(there), holds, 4_000);
  };

  it('of its key makes the old one invalid and the new one valid', async () => {
    const { id, apiKey: old } = await addSensor();
    expect(await everywhere((gantry) => statusOf(gantry, old))).toEqual([200, 200]);
    const { apiKey } = await here.ok('sensors.rotateKey', { id }, { token });
    await takesEffect(
      (gantry) => statusOf(gantry, old),
      (status) => status === 401,
    );
    expect(await everywhere((gantry) => statusOf(gantry, apiKey))).toEqual([200, 200]);
  });

  it('to deleted makes the key invalid', async () => {
    const { id, apiKey } = await addSensor();
    expect(await everywhere((gantry) => statusOf(gantry, apiKey))).toEqual([200, 200]);
    await here.ok('sensors.delete', { id }, { token });
    await takesEffect(
      (gantry) => statusOf(gantry, apiKey),
      (status) => status === 401,
    );
  });

  it('of its name, address and location applies to the events after it', async () => {
    const { id: locationId } = await here.ok('locations.create', { name: 'Town Hall' }, { token });
    const { id, apiKey } = await addSensor();
    expect(await everywhere((gantry) => stored(gantry, apiKey))).toEqual(
      Array(2).fill(expect.objectContaining({ sensorName: 'Before', locationName: null })),
    );
    const coordinates = { latitude: 1, longitude: 2, address: 'Pole 9' };
    await here.ok('sensors.update', { id, name: 'After', coordinates }, { token });
    await takesEffect(
      (gantry) => stored(gantry, apiKey),
      (event) => event.sensorName === 'After' && event.locationName === 'Pole 9',
    );
    await here.ok('sensors.update', { id, locationId }, { token });
    await takesEffect(
      (gantry) => stored(gantry, apiKey),
      (event) => event.locationName === 'Town Hall',
    );
    await here.ok('locations.update', { id: locationId, name: 'City Hall' }, { token });
    await takesEffect(
      (gantry) => stored(gantry, apiKey),
      (event) => event.locationName === 'City Hall',
    );
  });

  it('is not missed by a process whose listener was disconnected for a while', async () => {
    const { id, apiKey: old } = await addSensor();
    expect(await everywhere((gantry) => statusOf(gantry, old))).toEqual([200, 200]);
    await here.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'gantry listener'`,
    );
    await here.ok('sensors.rotateKey', { id }, { token });
    await eventually(
      () => everywhere((gantry) => statusOf(gantry, old)),
      (statuses) => statuses.every((status) => status === 401),
    );
  });
});
