import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '@gantry/contract/durations';
import { switchableFeatures } from '@gantry/contract/system';
import { beforeAll, describe, expect, it } from 'vitest';
import { rebuildDerived, runChecks } from '../src/operations/consistency/checks.ts';
import { judgeNext } from '../src/traffic/quality/samples.ts';
import { storeNextYear } from '../src/traffic/years.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { isLong } from './test-length.ts';

// Years that are stored for annual figures: they say the same as the counts, whatever changes.

const gantry = await sharedGantry({
  overrides: { timings: { rollUpTrafficMs: 3_600_000, storeYearsMs: 3_600_000 } },
});
const token = await gantry.tokenFor('ADMIN');
const ask = (procedure: string, input: object = {}) => gantry.ok(procedure, input, { token });
const { pool } = gantry;
const { db, clock, settings } = gantry.app.context;
const now = () => ({ log: gantry.app.context.log, zone: settings.current().timezone, now: clock.now() });

const START = Date.UTC(2024, 11, 20);
const END = Date.UTC(2026, 0, 8);
const hours = Array.from({ length: (END - START) / HOUR_MS }, (_, n) => START + n * HOUR_MS);
const volumeAt = (time: number): number => 40 + ((time / HOUR_MS) % 24) * 5 + ((time / HOUR_MS) % 7);

interface Sensor {
  readonly id: string;
  readonly apiKey: string;
}

const addLocation = async (name: string): Promise<string> => (await ask('locations.create', { name })).id;
const addSensor = (locationId: string, type = 'RADAR'): Promise<Sensor> =>
  ask('sensors.create', { name: type, deviceId: randomUUID(), type, locationId });
const count = async ({ apiKey }: Sensor, times: readonly number[], volume = volumeAt) => {
  const periods = times.map((time) => ({
    start: new Date(time).toISOString(),
    seconds: 3_600,
    direction: 'NB',
    volume: volume(time),
  }));
  for (let n = 0; n < periods.length; n += 1_000)
    await gantry.ok('counts.ingest', { apiKey, periods: periods.slice(n, n + 1_000) });
};

/** Judges all days and stores all years, as the service does in the background. */
const storeAll = async (): Promise<void> => {
  await rollUpAllTraffic(gantry, 100);
  while (await judgeNext(db, now()));
  while (await storeNextYear(db, now()));
};

const METHODS = ['FHWA', 'AASHTO', 'SIMPLE'] as const;
type Method = (typeof METHODS)[number];

/** All annual figures of a place in 2025. */
const figuresOf = async (place: object, methods: readonly Method[]) => {
  const year = { ...place, year: 2025 };
  return {
    averages: await Promise.all(
      methods.map((method) => ask('traffic.getAadt', { ...year, method, allowMissing: 1 })),
    ),
    factors: await ask('traffic.getFactors', year),
    designHours: await ask('traffic.getDesignHours', year),
  };
};

/** The same, computed from the counts. */
const computedOf = async (place: object, methods: readonly Method[]) => {
  await pool.query(
    'ALTER TABLE traffic_years RENAME COLUMN rules TO kept; ALTER TABLE traffic_years ADD COLUMN rules integer DEFAULT -1 NOT NULL',
  );
  try {
    return await figuresOf(place, methods);
  } finally {
    await pool.query(
      'ALTER TABLE traffic_years DROP COLUMN rules; ALTER TABLE traffic_years RENAME COLUMN kept TO rules',
    );
  }
};

/** Makes the answers that use stored years recognizable. */
const mark = () => pool.query('UPDATE traffic_years SET valid_ms = 0');
const isStoredUsed = async (place: object): Promise<boolean> =>
  (await ask('traffic.getDesignHours', { ...place, year: 2025 })).validHours === 0;

