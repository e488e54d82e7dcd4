import { randomUUID } from 'node:crypto';
import { worstFirst } from '@gantry/contract/fault-states';
import { listSensorsInput } from '@gantry/contract/sensors';
import { sensorStatuses } from '@gantry/contract/values';
import { describe, expect, it } from 'vitest';
import { createDatabase } from '../src/platform/database/pool.ts';
import { listFleet } from '../src/sensors/store.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { noteStatements, type Statement } from './noted-statements.ts';

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: unknown = {}) => gantry.ok(procedure, input, { token });
const refusal = (procedure: string, input: unknown) => gantry.refusal(procedure, input, { token });
const name = (): string => `L ${randomUUID().slice(0, 8)}`;
const register = async (fields: object = {}): Promise<string> =>
  (await ask('sensors.create', { name: 'One of many', deviceId: randomUUID(), type: 'RADAR', ...fields })).id;

describe('a change of many sensors', () => {
  it('is one transaction, also of their tags and status, with its reason in the history', async () => {
    const ids = [
      await register({ tags: ['Old', 'kept'] }),
      await register(),
      await register({ tags: ['new'] }),
    ];
    const input = { ids, addTags: ['New'], removeTags: ['old'], status: 'MAINTENANCE' };
    const changed = await ask('sensors.updateMany', { ...input, reason: 'Cleaning' });
    expect(changed).toMatchObject({ changed: 3, same: 0 });
    const found = await Promise.all(ids.map((id) => ask('sensors.getById', { id })));
    expect(found.map(({ tags }) => tags)).toEqual([['kept', 'New'], ['New'], ['new']]);
    expect(found.map(({ status }) => status)).toEqual(ids.map(() => 'MAINTENANCE'));
    const { history } = await ask('sensors.getStatusHistory', { id: ids[0] });
    expect(history[0]).toMatchObject({
      to: 'MAINTENANCE',
      reason: 'Cleaning',
      changedBy: { name: 'First Administrator' },
    });
    expect(await ask('sensors.updateMany', input)).toMatchObject({
      changed: 0,
      same: 3,
      rows: [],
      former: [],
    });
    expect((await ask('sensors.getStatusHistory', { id: ids[0] })).total).toBe(2);
  });

  it('says first what would change of which sensors, and of how many nothing, and changes nothing', async () => {
    const place = name();
    await ask('locations.create', { name: place });
    const { id: locationId } = (await ask('locations.getAll', { search: place })).locations[0];
    const mark = name();
    const one = await register({ name: `B ${mark}`, model: 'X1' });
    const two = await register({ name: `A ${mark}`, locationId });
    const input = { ids: [one, two], locationId, model: null, dryRun: true };
    expect(await ask('sensors.updateMany', input)).toEqual({
      changed: 1,
      same: 1,
      rows: [
        {
          id: one,
          name: `B ${mark}`,
          changes: [
            { field: 'location', from: null, to: place },
            { field: 'model', from: 'X1', to: null },
          ],
        },
      ],
      former: [],
    });
    expect(await ask('sensors.getById', { id: one })).toMatchObject({ model: 'X1', locationId: null });
  });

  it('is undone in one transaction, unless something changed one of them since', async () => {
    const place = name();
    await ask('locations.create', { name: place });
    const { id: locationId } = (await ask('locations.getAll', { search: place })).locations[0];
    const ids = [await register({ tags: ['a'], make: 'Acme' }), await register({ tags: ['b', 'c'] })];
    const read = () => Promise.all(ids.map((id) => ask('sensors.getById', { id })));
    const before = await read();
    const given = { make: 'Other', warrantyUntil: '2030-02-28', addTags: ['c'], status: 'ERROR', locationId };
    const { former } = await ask('sensors.updateMany', { ids, ...given, eventsPerMin: 3 });
    expect(await ask('sensors.restoreMany', { sensors: former })).toEqual({ restored: 2 });
    const plain = (sensors: object[]) => sensors.map((sensor) => ({ ...sensor, updatedAt: null }));
    expect(plain(await read())).toEqual(plain(before));
    const again = await ask('sensors.updateMany', { ids, model: 'Y' });
    await ask('sensors.update', { id: ids[1], description: 'Meanwhile' });
    const late = await refusal('sensors.restoreMany', { sensors: again.former });
    expect(late).toMatchObject({ status: 409 });
    expect(late.message).toContain('"One of many" has changed since');
    expect((await read()).map(({ model }) => model)).toEqual(['Y', 'Y']);
    const { rows } = await gantry.pool.query(
      'SELECT location_id FROM sensor_places WHERE sensor_id = $1 ORDER BY since',
      [ids[0]],
    );
    expect(rows.at(-1)?.location_id ?? null).toBe(null);
  });

  it('changes nothing if one of them is wrong', async () => {
    const ids = [
      await register(),
      await register({ tags: Array.from({ length: 20 }, (_, n) => `tag ${n}`) }),
    ];
    for (const dryRun of [true, false]) {
      const wrong = (input: object) => refusal('sensors.updateMany', { ids, dryRun, ...input });
      const full = await wrong({ addTags: ['one more'], eventsPerMin: 3 });
      expect(full).toMatchObject({ status: 400, data: { issues: [{ path: 'addTags' }] } });
      const gone = await wrong({ ids: [...ids, randomUUID()], eventsPerMin: 3 });
      expect(gone).toMatchObject({ status: 400, data: { issues: [{ path: 'ids.2' }] } });
      const nowhere = await wrong({ locationId: randomUUID() });
      expect(nowhere).toMatchObject({ status: 400, data: { issues: [{ path: 'locationId' }] } });
      expect(await wrong({})).toMatchObject({ status: 400 });
      const idle = await wrong({ reason: 'Why', model: 'X' });
      expect(idle).toMatchObject({ status: 400, data: { issues: [{ path: 'reason' }] } });
    }
    for (const id of ids) expect(await ask('sensors.getById', { id })).toMatchObject({ eventsPerMin: 20 });
  });
});

