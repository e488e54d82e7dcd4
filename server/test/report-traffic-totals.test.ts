import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { locks } from '../src/platform/database/locks.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { requireRange } from '../src/platform/time.ts';
import type { ReportScope, Section } from '../src/reports/document.ts';
import { unitsOfReport } from '../src/reports/kinds/traffic.ts';
import { kinds, trafficIn } from '../src/reports/kinds.ts';
import { eventually, sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';

const DAY = '2026-03-10';
/** Columns, counted from 0: VEHICLES of the rows of the report, the others of the list of places. */
const [VEHICLES, VEHICLES_OF_PLACE, MEAN_PER_DAY, SPEED_LIMIT, COMPLETENESS] = [3, 1, 2, 5, 7];

const gantry = await sharedGantry({ overrides: { timings: { writeContactsMs: 100 } } });
const token = await gantry.tokenFor('ADMIN');

const register = async (name: string, fields: object = {}) =>
  gantry.ok(
    'sensors.create',
    { name, deviceId: `${name} ${Math.random()}`, type: 'RADAR', ...fields },
    { token },
  );
const passing = (apiKey: string, times: readonly string[]) =>
  gantry.ok('events.ingestBatch', {
    apiKey,
    events: times.map((timestamp) => ({ eventType: 'VEHICLE_DETECTION', timestamp })),
  });

/** Registers a sensor that two vehicles pass before it gets its location, at 09:00 of the day. */
const registerThenPlace = async (name: string, locationId: string, day: string) => {
  const { id, apiKey } = await register(name);
  const passingAt = (...times: string[]) =>
    passing(
      apiKey,
      times.map((time) => `${day}T${time}:00Z`),
    );
  await passingAt('08:00', '08:30');
  await gantry.ok('sensors.update', { id, locationId }, { token });
  await gantry.pool.query(
    'UPDATE sensor_places SET since = $3 WHERE sensor_id = $1 AND location_id = $2 AND isfinite(since)',
    [id, locationId, `${day}T09:00:00Z`],
  );
  gantry.app.context.sensorKeys.forgetAll();
  return { id, passingAt };
};

const scopeOf = (startDate: string, endDate: string, filters = {}, now = Date.now()): ReportScope => ({
  interval: requireRange({ startDate, endDate }, 'UTC'),
  filters,
  settings: { timezone: 'UTC', use24HourFormat: true, dateFormat: 'YYYY-MM-DD', firstDayOfWeek: 1 },
  now,
  speedUnits: 'KMH',
});

const readTraffic = async (scope: ReportScope) => {
  const { db } = gantry.app.context;
  const rows = [];
  for await (const batch of kinds.TRAFFIC.rows(db, scope)) rows.push(...batch.rows);
  const sections: Section[] = [];
  for await (const section of kinds.TRAFFIC.sections?.list(db, scope) ?? []) sections.push(section);
  return { rows, sections, summary: await kinds.TRAFFIC.summary(db, scope) };
};

/**
 * The places that have vehicles in the report of a day, with the number of vehicles. The summary must count `total` in
 * all.
 */
const volumesByPlace = async (day: string, total: number) => {
  const { sections, summary } = await readTraffic(scopeOf(day, day));
  expect(summary.figures).toContainEqual({ name: 'Vehicles', value: total });
  const volumes = sections.map(({ title, row }) => [title, row[VEHICLES_OF_PLACE]]);
  return volumes.filter(([, volume]) => volume !== 0);
};

/** Checks the report of a day, before and after its traffic is rolled up, once the sensor is ONLINE. */
const expectVolumes = async (sensorId: string, day: string, expected: readonly [string, number][]) => {
  const total = expected.reduce((sum, [, volume]) => sum + volume, 0);
  await eventually(
    () => gantry.ok('sensors.getById', { id: sensorId }, { token }),
    ({ status }) => status === 'ONLINE',
  );
  expect(await volumesByPlace(day, total)).toEqual(expected);
  await rollUpAllTraffic(gantry, 100);
  expect(await volumesByPlace(day, total)).toEqual(expected);
};

const sumOf = (rows: readonly (readonly unknown[])[], column: number): number =>
  rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);

