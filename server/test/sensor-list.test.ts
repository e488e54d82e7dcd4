import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { sharedGantry } from './harness.ts';

interface SensorJson {
  id: string;
  name: string;
  deviceId: string;
  createdAt: string;
}
interface PageJson {
  sensors: SensorJson[];
  total: number;
  pageCount: number;
}

const LISTED_KEYS = [
  'apiKey',
  'coordinates',
  'createdAt',
  'description',
  'deviceId',
  'eventsPerMin',
  'id',
  'ipAddress',
  'lastHeartbeat',
  'locationId',
  'name',
  'status',
  'type',
  'updatedAt',
];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');
beforeEach(() => gantry.pool.query('DELETE FROM sensors'));

const create = (fields: object = {}): Promise<SensorJson & { apiKey: string }> =>
  gantry.ok(
    'sensors.create',
    { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', ...fields },
    { token },
  );
/** Gives sensors named `… 17` distinct creation times in the order of their numbers. */
const spreadCreation = () =>
  gantry.pool.query(
    `UPDATE sensors SET created_at = timestamptz '2026-01-01' + right(name, 2)::int * interval '1 minute'`,
  );
const list = (input?: object): Promise<PageJson> => gantry.ok('sensors.getAll', input);
const names = async (input?: object) => (await list(input)).sensors.map(({ name }) => name);

describe('sensors.getAll', () => {
  it('finds the sensors with a tag in any case, and sensors.getTags lists the tags', async () => {
    await create({ name: 'Camera 10', tags: ['Tunnel', 'East'] });
    await create({ name: 'Camera 11', tags: ['tunnel', '100%'] });
    await create({ name: 'Camera 12', tags: ['tunnels'] });
    await create({ name: 'Camera 13' });
    await spreadCreation();
    expect(await names({ tag: 'TUNNEL' })).toEqual(['Camera 11', 'Camera 10']);
    expect(await list({ tag: 'tunnel', take: 1 })).toMatchObject({ total: 2, pageCount: 2 });
    expect(await names({ tag: 'tunnel', search: 'camera 10' })).toEqual(['Camera 10']);
    expect(await names({ tag: '%' })).toEqual([]);
    expect(await names({ tag: ' ' })).toHaveLength(4);
    expect((await gantry.refusal('sensors.getAll', { tag: 't'.repeat(41) })).status).toBe(400);
    const tags = await gantry.ok<{ tag: string; sensors: number }[]>('sensors.getTags', undefined, { token });
    expect(tags.map(({ tag, sensors }) => [tag.toLowerCase(), sensors])).toEqual([
      ['100%', 1],
      ['east', 1],
      ['tunnel', 2],
      ['tunnels', 1],
    ]);
  });

  it('returns the sensors at one location, with the other filters', async () => {
    const place = (name: string) => gantry.ok('locations.create', { name }, { token });
    const [{ id: bridge }, { id: tunnel }] = await Promise.all([place('Bridge'), place('Tunnel')]);
    await create({ name: 'Camera 10', locationId: bridge });
    await create({ name: 'Radar 11', type: 'RADAR', locationId: bridge });
    await create({ name: 'Camera 12', locationId: tunnel });
    await create({ name: 'Camera 13' });
    await spreadCreation();
    expect(await names({ locationId: bridge })).toEqual(['Radar 11', 'Camera 10']);
    expect(await names({ locationId: bridge.toUpperCase(), type: 'CAMERA' })).toEqual(['Camera 10']);
    const page = await list({ locationId: bridge, take: 1 });
    expect([page.total, page.pageCount]).toEqual([2, 2]);
    expect(Object.keys(page.sensors[0] as object).sort()).toEqual(LISTED_KEYS);
    for (const unknown of ['x', '\u0000', randomUUID()]) {
      expect(await names({ locationId: unknown })).toEqual([]);
    }
    expect((await gantry.refusal('sensors.getAll', { locationId: '' })).status).toBe(400);
  });

  it('returns ten at a time, newest first, with exactly the documented keys', async () => {
    for (let n = 10; n < 21; n++) await create({ name: `Sensor ${n}` });
    await spreadCreation();
    const page = await list();
    expect(Object.keys(page).sort()).toEqual(['pageCount', 'sensors', 'total']);
    expect(page).toMatchObject({ total: 11, pageCount: 2 });
    expect(page.sensors.map((sensor) => Object.keys(sensor).sort())).toEqual(Array(10).fill(LISTED_KEYS));
    expect(page.sensors[0]?.name).toBe('Sensor 20');
    expect(await names({ skip: 10 })).toEqual(['Sensor 10']);
    expect(await list({ skip: 11 })).toMatchObject({ sensors: [], total: 11, pageCount: 2 });
    expect(await list({ take: 100 })).toMatchObject({ total: 11, pageCount: 1 });
    expect((await list({ take: 1 })).sensors).toHaveLength(1);
  });

  it('returns an empty page when there are none', async () => {
    expect(await list()).toEqual({ sensors: [], total: 0, pageCount: 0 });
  });

  it('searches names and deviceIds, ignoring case and taking % _ and \\ literally', async () => {
    await create({ name: 'Full 100%', deviceId: 'DEV_A' });
    await create({ name: 'Back\\slash', deviceId: 'DEV-B' });
    await create({ name: 'Straße ÄÖÜ', deviceId: 'devxc' });
    expect(await names({ search: 'full' })).toEqual(['Full 100%']);
    expect(await names({ search: 'dev' })).toHaveLength(3);
    expect(await names({ search: 'dev_' })).toEqual(['Full 100%']);
    expect(await names({ search: '0%' })).toEqual(['Full 100%']);
    expect(await names({ search: 'f%l' })).toEqual([]);
    expect(await names({ search: '%' })).toEqual(['Full 100%']);
    expect(await names({ search: '\\' })).toEqual(['Back\\slash']);
    expect(await names({ search: 'äöü' })).toEqual(['Straße ÄÖÜ']);
    expect(await names({ search: '' })).toHaveLength(3);
    expect(await list({ search: 'nothing like it' })).toEqual({ sensors: [], total: 0, pageCount: 0 });
  });

  it('filters by type and status, and counts the matches', async () => {
    await create({ name: 'Radar', type: 'RADAR' });
    const { id } = await create({ name: 'Radar in error', type: 'RADAR' });
    await create({ name: 'Camera' });
    await gantry.ok('sensors.update', { id, status: 'ERROR' }, { token });
    expect(await list({ type: 'RADAR' })).toMatchObject({ total: 2, pageCount: 1 });
    expect(await names({ type: 'RADAR', status: 'ERROR' })).toEqual(['Radar in error']);
    expect(await names({ status: 'OFFLINE', sortBy: 'name', sortOrder: 'asc' })).toEqual(['Camera', 'Radar']);
    expect(await names({ type: 'CAMERA', search: 'radar' })).toEqual([]);
  });

  it.each(['type', 'status', 'createdAt', 'lastHeartbeat'])(
    'breaks ties of %s by id in the same direction',
    async (sortBy) => {
      for (let n = 0; n < 6; n++) await create();
      await gantry.pool.query(`UPDATE sensors SET created_at = '2026-01-01'`);
      const ids = async (input: object) => (await list({ sortBy, ...input })).sensors.map(({ id }) => id);
      const ascending = await ids({ sortOrder: 'asc' });
      expect(ascending).toEqual([...ascending].sort());
      expect(await ids({ sortOrder: 'desc' })).toEqual([...ascending].reverse());
      expect(await ids({})).toEqual([...ascending].reverse());
      const pages = [await ids({ take: 4 }), await ids({ take: 4, skip: 4 })].flat();
      expect(pages).toEqual([...ascending].reverse());
    },
  );

  it('puts sensors that never sent a heartbeat last in both directions', async () => {
    for (const [name, heartbeat] of [
      ['never', null],
      ['early', '2026-01-01'],
      ['never either', null],
      ['late', '2026-02-01'],
    ]) {
      const { id } = await create({ name });
      await gantry.pool.query('UPDATE sensors SET last_heartbeat = $2 WHERE id = $1', [id, heartbeat]);
    }
    const never = expect.stringMatching(/^never/);
    const sorted = (sortOrder: string) => names({ sortBy: 'lastHeartbeat', sortOrder });
    expect(await sorted('asc')).toEqual(['early', 'late', never, never]);
    expect(await sorted('desc')).toEqual(['late', 'early', never, never]);
  });

  it('sorts names without regard to case', async () => {
    for (const name of ['delta', 'Bravo', 'alpha', 'Charlie']) await create({ name });
    expect(await names({ sortBy: 'name', sortOrder: 'asc' })).toEqual(['alpha', 'Bravo', 'Charlie', 'delta']);
    expect(await names({ sortBy: 'name' })).toEqual(['delta', 'Charlie', 'Bravo', 'alpha']);
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { take: 1.5 },
    { take: '10' },
    { skip: -1 },
    { skip: 2_147_483_648 },
    { type: 'DRONE' },
    { status: 'offline' },
    { sortBy: 'apiKey' },
    { sortOrder: 'DESC' },
    { search: 's'.repeat(201) },
    { search: 'a\u0000' },
    { search: null },
  ])('refuses %j', async (input) => {
    const { status, body } = await gantry.call('sensors.getAll', input);
    expect(status).toBe(400);
    expect(body.error.json.data.issues[0].path).toBe(Object.keys(input)[0]);
  });
});

describe('sensors.getAllSensors', () => {
  it('returns every sensor with its location, newest first, with exactly the documented keys', async () => {
    const place = await gantry.ok('locations.create', { name: 'Bridge', address: 'River 1' }, { token });
    for (let n = 10; n < 22; n++)
      await create({ name: `Sensor ${n}`, ...(n === 21 && { locationId: place.id }) });
    await spreadCreation();
    const all = await gantry.ok<(SensorJson & { location: unknown })[]>('sensors.getAllSensors');
    expect(all.map(({ name }) => name)).toEqual(Array.from({ length: 12 }, (_, n) => `Sensor ${21 - n}`));
    const keys = [...LISTED_KEYS.filter((key) => key !== 'description' && key !== 'locationId'), 'location'];
    for (const sensor of all) expect(Object.keys(sensor).sort()).toEqual(keys.sort());
    expect(all[0]?.location).toEqual({ id: place.id, name: 'Bridge', address: 'River 1' });
    expect(all[1]?.location).toBeNull();
  });

  it('returns dates with the annotations in meta', async () => {
    await create();
    const { body } = await gantry.call('sensors.getAllSensors');
    expect(body.result.data.meta.values).toEqual({ '0.createdAt': ['Date'], '0.updatedAt': ['Date'] });
  });
});
