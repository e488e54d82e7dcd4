import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { keepList } from '../src/sensors/view.ts';
import { eventually, sharedGantry } from './harness.ts';

// sensors.getAllSensors for users who do not manage sensors: cached for a second, loaded once for all callers.

interface SensorJson {
  id: string;
  name: string;
  status: string;
  apiKey: string;
}

const gantry = await sharedGantry();
const admin = await gantry.tokenFor('ADMIN');

const listed = async (id: string): Promise<SensorJson | undefined> =>
  (await gantry.ok<SensorJson[]>('sensors.getAllSensors')).find((sensor) => sensor.id === id);
const create = (): Promise<SensorJson> => {
  const input = { name: 'Mast 7', deviceId: randomUUID(), type: 'CAMERA' };
  return gantry.ok('sensors.create', input, { token: admin });
};

describe('the public list of sensors', () => {
  it('contains at once what was changed through the same process', async () => {
    for (let round = 0; round < 3; round++) {
      const { id, apiKey } = await create();
      expect(await listed(id)).toMatchObject({ name: 'Mast 7', status: 'OFFLINE' });
      await gantry.ok('sensors.update', { id, name: 'Mast 8' }, { token: admin });
      expect((await listed(id))?.name).toBe('Mast 8');
      await gantry.ok('sensors.heartbeat', { apiKey });
      expect((await listed(id))?.status).toBe('ONLINE');
      await gantry.ok('sensors.delete', { id }, { token: admin });
      expect(await listed(id)).toBeUndefined();
    }
  });

  it('is the same byte for byte for all, and differs from that of users who manage sensors', async () => {
    const { id, apiKey } = await create();
    const viewer = await gantry.tokenFor('VIEWER');
    const texts = await Promise.all(
      ['', `Bearer ${viewer}`, ''].map(async (authorization) => {
        const headers = { authorization };
        const response = await fetch(`${gantry.url}/trpc/sensors.getAllSensors`, { headers });
        return response.text();
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).not.toContain(apiKey);
    const all = await gantry.ok<SensorJson[]>('sensors.getAllSensors', undefined, { token: admin });
    expect(all.find((sensor) => sensor.id === id)?.apiKey).toBe(apiKey);
  });

  it('uses one connection to the database, however many call it', async () => {
    const { connectionString } = gantry.pool.options;
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      await client.query('BEGIN; LOCK TABLE sensors');
      gantry.app.context.publicSensors.forget();
      const answers = Array.from({ length: 30 }, () => gantry.call('sensors.getAllSensors'));
      // Background work on sensors may wait for the table too; the list is read on the connections for expensive
      // queries.
      const waiting = async () => {
        const { rows } = await gantry.app.context.health.$client.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND application_name = 'gantry questions'`,
        );
        return rows.length;
      };
      await eventually(waiting, (count) => count > 0);
      await Promise.all(Array.from({ length: 5 }, () => gantry.ok('system.health')));
      expect(await waiting()).toBe(1);
      await client.query('COMMIT');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(30).fill(200));
    } finally {
      await client.end();
    }
  });
});

describe('a cached list', () => {
  const loads = () => {
    const started: ((value: never[] | Error) => void)[] = [];
    const list = keepList(
      () =>
        new Promise((resolve, reject) =>
          started.push((value) => (value instanceof Error ? reject(value) : resolve(value))),
        ),
    );
    return { started, list };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('is loaded once for concurrent callers, and kept', async () => {
    const { started, list } = loads();
    const [one, other] = [list.read(), list.read()];
    const value: never[] = [];
    started[0]?.(value);
    expect(await one).toBe(value);
    expect(await other).toBe(value);
    expect(await list.read()).toBe(value);
    expect(started).toHaveLength(1);
  });

  it('that was discarded while it was loaded is loaded again for later callers, one load at a time', async () => {
    const { started, list } = loads();
    const before = list.read();
    list.forget();
    const later = [list.read(), list.read()];
    list.forget();
    later.push(list.read());
    await settled();
    expect(started).toHaveLength(1);
    const [older, newer]: [never[], never[]] = [[], []];
    started[0]?.(older);
    await settled();
    expect(started).toHaveLength(2);
    started[1]?.(newer);
    expect(await before).toBe(older);
    for (const each of later) expect(await each).toBe(newer);
    expect(await list.read()).toBe(newer);
  });

  it('that could not be loaded is not kept', async () => {
    const { started, list } = loads();
    const failing = list.read();
    started[0]?.(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    void list.read().catch(() => undefined);
    expect(started).toHaveLength(2);
  });
});