describe('the report TRAFFIC', () => {
  it('has the same total in its summary as in its rows when the range begins or ends within a day', async () => {
    const { id, apiKey } = await register('Mast');
    await passing(
      apiKey,
      ['08:30', '12:10', '13:20', '20:00'].map((time) => `${DAY}T${time}:00Z`),
    );
    const { rows, sections, summary } = await readTraffic(
      scopeOf(`${DAY}T12:00:00Z`, `${DAY}T17:59:59Z`, { sensorId: id }),
    );
    expect(sumOf(rows, VEHICLES)).toBe(2);
    expect(summary.figures).toContainEqual({ name: 'Vehicles', value: 2 });
    expect(summary.figures).toContainEqual({ name: 'Busiest day', value: `${DAY} (2)` });
    expect(summary.charts[0]?.points).toEqual([{ label: DAY, value: 2 }]);
    expect(
      sumOf(
        sections.map(({ row }) => row),
        VEHICLES_OF_PLACE,
      ),
    ).toBe(2);
    expect(sections[0]?.row[MEAN_PER_DAY]).toBeNull();
  });

  it.each([
    ['a month', '2026-02-28'],
    ['half a year', '2026-07-31'],
  ])(
    'has the mean of complete days in a report of %s, and not of five minutes of another',
    async (_, end) => {
      const { id, apiKey } = await register('Mast');
      const start = Date.parse('2026-02-02T00:00:00Z');
      const times = Array.from({ length: 5 * 240 }, (_, n) => start + n * 360_000);
      for (const some of [times.slice(0, 600), times.slice(600), [start + 5 * 86_400_000 + 30_000]])
        await passing(
          apiKey,
          some.map((time) => new Date(time).toISOString()),
        );
      const { sections } = await readTraffic(scopeOf('2026-02-01', end, { sensorId: id }));
      expect(sections[0]?.row[VEHICLES_OF_PLACE]).toBe(1_201);
      expect(sections[0]?.row[MEAN_PER_DAY]).toBe(240);
      expect(sections[0]?.figures).toContainEqual({ name: 'Mean per complete day', value: 240 });
    },
  );

  it('does not add up two places with the same name', async () => {
    const day = '2026-03-12';
    for (const times of [
      ['08:00', '09:00'],
      ['10:00', '11:00', '12:00'],
    ]) {
      const { apiKey } = await register('Twin');
      await passing(
        apiKey,
        times.map((time) => `${day}T${time}:00Z`),
      );
    }
    await rollUpAllTraffic(gantry, 100);
    const { summary } = await readTraffic(scopeOf(day, day));
    expect(summary.figures).toContainEqual({ name: 'Busiest place', value: 'Twin (3)' });
    expect(summary.charts[1]?.points).toEqual([
      { label: 'Twin', value: 3 },
      { label: 'Twin', value: 2 },
    ]);
  });

  it('makes progress with every place', async () => {
    for (const name of ['One', 'Two']) {
      const { apiKey } = await register(name);
      await passing(apiKey, ['2026-03-13T08:00:00Z']);
    }
    const progress: number[] = [];
    for await (const batch of kinds.TRAFFIC.rows(gantry.app.context.db, scopeOf('2026-03-13', '2026-03-13')))
      progress.push(batch.progress);
    expect(new Set(progress).size).toBe(progress.length);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(progress.at(-1)).toBe(1);
  });

  it('counts the current day only until now in the completeness of a place', async () => {
    const { id, apiKey } = await register('Mast');
    await gantry.ok('sensors.heartbeat', { apiKey });
    await gantry.pool.query(
      `UPDATE sensor_status_history SET at = '2026-02-09T00:00Z' WHERE sensor_id = $1 AND to_status = 'ONLINE'`,
      [id],
    );
    // 39 days of silence and the first half of another one, in which it was ONLINE.
    const now = Date.parse('2026-02-09T12:00:00Z');
    const { sections } = await readTraffic(scopeOf('2026-01-01', '2026-02-09', { sensorId: id }, now));
    expect(sections[0]?.row[COMPLETENESS]).toBeCloseTo(0.5 / 39.5, 4);
  });

  it('counts what a sensor saw at a location only there, if it stands nowhere by now', async () => {
    const day = '2026-03-14';
    const addLocation = async (name: string): Promise<string> =>
      (await gantry.ok('locations.create', { name }, { token })).id;
    const [kept, closed] = [await addLocation('Kept'), await addLocation('Closed')];
    const { id, apiKey } = await register('Trailer', { locationId: kept });
    const move = (locationId: string | null) => gantry.ok('sensors.update', { id, locationId }, { token });
    for (const locationId of [null, closed, null]) await move(locationId);
    await gantry.ok('locations.delete', { id: closed }, { token });
    const { pool, app } = gantry;
    await pool.query(
      `UPDATE sensor_places SET since = moved.at FROM (
         SELECT ctid, ($2::timestamptz[])[row_number() OVER (ORDER BY since)] AS at FROM sensor_places
         WHERE sensor_id = $1 AND since <> '-infinity'
       ) AS moved WHERE sensor_places.ctid = moved.ctid`,
      [id, ['08:00', '10:00', '12:00'].map((time) => `${day}T${time}:00Z`)],
    );
    app.context.sensorKeys.forgetAll();
    // 3 at the first location, 1 at none, 2 at the one that is deleted, and 1 at none.
    await passing(
      apiKey,
      ['07:00', '07:10', '07:59', '08:00', '10:30', '11:59', '12:00'].map((time) => `${day}T${time}:00Z`),
    );
    await expectVolumes(id, day, [
      ['Kept', 3],
      ['Trailer', 4],
    ]);
    const { rows } = await readTraffic(scopeOf(day, day, { sensorId: id }));
    expect(sumOf(rows, VEHICLES)).toBe(7);
  });

  it('counts what a sensor saw before its first location under its own name', async () => {
    const day = '2026-03-16';
    const { id: locationId } = await gantry.ok('locations.create', { name: 'Gate' }, { token });
    const { id, passingAt } = await registerThenPlace('Early', locationId, day);
    // It is assumed to have always stood at its first location, except while its events said otherwise.
    await passingAt('07:50', '08:40', '09:10');
    await expectVolumes(id, day, [
      ['Early', 3],
      ['Gate', 2],
    ]);
  });

  it('contains what a deleted sensor saw at no location, as before', async () => {
    const day = '2026-03-18';
    const { id: locationId } = await gantry.ok('locations.create', { name: 'Bridge' }, { token });
    const { id, passingAt } = await registerThenPlace('Gone', locationId, day);
    await passingAt('09:10');
    await expectVolumes(id, day, [
      ['Bridge', 1],
      ['Gone', 2],
    ]);
    const own = () => readTraffic(scopeOf(day, day, { sensorId: id }));
    const there = () => readTraffic(scopeOf(day, day, { sensorId: id, locationId }));
    const before = { own: await own(), there: await there(), all: await readTraffic(scopeOf(day, day)) };
    expect([sumOf(before.own.rows, VEHICLES), sumOf(before.there.rows, VEHICLES)]).toEqual([3, 1]);
    await gantry.ok('sensors.delete', { id }, { token });
    const after = { own: await own(), there: await there(), all: await readTraffic(scopeOf(day, day)) };
    expect(after).toEqual(before);
    const asked = { sensorId: id, startDate: day, endDate: day, interval: 'day' };
    expect((await gantry.call('traffic.getFlow', asked, { token })).status).toBe(404);
  });

  it('contains what a deleted sensor saw at no location before its first count is rolled up', async () => {
    const day = '2026-03-19';
    const { id, apiKey } = await register('Brief');
    // While another transaction has the lock, the service does not roll up.
    await inTransaction(gantry.app.context.db, async (tx) => {
      await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
      await passing(apiKey, [`${day}T08:00:00Z`, `${day}T09:00:00Z`]);
      await gantry.ok('sensors.delete', { id }, { token });
      expect(await volumesByPlace(day, 2)).toEqual([['Brief', 2]]);
    });
    await rollUpAllTraffic(gantry, 100);
    expect(await volumesByPlace(day, 2)).toEqual([['Brief', 2]]);
  });

  it('counts what a sensor saw at one of its locations if both are asked for', async () => {
    const day = '2026-03-20';
    const addLocation = async (name: string): Promise<string> =>
      (await gantry.ok('locations.create', { name, speedLimit: 50 }, { token })).id;
    const [first, second] = [await addLocation('First'), await addLocation('Second')];
    const { id, apiKey } = await register('Moved', { locationId: first });
    await gantry.ok('sensors.update', { id, locationId: second }, { token });
    // A change of the limit in the middle of a slot does not divide the stay.
    await gantry.ok('locations.update', { id: second, speedLimit: 70 }, { token });
    const { pool, app } = gantry;
    await pool.query(
      'UPDATE sensor_places SET since = $3 WHERE sensor_id = $1 AND location_id = $2 AND isfinite(since)',
      [id, second, `${day}T09:00:00Z`],
    );
    await pool.query('UPDATE location_limits SET since = $2 WHERE location_id = $1 AND isfinite(since)', [
      second,
      `${day}T10:02:00Z`,
    ]);
    app.context.sensorKeys.forgetAll();
    await passing(
      apiKey,
      ['08:00', '08:30', '08:59', '09:00', '10:01'].map((time) => `${day}T${time}:00Z`),
    );
    await expectVolumes(id, day, [
      ['First', 3],
      ['Second', 2],
    ]);
    const readAt = async (locationId: string) => {
      const { rows, sections } = await readTraffic(scopeOf(day, day, { sensorId: id, locationId }));
      const places = sections.map(({ row }) => [row[VEHICLES_OF_PLACE], row[SPEED_LIMIT]]);
      return [sumOf(rows, VEHICLES), places];
    };
    expect(await readAt(first)).toEqual([3, [[3, 50]]]);
    expect(await readAt(second.toUpperCase())).toEqual([2, [[2, 70]]]);
    expect(await readAt(await addLocation('Other'))).toEqual([0, []]);
  });

  it('is in the units that all of its places have, and otherwise in those of the service', async () => {
    const { db } = gantry.app.context;
    const locate = (speedUnits: string | null) =>
      gantry.ok('locations.create', { name: `In ${speedUnits}`, speedLimit: 80, speedUnits }, { token });
    const [miles, any] = [await locate('MPH'), await locate(null)];
    for (const { id: locationId } of [miles, any]) {
      const { apiKey } = await register('Radar', { locationId });
      const events = Array.from({ length: 40 }, (_, n) => ({
        eventType: 'SPEED_DETECTION',
        vehicleSpeed: 80.4672,
        timestamp: new Date(Date.parse(`${DAY}T08:00:00Z`) + n * 60_000).toISOString(),
      }));
      await gantry.ok('events.ingestBatch', { apiKey, events });
    }
    const unitsAt = async (filters: object, speedUnits: 'KMH' | 'MPH') => {
      const scope = { ...scopeOf(DAY, DAY, filters), speedUnits };
      return unitsOfReport(db, scope);
    };
    expect(await unitsAt({ locationId: miles.id }, 'KMH')).toBe('MPH');
    expect(await unitsAt({ locationId: any.id }, 'KMH')).toBe('KMH');
    expect(await unitsAt({ locationId: any.id }, 'MPH')).toBe('MPH');
    expect(await unitsAt({}, 'KMH')).toBe('KMH');
    const scope = scopeOf(DAY, DAY, { locationId: miles.id });
    const { columns, rows, sections } = trafficIn('MPH');
    expect(columns.map(({ name }) => name)).toContain('V85 (mph)');
    const speeds: unknown[] = [];
    for await (const batch of rows(db, scope))
      for (const row of batch.rows)
        if (row[VEHICLES] === 40) speeds.push(row.slice(VEHICLES + 1, VEHICLES + 6));
    expect(speeds).toEqual([[50, 50, 50, 50, 50]]);
    for await (const { row, figures } of sections?.list(db, scope) ?? []) {
      expect(row.slice(3, 6)).toEqual([50, 50, 49.7]);
      expect(figures).toContainEqual({ name: 'V85', value: '50 mph' });
    }
  });
});