describe('a stored year', async () => {
  const locationId = await addLocation('Ring 1');
  const pointId = (await ask('points.create', { locationId, name: 'NB', direction: 'NB' })).id;
  const other = await addLocation('Ring 2');
  const sensor = await addSensor(locationId);
  const second = await addSensor(locationId);
  const place = { locationId };

  beforeAll(async () => {
    await count(sensor, hours);
    await storeAll();
  });

  it('says the same as the counts', async () => {
    expect(await figuresOf(place, METHODS)).toEqual(await computedOf(place, METHODS));
    const found = await ask('traffic.getAadt', { ...place, year: 2025 });
    expect(found).toMatchObject({ status: 'VALID', reason: null });
    await mark();
    expect(await isStoredUsed(place)).toBe(true);
    expect(await isStoredUsed({ sensorId: sensor.id })).toBe(false);
  });

  const inJuly = Date.UTC(2025, 6, 9, 12);
  const july = { startDate: '2025-07-09T12:00:00Z', endDate: '2025-07-09T15:59:59Z' };
  const event = (time: number, id = randomUUID()) => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp: new Date(time).toISOString(),
    idempotencyKey: id,
  });
  const changes: [what: string, change: () => Promise<unknown>][] = [
    ['a corrected count', () => count(sensor, [inJuly], () => 999)],
    [
      'a decision',
      () => ask('traffic.reviewData', { ...place, ...july, decision: 'REJECT', reason: 'roadworks' }),
    ],
    [
      'a decision about a sensor',
      () =>
        ask('traffic.reviewData', { sensorId: sensor.id, ...july, decision: 'ACCEPT', reason: 'checked' }),
    ],
    [
      'late vehicles of another sensor',
      () => gantry.ok('events.ingestBatch', { apiKey: second.apiKey, events: [event(inJuly)] }),
    ],
    [
      'a time of which a sensor saw everything',
      () =>
        gantry.ok('events.ingestBatch', {
          apiKey: second.apiKey,
          observed: { from: '2025-07-09T00:00:00Z', until: '2025-07-10T00:00:00Z' },
          events: [event(inJuly + 1)],
        }),
    ],
    [
      'a status in the past',
      () =>
        pool.query(
          `INSERT INTO sensor_status_history (sensor_id, from_status, to_status, at, reason)
       VALUES ($1, 'ONLINE', 'MAINTENANCE', '2025-08-01Z', 'MANUAL'), ($1, 'MAINTENANCE', 'ONLINE', '2025-08-05Z', 'MANUAL')`,
          [sensor.id],
        ),
    ],
    [
      'an assignment for the past',
      () =>
        ask('assignments.create', {
          sensorId: sensor.id,
          pointId,
          role: 'COUNT',
          validFrom: '2025-03-01T00:00:00Z',
          validUntil: '2025-04-01T00:00:00Z',
        }),
    ],
    ['a sensor that moves', () => ask('sensors.update', { id: second.id, locationId: other })],
    ['another time zone', () => ask('system.timezone.updateTimezoneSettings', { timezone: 'Europe/Berlin' })],
    [
      'counts that are kept for a shorter time',
      () => pool.query(`UPDATE traffic_kept SET since = '2025-02-01Z'`),
    ],
    ['a holiday', () => ask('calendars.create', { date: '2025-07-08', kind: 'HOLIDAY', name: 'Holiday' })],
    [
      'a flag of a rule',
      () =>
        pool.query(
          `INSERT INTO traffic_flags (sensor_id, found_at, rule, lane, since, until, value, threshold)
       VALUES ($1, '2025-09-01Z', 'R4', '', '2025-09-01Z', '2025-09-02 12:00Z', 1, 1)`,
          [sensor.id],
        ),
    ],
    ['a count long before', () => count(sensor, [Date.UTC(2024, 11, 22)], () => 0)],
  ];
  it.each(changes)('is not used after %s, and right when it is stored again', async (_, change) => {
    await mark();
    expect(await isStoredUsed(place)).toBe(true);
    await change();
    expect(await isStoredUsed(place)).toBe(false);
    // All methods read the same stored year.
    const methods = isLong ? METHODS : METHODS.slice(0, 1);
    const computed = await computedOf(place, methods);
    expect(await figuresOf(place, methods)).toEqual(computed);
    await storeAll();
    expect(await figuresOf(place, methods)).toEqual(computed);
    expect((await ask('traffic.getAadt', { pointId, year: 2025 })).months).toHaveLength(12);
  });

  it.each([
    ['a count of today', () => count(sensor, [Math.floor(Date.now() / HOUR_MS - 2) * HOUR_MS])],
    ['a status from now on', () => ask('sensors.update', { id: sensor.id, status: 'MAINTENANCE' })],
    [
      'a decision about another year',
      () =>
        ask('traffic.reviewData', {
          ...place,
          startDate: '2026-03-01',
          endDate: '2026-03-02',
          decision: 'REJECT',
          reason: 'no',
        }),
    ],
  ])('is still used after %s', async (_, change) => {
    await mark();
    await change();
    await rollUpAllTraffic(gantry, 100);
    expect(await isStoredUsed(place)).toBe(true);
  });

  it('that was computed before a change that is committed later is not used', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query(
      `UPDATE traffic_bins SET vehicles = vehicles + 7 WHERE minutes = 60 AND sensor_id = $1 AND slot = '2025-05-05 10:00Z'`,
      [sensor.id],
    );
    await client.query(
      `INSERT INTO traffic_year_changes (concern, since, until) VALUES ($1, '2025-05-05 10:00Z', '2025-05-05 11:00Z')`,
      [sensor.id],
    );
    await pool.query('DELETE FROM traffic_years');
    await storeAll();
    await client.query('COMMIT');
    client.release();
    await mark();
    expect(await isStoredUsed(place)).toBe(false);
    expect(await figuresOf(place, METHODS)).toEqual(await computedOf(place, METHODS));
  });
});