describe('the list of the fleet', () => {
  const mark = name();
  const list = async (input: object = {}) =>
    (await ask('sensors.getFleet', { search: mark, ...input })).sensors;

  it('has the last event, the place and the open faults of each, and no keys', async () => {
    const place = name();
    await ask('locations.create', { name: place, road: 'A2', kilometre: 12.5 });
    const { id: locationId } = (await ask('locations.getAll', { search: place })).locations[0];
    const id = await register({ name: `${mark} 1`, locationId, make: 'Acme', warrantyUntil: '2031-12-31' });
    const { apiKey } = await ask('sensors.revealKey', { id });
    expect(await list()).toMatchObject([{ lastEvent: null, openFaults: 0, fault: null }]);
    await gantry.ingest(apiKey, { eventType: 'VEHICLE_DETECTION' });
    await gantry.ingest(apiKey, { eventType: 'SPEED_DETECTION', vehicleSpeed: 50 });
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    const second = await ask('faults.report', { sensorId: id, text: 'Second' });
    const first = await ask('faults.report', { sensorId: id, text: 'First', foundAt: yesterday });
    expect(second.id).not.toBe(first.id);
    const [row] = await eventually(
      () => list(),
      ([each]) => each?.lastEvent?.eventType === 'SPEED_DETECTION',
    );
    expect(row).toMatchObject({
      location: { id: locationId, name: place, road: 'A2', kilometre: 12.5 },
      ...{ make: 'Acme', warrantyUntil: '2031-12-31', openFaults: 2 },
      fault: { id: first.id, state: 'FOUND', text: 'First' },
    });
    const { lastEventAt } = await ask('sensors.getSignsOfLife', { id });
    expect(row.lastEvent.at).toEqual(lastEventAt);
    expect(JSON.stringify(row)).not.toContain(apiKey);
    expect(Object.keys(row)).not.toContain('apiKey');
  });

  it('is sorted by the one order, worst first, in every page, and backwards', async () => {
    const worst = name();
    const made: string[] = [];
    for (const [rank, { status, hasFault }] of worstFirst.entries()) {
      for (const n of [1, 2]) {
        const id = await register({ name: `${worst} ${rank} ${n}` });
        await ask('sensors.update', { id, status });
        if (hasFault) await ask('faults.report', { sensorId: id, text: 'Broken' });
        made.push(id);
      }
    }
    const names = async (input: object) =>
      (await ask('sensors.getFleet', { search: worst, sortBy: 'worst', ...input })).sensors.map(
        (sensor: { name: string }) => sensor.name,
      );
    const expected = worstFirst.flatMap((_, rank) => [1, 2].map((n) => `${worst} ${rank} ${n}`));
    expect(await names({ take: 100 })).toEqual(expected);
    expect(await names({ take: 100, sortOrder: 'asc' })).toEqual(expected.toReversed());
    const pages = [];
    for (let skip = 0; skip < expected.length; skip += 3) pages.push(...(await names({ take: 3, skip })));
    expect(pages).toEqual(expected);
    const all = (await ask('sensors.getAll', { search: worst, sortBy: 'worst', take: 100 })).sensors;
    expect(all.map((sensor: { name: string }) => sensor.name)).toEqual(expected);
    // The order names every condition once.
    expect(new Set(worstFirst.map((each) => JSON.stringify(each))).size).toBe(2 * sensorStatuses.length);
  });

  it('is found by make, model, fault, corridor and the end of the warranty', async () => {
    const part = name();
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const places = [];
    for (const kilometre of [1, 2.5, null]) {
      const place = name();
      await ask('locations.create', { name: place, road: `Ring ${part}`, kilometre });
      places.push((await ask('locations.getAll', { search: place })).locations[0].id);
    }
    const a = await register({
      name: `${part} a`,
      make: 'Acme',
      model: 'X',
      warrantyUntil: day(0),
      locationId: places[0],
    });
    const b = await register({
      name: `${part} b`,
      make: 'ACME',
      model: 'Y',
      warrantyUntil: day(60),
      locationId: places[1],
    });
    const c = await register({ name: `${part} c`, warrantyUntil: day(-1), locationId: places[2] });
    await ask('faults.report', { sensorId: c, text: 'Broken' });
    const ids = async (input: object) =>
      (
        await ask('sensors.getFleet', { search: part, sortBy: 'name', sortOrder: 'asc', ...input })
      ).sensors.map((sensor: { id: string }) => sensor.id);
    const road = `ring ${part.toUpperCase()}`;
    expect(await ids({ make: 'acme' })).toEqual([a, b]);
    expect(await ids({ model: 'y' })).toEqual([b]);
    expect(await ids({ hasFault: true })).toEqual([c]);
    expect(await ids({ hasFault: false })).toEqual([a, b]);
    expect(await ids({ warrantyEndsWithin: 0 })).toEqual([a]);
    expect(await ids({ warrantyEndsWithin: 60 })).toEqual([a, b]);
    expect(await ids({ warrantyEndsWithin: 59 })).toEqual([a]);
    expect(await ids({ road })).toEqual([a, b, c]);
    expect(await ids({ road, fromKilometre: 2 })).toEqual([b]);
    expect(await ids({ road, fromKilometre: 1, toKilometre: 2.5 })).toEqual([a, b]);
    expect(await ids({ road: 'elsewhere' })).toEqual([]);
    const { locations } = await ask('locations.getAll', { road, toKilometre: 2 });
    expect(locations.map(({ id }: { id: string }) => id)).toEqual([places[0]]);
    for (const procedure of ['sensors.getAll', 'sensors.getFleet', 'locations.getAll']) {
      const back = await refusal(procedure, { road, fromKilometre: 3, toKilometre: 2 });
      expect(back).toMatchObject({ status: 400, data: { issues: [{ path: 'toKilometre' }] } });
      const nowhere = await refusal(procedure, { fromKilometre: 3 });
      expect(nowhere).toMatchObject({ status: 400, data: { issues: [{ path: 'fromKilometre' }] } });
    }
    await ask('sensors.updateMany', { ids: [a, b], make: `Of ${part}` });
    await ask('sensors.update', { id: c, make: `OF ${part}`, model: 'Y' });
    const models = await ask('sensors.getModels');
    const ofMake = models.filter(({ make }: { make: string | null }) => make?.endsWith(part));
    expect(ofMake).toMatchObject([
      { model: 'X', sensors: 1 },
      { model: 'Y', sensors: 2 },
    ]);
  });

  it.each([
    ['warrantyUntil', '2026-02-30'],
    ['warrantyUntil', '0000-01-01'],
    ['warrantyUntil', '2026-02-20T10:00:00Z'],
    ['certificatePlace', 'http://files.example/1.pdf'],
    ['certificatePlace', 'javascript://%0aalert(1)'],
    ['certificatePlace', 'x'.repeat(501)],
    ['make', 'x'.repeat(101)],
  ])('is not spoiled by %s %j', async (field, value) => {
    const id = await register();
    const refused = await refusal('sensors.update', { id, [field]: value });
    expect(refused).toMatchObject({ status: 400, data: { issues: [{ path: field }] } });
  });
});

