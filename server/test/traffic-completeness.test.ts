import { HOUR_MS } from '@gantry/contract/durations';
import { beforeAll, expect, it } from 'vitest';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

let sensorId: string;
const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const fields = { name: 'Mast', deviceId: 'mast', type: 'RADAR' };
  const sensor = await gantry.ok('sensors.create', fields, { token });
  sensorId = sensor.id;
  const events = [
    { eventType: 'INCIDENT', timestamp: '2026-03-10T18:36:00Z' },
    { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-10T18:41:00Z' },
    { eventType: 'VEHICLE_DETECTION', timestamp: '2026-03-10T19:12:00Z' },
  ];
  await gantry.ok('events.ingestBatch', { apiKey: sensor.apiKey, events });
  await rollUpAllTraffic(gantry, 100);
});

const ask = (procedure: string, input: object) => gantry.ok(procedure, { sensorId, ...input }, { token });

it('a range that begins and ends within an hour in UTC is as complete as the sensor saw it', async () => {
  const range = { startDate: '2026-03-10T18:30:00Z', endDate: '2026-03-10T19:14:59.999Z' };
  const { points, completeness } = await ask('traffic.getFlow', { ...range, interval: '5min' });
  const known = points.filter((point: { completeness: number }) => point.completeness === 1);
  expect(known).toMatchObject([
    { start: '2026-03-10T18:35:00.000Z', volume: 0 },
    { start: '2026-03-10T18:40:00.000Z', volume: 1 },
    { start: '2026-03-10T19:10:00.000Z', volume: 1 },
  ]);
  expect(completeness).toBeCloseTo(3 / 9, 3);
  expect((await ask('traffic.getSpeedDistribution', range)).completeness).toBeCloseTo(3 / 9, 3);
});

it('the first hour of a day is as complete as the others in a time zone with half hours', async () => {
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Kolkata' }, { token });
  const day = { startDate: '2026-03-11', endDate: '2026-03-11' };
  const { points } = await ask('traffic.getFlow', { ...day, interval: '60min' });
  expect(points[0]).toMatchObject({ volume: 2, completeness: 0.25 });
});

it('a sensor that is moved and comes back watches a location only while it stands there', async () => {
  await gantry.ok('system.timezone.updateTimezoneSettings', { timezone: 'UTC' }, { token });
  const addLocation = async (name: string): Promise<string> =>
    (await gantry.ok('locations.create', { name }, { token })).id;
  const [here, there] = [await addLocation('Bridge'), await addLocation('Tunnel')];
  const device = { name: 'Trailer', deviceId: 'trailer', type: 'RADAR', locationId: here };
  const { id, apiKey } = await gantry.ok('sensors.create', device, { token });
  await gantry.ok('sensors.heartbeat', { apiKey });
  for (const locationId of [there, here]) await gantry.ok('sensors.update', { id, locationId }, { token });
  // As if it had been ONLINE since the first of March, and had stood in the tunnel from 10:00 to 14:00 on the tenth.
  const { pool, app } = gantry;
  await pool.query(`UPDATE sensors SET created_at = '2026-03-01' WHERE id = $1`, [id]);
  await pool.query(`UPDATE sensor_status_history SET at = '2026-03-01' WHERE sensor_id = $1`, [id]);
  await pool.query(
    `UPDATE sensor_places SET since = CASE location_id WHEN $2 THEN timestamptz '2026-03-10 10:00Z'
       ELSE '2026-03-10 14:00Z' END
     WHERE sensor_id = $1 AND since <> '-infinity'`,
    [id, there],
  );
  app.context.sensorKeys.forgetAll();
  const events = ['08:10', '15:10'].map((time) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: `2026-03-10T${time}:00Z`,
  }));
  await gantry.ok('events.ingestBatch', { apiKey, events });
  const volumesAt = async (locationId: string): Promise<(number | null)[]> => {
    const range = { startDate: '2026-03-10T08:00:00Z', endDate: '2026-03-10T15:59:59Z' };
    const { points } = await gantry.ok('traffic.getFlow', { locationId, ...range }, { token });
    return points.map(({ volume }: { volume: number | null }) => volume);
  };
  for (const limit of [null, 100]) {
    if (limit !== null) await rollUpAllTraffic(gantry, limit);
    expect(await volumesAt(here)).toEqual([1, 0, null, null, null, null, 0, 1]);
    expect(await volumesAt(there)).toEqual([null, null, 0, 0, 0, 0, null, null]);
  }
});

