import { randomUUID } from 'node:crypto';
import { permissions, role } from '@gantry/contract/permissions';
import { describe, expect, it } from 'vitest';
import { eventually, sharedGantry, WAITING_SESSIONS } from './harness.ts';

interface LocationJson {
  id: string;
  name: string;
  address: string;
  coordinates: { latitude: number; longitude: number; address?: string } | null;
  description: string | null;
  speedLimit: number | null;
  sensorCount: number;
  createdAt: string;
  updatedAt: string;
}

const KEYS = [
  'address',
  'coordinates',
  'createdAt',
  'description',
  'direction',
  'hasShoulder',
  'id',
  'kilometre',
  'lanes',
  'name',
  'road',
  'sensorCount',
  'speedLimit',
  'updatedAt',
];
const STRANGE_IDS = ['x', 'constructor', "'; DROP TABLE locations; --", '\u0000', '\ud800', randomUUID()];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('OPERATOR');

const ok = <Output = LocationJson>(procedure: string, input?: unknown): Promise<Output> =>
  gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input?: unknown) => gantry.refusal(procedure, input, { token });
const addSensor = (locationId: string) =>
  ok<{ id: string; apiKey: string }>('sensors.create', {
    name: 'Camera',
    deviceId: randomUUID(),
    type: 'CAMERA',
    locationId,
  });

describe('locations.create', () => {
  it('returns the location with exactly the documented keys', async () => {
    const input = {
      name: '  Main Street / 5th Avenue ',
      address: 'Main Street 5',
      coordinates: { latitude: 52.5, longitude: 13.4, address: 'corner' },
      description: 'School zone',
      speedLimit: 30.5,
    };
    const location = await ok('locations.create', input);
    expect(Object.keys(location).sort()).toEqual(KEYS);
    expect(location).toMatchObject({ ...input, name: 'Main Street / 5th Avenue', sensorCount: 0 });
    expect(await ok('locations.getById', { id: location.id })).toEqual({ ...location, speedUnits: null });
  });

  it('stores where on the road it is, to the metre', async () => {
    const road = { road: ' A2 ', kilometre: -12.34567, direction: 'NB', lanes: 3, hasShoulder: false };
    const { id, ...made } = await ok('locations.create', { name: 'Gantry', ...road });
    expect(made).toMatchObject({ ...road, road: 'A2', kilometre: -12.346 });
    const cleared = { road: null, kilometre: null, direction: null, lanes: null, hasShoulder: null };
    expect(await ok('locations.update', { id, ...cleared })).toMatchObject(cleared);
    const again = { road: 'D100', kilometre: 99_999.999, direction: 'BOTH', lanes: 12, hasShoulder: true };
    expect(await ok('locations.update', { id, ...again })).toMatchObject(again);
    expect(await ok('locations.getById', { id })).toMatchObject(again);
  });

  it('requires only a name', async () => {
    expect(await ok('locations.create', { name: 'X' })).toMatchObject({
      name: 'X',
      address: '',
      coordinates: null,
      description: null,
      speedLimit: null,
    });
  });

  it('accepts values at their limits', async () => {
    for (const fields of [
      { name: 'n'.repeat(100) },
      { name: '😀'.repeat(100) },
      { speedLimit: 1 },
      { speedLimit: 400 },
      { address: 'a'.repeat(300) },
      { description: 'd'.repeat(2000) },
      { coordinates: { latitude: -90, longitude: 180 } },
    ]) {
      expect(await ok('locations.create', { name: 'Bound', ...fields })).toMatchObject(fields);
    }
  });

  it.each([
    { name: undefined },
    { name: '' },
    { name: '   ' },
    { name: 'n'.repeat(101) },
    { name: 'a\u0000b' },
    { name: '\ud800' },
    { name: 7 },
    { address: 'a'.repeat(301) },
    { description: 'd'.repeat(2001) },
    { speedLimit: 0.5 },
    { speedLimit: 401 },
    { speedLimit: '50' },
    { coordinates: { latitude: 90.1, longitude: 0 } },
    { coordinates: { latitude: 0, longitude: -180.1 } },
    { coordinates: { latitude: 0 } },
    { road: 'r'.repeat(101) },
    { kilometre: 100_000 },
    { kilometre: '12' },
    { direction: 'N' },
    { direction: 90 },
    { lanes: 0 },
    { lanes: 13 },
    { lanes: 2.5 },
    { hasShoulder: 'yes' },
  ])('refuses %j and stores nothing', async (fields) => {
    const before = await ok<{ total: number }>('locations.getAll');
    const { status, data } = await refusal('locations.create', { name: 'Refused', ...fields });
    expect(status).toBe(400);
    expect(data.issues[0].path.split('.')[0]).toBe(Object.keys(fields)[0]);
    expect((await ok<{ total: number }>('locations.getAll')).total).toBe(before.total);
  });
});