describe('a year that takes too long to store', () => {
  it('waits, a minute and then twice as long each time, and others are stored before it', async () => {
    await storeAll();
    const { rows: ids } = await pool.query<{ id: string }>(
      'SELECT place_id AS id FROM traffic_years ORDER BY year DESC, place_kind, place_id',
    );
    const [slow] = ids;
    await pool.query('DELETE FROM traffic_years');
    await pool.query(`
      CREATE FUNCTION too_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'too long' USING ERRCODE = '57014'; END $$;
      CREATE TRIGGER too_long BEFORE INSERT ON traffic_years FOR EACH ROW WHEN (NEW.place_id = '${slow?.id}' AND NEW.year = 2025) EXECUTE FUNCTION too_long()`);
    const failures = async () =>
      (
        await pool.query(
          `SELECT year, attempts, round(extract(epoch FROM due_at - now()) / 60)::int AS minutes FROM traffic_year_failures`,
        )
      ).rows;
    await storeAll();
    expect(await failures()).toEqual([{ year: 2025, attempts: 1, minutes: 1 }]);
    const stored = async () => (await pool.query('SELECT FROM traffic_years')).rows.length;
    expect(await stored()).toBe(ids.length - 1);
    await pool.query('UPDATE traffic_year_failures SET due_at = now()');
    await storeAll();
    expect(await failures()).toEqual([{ year: 2025, attempts: 2, minutes: 2 }]);
    await pool.query('DROP FUNCTION too_long CASCADE; UPDATE traffic_year_failures SET due_at = now()');
    await storeAll();
    expect([await failures(), await stored()]).toEqual([[], ids.length]);
  });
});

describe('gantry db check', () => {
  it('finds stored years that are wrong, and a rebuild removes them', async () => {
    await storeAll();
    const options = {
      connectionString: gantry.app.context.config.DATABASE_URL ?? '',
      features: switchableFeatures,
    };
    const check = async () => {
      const results = await runChecks({ ...options, limit: 100, onResult: () => undefined });
      return results.filter(({ name, differences }) => name === 'traffic by year' && differences.length > 0);
    };
    expect(await check()).toEqual([]);
    await pool.query('UPDATE traffic_years SET hour_sums[5] = hour_sums[5] + 1 WHERE year = 2025');
    const wrong = expect.arrayContaining([expect.objectContaining({ kind: 'location', year: 2025 })]);
    expect(await check()).toMatchObject([{ rebuild: 'traffic', differences: wrong }]);
    await rebuildDerived('traffic', options);
    expect(await check()).toEqual([]);
    await storeAll();
    expect(await check()).toEqual([]);
  });
});

describe('the network', () => {
  it('has the annual averages of all locations, and refuses a year that is not over', async () => {
    await storeAll();
    const { locations, ...network } = await ask('traffic.getNetworkAadt', { year: 2025 });
    expect(network).toMatchObject({ year: 2025, method: 'FHWA', total: locations.length, pending: 0 });
    expect(locations.length).toBeGreaterThan(0);
    for (const { locationId, locationName: _, ...found } of locations)
      expect(await ask('traffic.getAadt', { locationId, year: 2025 })).toMatchObject(found);
    await pool.query('DELETE FROM traffic_years');
    expect((await ask('traffic.getNetworkAadt', { year: 2025 })).locations).toEqual(locations);
    const refused = await gantry.call('traffic.getNetworkAadt', { year: 2300 }, { token });
    expect(refused.status).toBe(400);
    expect(await ask('traffic.getNetworkAadt', { year: 2001 })).toMatchObject({ locations: [], total: 0 });
  });
});