it('a location keeps its figures when its sensor is deleted', async () => {
  const { id: locationId } = await gantry.ok('locations.create', { name: 'Viaduct' }, { token });
  const { id: elsewhere } = await gantry.ok('locations.create', { name: 'Depot' }, { token });
  const create = async (deviceId: string, at: string) => {
    const device = { name: 'Viaduct', deviceId, type: 'RADAR', locationId: at };
    const created = await gantry.ok('sensors.create', device, { token });
    await gantry.ok('sensors.heartbeat', { apiKey: created.apiKey });
    return created;
  };
  const stayed = await create('stayed', locationId);
  const moved = await create('moved', locationId);
  await gantry.ok('sensors.update', { id: moved.id, locationId: elsewhere }, { token });
  const { pool, app } = gantry;
  const both = [[stayed.id, moved.id]];
  // As if both had been ONLINE since the first of March, and one had been moved at 12:00 on the tenth.
  await pool.query(`UPDATE sensors SET created_at = '2026-03-01' WHERE id = ANY ($1)`, both);
  await pool.query(`UPDATE sensor_status_history SET at = '2026-03-01' WHERE sensor_id = ANY ($1)`, both);
  await pool.query(
    `UPDATE sensor_places SET since = '2026-03-10 12:00Z' WHERE sensor_id = $1 AND since <> '-infinity'`,
    [moved.id],
  );
  app.context.sensorKeys.forgetAll();
  const events = ['09:10', '10:40'].map((time) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: `2026-03-10T${time}:00Z`,
  }));
  for (const { apiKey } of [stayed, moved]) await gantry.ok('events.ingestBatch', { apiKey, events });
  const figures = () => {
    const range = { startDate: '2026-03-10T08:00:00Z', endDate: '2026-03-10T13:59:59Z' };
    return Promise.all(
      [locationId, elsewhere].map((place) =>
        gantry.ok('traffic.getFlow', { locationId: place, ...range }, { token }),
      ),
    );
  };
  const before = await figures();
  expect(before).toMatchObject([
    { volume: 4, completeness: 1 },
    { volume: 0, completeness: 1 },
  ]);
  for (const { id } of [stayed, moved]) {
    await gantry.ok('sensors.delete', { id }, { token });
    expect(await figures()).toEqual(before);
  }
  // A new sensor with the same deviceId does not inherit anything.
  await create('stayed', locationId);
  expect(await figures()).toEqual(before);
  await rollUpAllTraffic(gantry, 100);
  expect(await figures()).toEqual(before);
  const { rows } = await pool.query(
    'SELECT DISTINCT ON (sensor_id) to_status, reason FROM sensor_status_history WHERE sensor_id = ANY ($1) ORDER BY sensor_id, id DESC',
    both,
  );
  const end = { to_status: 'OFFLINE', reason: 'deleted' };
  expect(rows).toEqual([end, end]);
});

it('a sensor that is ONLINE covers no time in which the service was down', async () => {
  const at = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();
  const device = { name: 'Quiet', deviceId: 'quiet', type: 'RADAR' };
  const { id, apiKey } = await gantry.ok('sensors.create', device, { token });
  await gantry.ok('sensors.heartbeat', { apiKey });
  const { pool } = gantry;
  await pool.query('UPDATE sensor_status_history SET at = $2 WHERE sensor_id = $1', [id, at(10)]);
  // As if nothing had run from eight to four hours ago.
  const [stopped, started] = [at(8), at(4)];
  await eventually(
    async () => {
      await pool.query('UPDATE sensor_watch SET looked_at = $1', [stopped]);
      return gantry.count('sensor_watch_gaps');
    },
    (gaps) => gaps === 1,
  );
  await pool.query('UPDATE sensor_watch_gaps SET until = $1', [started]);
  const range = { startDate: at(10), endDate: at(0) };
  const { points } = await gantry.ok(
    'traffic.getFlow',
    { sensorId: id, interval: '5min', ...range },
    { token },
  );
  const expected = { volume: 0, completeness: 1 };
  for (const { start, end, ...figures } of points.slice(1, -1)) {
    if (end <= stopped || start >= started) expect(figures).toMatchObject(expected);
    else if (start >= stopped && end <= started)
      expect(figures).toMatchObject({ volume: null, completeness: 0 });
  }
});