describe('locations.update', () => {
  it('changes the given fields and clears those that are null', async () => {
    const made = await ok('locations.create', {
      name: 'Before',
      address: 'Old Street',
      coordinates: { latitude: 1, longitude: 2 },
      description: 'words',
      speedLimit: 50,
    });
    await gantry.pool.query(`UPDATE locations SET updated_at = '2020-01-01' WHERE id = $1`, [made.id]);
    const renamed = await ok('locations.update', { id: made.id, name: 'After' });
    expect(renamed).toEqual({ ...made, name: 'After', updatedAt: renamed.updatedAt });
    expect(renamed.updatedAt >= made.updatedAt).toBe(true);
    const cleared = await ok('locations.update', {
      id: made.id,
      coordinates: null,
      description: null,
      speedLimit: null,
      address: '',
    });
    expect(cleared).toMatchObject({
      name: 'After',
      address: '',
      coordinates: null,
      description: null,
      speedLimit: null,
    });
    expect(await ok('locations.getById', { id: made.id })).toEqual({ ...cleared, speedUnits: null });
  });

  it('counts the sensors of the location', async () => {
    const { id } = await ok('locations.create', { name: 'Counted' });
    await addSensor(id);
    await addSensor(id);
    expect((await ok('locations.update', { id, speedLimit: 70 })).sensorCount).toBe(2);
    expect((await ok('locations.getById', { id })).sensorCount).toBe(2);
  });

  it('makes ingestion discard the old name and speed limit at once', async () => {
    const { id } = await ok('locations.create', { name: 'Old name', speedLimit: 50 });
    const { apiKey } = await addSensor(id);
    const nameAtIngestion = async () => {
      const { eventId } = await ok<{ eventId: string }>('events.ingest', {
        apiKey,
        eventType: 'VEHICLE_DETECTION',
      });
      return (await ok<{ locationName: string }>('events.getById', { id: eventId })).locationName;
    };
    // This holds even while the process receives no notifications.
    await gantry.pool.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'gantry listener'`,
    );
    expect(await nameAtIngestion()).toBe('Old name');
    await ok('locations.update', { id, name: 'New name' });
    expect(await nameAtIngestion()).toBe('New name');
  });

  it('notifies the other processes of a name or speed limit, and of nothing else', async () => {
    const { id } = await ok('locations.create', { name: 'Announced' });
    const heard: string[] = [];
    const listener = await gantry.pool.connect();
    listener.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload}`));
    await listener.query('LISTEN gantry_sensors');
    await ok('locations.update', { id, description: 'not cached' });
    await ok('locations.update', { id, name: 'Announced again' });
    await ok('locations.update', { id, speedLimit: null });
    await eventually(
      async () => heard.length,
      (length) => length === 2,
    );
    await listener.query('UNLISTEN *');
    listener.release(true);
    expect(heard).toEqual(['gantry_sensors *', 'gantry_sensors *']);
  });
});

describe('locations.delete', () => {
  it('removes a location without sensors', async () => {
    const { id } = await ok('locations.create', { name: 'Short-lived' });
    expect(await ok('locations.delete', { id })).toEqual({ success: true, id });
    expect((await refusal('locations.getById', { id })).status).toBe(404);
    expect((await refusal('locations.delete', { id })).status).toBe(404);
  });

  it('refuses while sensors are assigned to it, and not afterwards', async () => {
    const { id } = await ok('locations.create', { name: 'In use' });
    const sensor = await addSensor(id);
    expect(await refusal('locations.delete', { id })).toMatchObject({
      status: 400,
      message: expect.stringContaining('This location still has sensors'),
      data: { code: 'BAD_REQUEST', httpStatus: 400 },
    });
    await ok('sensors.update', { id: sensor.id, locationId: null });
    await ok('locations.delete', { id });
  });

  it('leaves no sensor with a missing location when both happen at once', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await ok('locations.create', { name: 'Contested' });
      const [removed, created] = await Promise.all([
        gantry.call('locations.delete', { id }, { token }),
        gantry.call(
          'sensors.create',
          { name: 'Camera', deviceId: randomUUID(), type: 'CAMERA', locationId: id },
          { token },
        ),
      ]);
      expect([removed.status, created.status].sort()).toEqual([200, 400]);
    }
  });
});