describe('a fleet of 5,000 sensors with 1,000 open faults', () => {
  it('is listed by three statements, however many sensors a page has, and none of them reads events', async () => {
    await using service = await startGantry();
    await service.pool.query(`
      INSERT INTO sensors (name, device_id, type, status, api_key, events_per_min, tags, last_event_at, last_event_type)
      SELECT 'Mast ' || n, 'mast-' || n, 'CAMERA', (ARRAY['ONLINE', 'OFFLINE', 'ERROR', 'MAINTENANCE'])[n % 4 + 1],
        md5(n::text) || md5('x' || n), 20, '{}', now(), 'PLATE_RECOGNITION' FROM generate_series(1, 5000) AS n;
      INSERT INTO faults (sensor_id, sensor_name, found_at, reported_by, updated_by, text)
      SELECT id, name, now(), gen_random_uuid(), gen_random_uuid(), 'Broken' FROM sensors ORDER BY name LIMIT 1000;
      ANALYZE sensors, faults`);
    const sent: Statement[] = [];
    noteStatements(service.pool, (statement) => sent.push(statement));
    const db = createDatabase(service.pool);
    for (const take of [1, 100]) {
      sent.length = 0;
      const { items, total } = await listFleet(
        db,
        listSensorsInput.parse({ take, skip: 600, sortBy: 'worst' }),
        '2026-01-31',
      );
      expect([items.length, total]).toEqual([take, 5000]);
      expect(sent).toHaveLength(3);
      for (const { text, values } of [...sent]) {
        const { rows } = await service.pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
        const plan = JSON.stringify(rows);
        expect(plan).not.toContain('"events');
        const [{ Plan: root }] = rows[0]['QUERY PLAN'];
        // The sensors as a whole, and their faults once, not for each sensor.
        expect(root['Shared Hit Blocks'] + root['Shared Read Blocks']).toBeLessThan(1_000);
      }
    }
  });

  it('is changed and restored as a whole by one call each', async () => {
    await using service = await startGantry();
    await service.pool.query(`
      INSERT INTO sensors (name, device_id, type, api_key, events_per_min, tags)
      SELECT 'Mast ' || n, 'mast-' || n, 'CAMERA', md5(n::text) || md5('x' || n), 20, '{}' FROM generate_series(1, 5000) AS n`);
    const { rows } = await service.pool.query<{ id: string }>('SELECT id FROM sensors');
    const ids = rows.map(({ id }) => id);
    const admin = { token: await service.tokenFor('ADMIN') };
    const input = { ids, status: 'MAINTENANCE', reason: 'Night of works', addTags: ['all'], make: 'Acme' };
    const preview = await service.ok('sensors.updateMany', { ...input, dryRun: true }, admin);
    expect(preview).toMatchObject({ changed: 5000, same: 0, former: [] });
    expect(preview.rows).toHaveLength(1000);
    const { former } = await service.ok('sensors.updateMany', input, admin);
    expect(
      await service.count(`sensors WHERE status = 'MAINTENANCE' AND tags = '{all}' AND make = 'Acme'`),
    ).toBe(5000);
    expect(await service.count(`sensor_status_history WHERE reason = 'Night of works'`)).toBe(5000);
    expect(await service.count(`changes WHERE topic = 'sensors'`)).toBe(5000);
    expect(await service.ok('sensors.restoreMany', { sensors: former }, admin)).toEqual({ restored: 5000 });
    expect(await service.count(`sensors WHERE status = 'OFFLINE' AND tags = '{}' AND make IS NULL`)).toBe(
      5000,
    );
    const tooMany = { ids: [...ids, randomUUID()], model: 'X' };
    const refused = await service.refusal('sensors.updateMany', tooMany, admin);
    expect(refused).toMatchObject({ status: 400, data: { issues: [{ path: 'ids' }] } });
  });
});