describe('locations.getAll', () => {
  it('pages, sorts and counts', async () => {
    const mark = randomUUID();
    for (const [n, name] of ['charlie', 'Alpha', 'bravo'].entries()) {
      const { id } = await ok('locations.create', { name, address: mark });
      await gantry.pool.query('UPDATE locations SET created_at = $2 WHERE id = $1', [
        id,
        `2026-01-0${n + 1}`,
      ]);
    }
    const names = async (input: object) =>
      (await ok<{ locations: LocationJson[] }>('locations.getAll', { search: mark, ...input })).locations.map(
        ({ name }) => name,
      );
    expect(await names({})).toEqual(['Alpha', 'bravo', 'charlie']);
    expect(await names({ sortOrder: 'desc' })).toEqual(['charlie', 'bravo', 'Alpha']);
    expect(await names({ sortBy: 'createdAt' })).toEqual(['charlie', 'Alpha', 'bravo']);
    expect(await names({ skip: 1, take: 1 })).toEqual(['bravo']);
    const page = await ok<Record<string, unknown>>('locations.getAll', { search: mark, take: 2 });
    expect(Object.keys(page).sort()).toEqual(['locations', 'pageCount', 'total']);
    expect(page).toMatchObject({ total: 3, pageCount: 2 });
    expect((page.locations as object[]).map((item) => Object.keys(item).sort())).toEqual([KEYS, KEYS]);
  });

  it('finds the locations of a road in any case, in the order of their kilometres, unknown ones last', async () => {
    const mark = randomUUID().slice(0, 8);
    const add = (name: string, fields: object) => ok('locations.create', { name, ...fields });
    await add('unknown', { road: `a-${mark}` });
    await add('second', { road: `A-${mark}`, kilometre: 10.5 });
    await add('first', { road: `A-${mark}`, kilometre: 9 });
    await add('other', { road: `A-${mark}0`, kilometre: 1 });
    const names = async (input: object) =>
      (await ok<{ locations: LocationJson[] }>('locations.getAll', input)).locations.map(({ name }) => name);
    const road = `A-${mark.toUpperCase()}`;
    expect(await names({ road, sortBy: 'kilometre' })).toEqual(['first', 'second', 'unknown']);
    expect(await names({ road, sortBy: 'kilometre', sortOrder: 'desc' })).toEqual([
      'second',
      'first',
      'unknown',
    ]);
    const roads = await ok<{ road: string; locations: number }[]>('locations.getRoads');
    expect(roads.filter((each) => each.road.toLowerCase().includes(mark))).toEqual([
      { road: expect.stringMatching(new RegExp(`^a-${mark}$`, 'i')), locations: 3 },
      { road: `A-${mark}0`, locations: 1 },
    ]);
  });

  it('breaks ties by id in the same direction', async () => {
    const mark = randomUUID();
    for (let n = 0; n < 5; n++) await ok('locations.create', { name: 'Twin', address: mark });
    const ids = async (sortOrder: string) =>
      (
        await ok<{ locations: LocationJson[] }>('locations.getAll', { search: mark, sortOrder })
      ).locations.map(({ id }) => id);
    const ascending = await ids('asc');
    expect(ascending).toEqual([...ascending].sort());
    expect(await ids('desc')).toEqual([...ascending].reverse());
  });

  it('treats % _ and \\ in a search literally and ignores case', async () => {
    const mark = randomUUID();
    await ok('locations.create', { name: `100% ${mark}` });
    await ok('locations.create', { name: `under_score ${mark}`, address: 'C:\\Straße' });
    await ok('locations.create', { name: `Plain ${mark}`, address: 'ÄÖÜ' });
    const total = async (search: string) =>
      (await ok<{ total: number }>('locations.getAll', { search })).total;
    expect(await total(mark.toUpperCase())).toBe(3);
    expect(await total(`% ${mark}`)).toBe(1);
    expect(await total('r_s')).toBe(1);
    expect(await total('e_s')).toBe(0);
    expect(await total('c:\\str')).toBe(1);
    expect(await total('\\\\')).toBe(0);
    expect(await total('äöü')).toBe(1);
  });

  it.each([
    { take: 0 },
    { take: 101 },
    { skip: -1 },
    { take: 1.5 },
    { sortBy: 'address' },
    { sortOrder: 'up' },
    { search: 's'.repeat(201) },
    { search: '\u0000' },
  ])('refuses %j', async (input) => {
    expect((await refusal('locations.getAll', input)).status).toBe(400);
  });
});

describe('every locations procedure', () => {
  it('finds nothing by an unusual id, whatever its format', async () => {
    for (const id of STRANGE_IDS) {
      for (const procedure of ['locations.getById', 'locations.update', 'locations.delete']) {
        expect(await refusal(procedure, { id }), `${procedure} ${id}`).toMatchObject({
          status: 404,
          message: 'Location not found',
          data: { code: 'NOT_FOUND', httpStatus: 404 },
        });
      }
    }
    expect((await refusal('locations.getById', { id: '' })).status).toBe(400);
    expect((await refusal('locations.getById', {})).status).toBe(400);
  });

  it('requires a login before the input is checked', async () => {
    for (const verb of ['getAll', 'getById', 'create', 'update', 'delete']) {
      const { status, body } = await gantry.call(`locations.${verb}`, { take: 'nonsense' });
      expect(status).toBe(401);
      expect(body.error.json.message).toBe('No token provided');
    }
  });

  it.each(role.options)('lets %s read, and change only with Manage Sensors', async (name) => {
    const own = await gantry.tokenFor(name);
    expect((await gantry.call('locations.getAll', undefined, { token: own })).status).toBe(200);
    expect((await gantry.call('locations.getById', { id: 'x' }, { token: own })).status).toBe(404);
    const may = (permissions.manageSensors as readonly string[]).includes(name);
    for (const verb of ['create', 'update', 'delete']) {
      const { status } = await gantry.call(`locations.${verb}`, {}, { token: own });
      expect(status, verb).toBe(may ? 400 : 403);
    }
  });

  it('records changes in the activity log', async () => {
    const { id } = await ok('locations.create', { name: 'Logged' });
    await ok('locations.update', { id, speedLimit: 80 });
    await ok('locations.delete', { id });
    const { rows } = await gantry.pool.query(
      `SELECT action, details FROM activity WHERE details ->> 'locationId' = $1 ORDER BY id`,
      [id],
    );
    expect(rows).toEqual([
      { action: 'locations.create', details: { locationId: id, name: 'Logged' } },
      { action: 'locations.update', details: { locationId: id, name: 'Logged', fields: ['speedLimit'] } },
      { action: 'locations.delete', details: { locationId: id, name: 'Logged' } },
    ]);
  });

  it.each([
    ['works.create', { title: 'Resurfacing', startsAt: '2030-01-01', endsAt: '2030-01-02' }],
    ['calendars.create', { date: '2030-01-01', kind: 'HOLIDAY', name: 'New Year' }],
  ])('can be deleted while %s refers to one', async (procedure, input) => {
    const { id } = await ok('locations.create', { name: `Going ${procedure}` });
    const deletion = await gantry.pool.connect();
    await deletion.query('BEGIN');
    await deletion.query('DELETE FROM locations WHERE id = $1', [id]);
    const refused = gantry.refusal(procedure, { ...input, locationId: id }, { token });
    await eventually(
      () => gantry.count(WAITING_SESSIONS),
      (n) => n === 1,
    );
    await deletion.query('COMMIT');
    deletion.release();
    expect(await refused).toMatchObject({
      status: 409,
      message: expect.stringContaining('was deleted at the same time'),
    });
  });

  it('are deleted while works are proposed for them, without a deadlock', async () => {
    const { id: locationId } = await ok('locations.create', { name: 'Going meanwhile' });
    const day = { date: '2030-01-01', kind: 'HOLIDAY', name: 'New Year', locationId };
    const { id } = await ok('calendars.create', day);
    // The deletion has deleted the location, and not yet looked for works of it.
    const holder = await gantry.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM calendar_days WHERE id = $1 FOR UPDATE', [id]);
    const deletion = gantry.call('locations.delete', { id: locationId }, { token });
    const waiting = () => gantry.count(WAITING_SESSIONS);
    await eventually(waiting, (n) => n === 1);
    const works = { title: 'Resurfacing', startsAt: '2030-01-01', endsAt: '2030-01-02', locationId };
    const proposal = gantry.call('works.create', works, { token });
    await eventually(waiting, (n) => n === 2);
    await holder.query('COMMIT');
    holder.release();
    expect([(await deletion).status, (await proposal).status]).toEqual([200, 409]);
  });
});
