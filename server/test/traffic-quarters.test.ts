import { randomUUID } from 'node:crypto';
import { switchableFeatures } from '@gantry/contract/system';
import { beforeAll, describe, expect, it } from 'vitest';
import { rebuildDerived, runChecks } from '../src/operations/consistency/checks.ts';
import { locks } from '../src/platform/database/locks.ts';
import { createDatabase, createPool } from '../src/platform/database/pool.ts';
import { startTrafficRollUp } from '../src/traffic/roll-up.ts';
import { rollUpQuarter, rollUpTraffic } from '../src/traffic/roll-up-store.ts';
import { eventually, sharedGantry, startGantry } from './harness.ts';
import { suiteLog } from './leaks.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { seeded } from './simulated-month.ts';
import { lengthOf } from './test-length.ts';
import { TRAFFIC_DIFFERENCES } from './traffic-differences.ts';

// Slots longer than five minutes, which are counted once a quarter hour is over, and the figures that are read until
// then.

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
/** The time until which longer slots are counted at first: in the middle of an hour. */
const BEGIN = Date.parse('2026-03-06T09:15:00Z');
const FIRST = BEGIN - 30 * 3_600_000;
const END = BEGIN + 3 * 3_600_000;

let sensors: { id: string; apiKey: string; locationId: string }[];

// This service does not roll up by itself during the tests.
const gantry = await sharedGantry({ overrides: { timings: { rollUpTrafficMs: 3_600_000 } } });
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  await setLongerUntil(BEGIN);
  const register = async (name: string) => {
    const { id: locationId } = await gantry.ok('locations.create', { name }, { token });
    const sensor = { name: 'Mast', deviceId: randomUUID(), type: 'RADAR', locationId };
    return gantry.ok('sensors.create', sensor, { token });
  };
  sensors = await Promise.all(['East', 'West'].map(register));
});

const setLongerUntil = (time: number) =>
  gantry.pool.query('UPDATE traffic_kept SET longer_until = $1', [new Date(time)]);
const longerUntil = async (): Promise<number> =>
  (
    await gantry.pool.query<{ at: Date }>('SELECT longer_until AS at FROM traffic_kept')
  ).rows[0]?.at.getTime() ?? 0;
const differences = async () => (await gantry.pool.query(TRAFFIC_DIFFERENCES)).rows;
const db = () => gantry.app.context.db;

const random = seeded(5);
const pick = <Value>(values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;
const anEvent = (from = FIRST, until = END) => ({
  timestamp: new Date(from + random() * (until - from)).toISOString(),
  eventType: pick(['VEHICLE_DETECTION', 'SPEED_DETECTION', 'INCIDENT', 'TRAFFIC_VIOLATION']),
  vehicleType: pick([undefined, 'CAR', 'TRUCK', 'Bicycle']),
  vehicleSpeed: pick([undefined, 0, 50, 50.5, random() * 120]),
});

const DAYS = { startDate: '2026-03-05', endDate: '2026-03-06' };
const CUT = { startDate: '2026-03-06T07:20:00Z', endDate: '2026-03-06T10:39:59.999Z' };

/** Every figure that is read from rollups. */
const figures = async () => {
  const answers: Record<string, unknown> = {};
  const ask = async (procedure: string, input: object) => {
    answers[`${procedure} ${JSON.stringify(input)}`] = await gantry.ok(procedure, input, { token });
  };
  for (const range of [DAYS, CUT]) {
    for (const place of [{ locationId: sensors[0]?.locationId }, { sensorId: sensors[1]?.id }]) {
      for (const interval of ['5min', '15min', '60min', 'day'])
        await ask('traffic.getFlow', { ...place, ...range, interval });
      await ask('traffic.getFlow', { ...place, ...range, interval: 'day', vehicleType: 'CAR' });
      await ask('traffic.getSpeedDistribution', { ...place, ...range });
      await ask('traffic.getHourOfWeek', { ...place, ...range });
    }
    await ask('traffic.getTopLocations', range);
  }
  await ask('reports.getAnalytics', { startDate: FIRST_DAY, endDate: LAST_DAY });
  return answers;
};
const [FIRST_DAY, LAST_DAY] = ['2026-03-05T00:00:00.000Z', '2026-03-06T23:59:59.999Z'];

describe('slots longer than five minutes', () => {
  it('equal a recount while events arrive and go before and after the time until which they are counted', async () => {
    let busy = true;
    const rollingUp = (async () => {
      for (let round = 0; busy; round++) {
        await rollUpTraffic(db(), 2);
        if (round % 5 === 0) await rollUpQuarter(db(), BEGIN + 5 * QUARTER);
      }
    })();
    const client = async ({ apiKey }: { apiKey: string }) => {
      for (let round = 0; round < lengthOf({ gate: 6, full: 24 }); round++) {
        const events = Array.from({ length: 20 }, () => anEvent());
        const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
        const ids = results.map(({ eventId }: { eventId: string }) => eventId);
        await Promise.all(ids.slice(0, 4).map((id: string) => gantry.ok('events.delete', { id }, { token })));
      }
    };
    await Promise.all([...sensors, ...sensors].map(client));
    busy = false;
    await rollingUp;
    await rollUpAllTraffic(gantry, 200);
    expect(await longerUntil()).toBeGreaterThan(BEGIN);
    expect(await longerUntil()).toBeLessThanOrEqual(BEGIN + 5 * QUARTER);
    expect(await differences()).toEqual([]);
  });

  it('are replaced by those of five minutes in all figures until then', async () => {
    const from = await longerUntil();
    const { rows } = await gantry.pool.query(`SELECT FROM traffic_bins WHERE minutes = 5 AND slot >= $1`, [
      new Date(from),
    ]);
    expect(rows.length).toBeGreaterThan(10);
    const before = await figures();
    while (await rollUpQuarter(db(), from + 4 * QUARTER));
    expect(await longerUntil()).toBe(from + 4 * QUARTER);
    expect(await figures()).toEqual(before);
    while (await rollUpQuarter(db(), END + QUARTER));
    expect(await longerUntil()).toBeGreaterThanOrEqual(END);
    expect(await differences()).toEqual([]);
    expect(await figures()).toEqual(before);
  });

  it('count events of a quarter hour that was added before', async () => {
    for (const { apiKey } of sensors)
      await gantry.ok('events.ingestBatch', {
        apiKey,
        events: Array.from({ length: 30 }, () => anEvent(BEGIN, END)),
      });
    await rollUpAllTraffic(gantry, 200);
    expect(await differences()).toEqual([]);
  });

  it('contain a quarter hour once it is over, unless another process is rolling up', async () => {
    const start = await longerUntil();
    const { apiKey } = sensors[0] ?? { apiKey: '' };
    await gantry.ok('events.ingestBatch', {
      apiKey,
      events: Array.from({ length: 20 }, () => anEvent(start, start + QUARTER)),
    });
    await rollUpAllTraffic(gantry, 200);
    expect(await rollUpQuarter(db(), start + QUARTER - 1)).toBe(false);
    const other = await gantry.pool.connect();
    try {
      await other.query('SELECT pg_advisory_lock($1)', [locks.traffic]);
      expect(await rollUpQuarter(db(), start + QUARTER)).toBe(false);
      expect(await longerUntil()).toBe(start);
    } finally {
      await other.query('SELECT pg_advisory_unlock($1)', [locks.traffic]);
      other.release();
    }
    expect(await rollUpQuarter(db(), start + QUARTER)).toBe(true);
    expect(await longerUntil()).toBe(start + QUARTER);
    expect(await differences()).toEqual([]);
  });

  it('skip the time without traffic', async () => {
    const start = await longerUntil();
    const later = Date.parse('2026-03-09T11:37:00Z');
    expect(await rollUpQuarter(db(), later)).toBe(false);
    expect(start).toBeLessThan(later);
    expect(await longerUntil()).toBe(Date.parse('2026-03-09T11:30:00Z'));
  });

  it('are checked and rebuilt as far as they are counted', async () => {
    const until = (await longerUntil()) + QUARTER;
    const { apiKey } = sensors[0] ?? { apiKey: '' };
    await gantry.ok('events.ingestBatch', {
      apiKey,
      events: Array.from({ length: 40 }, () => anEvent(until - QUARTER, until + QUARTER)),
    });
    await rollUpAllTraffic(gantry, 200);
    expect(await rollUpQuarter(db(), until)).toBe(true);
    const options = {
      connectionString: gantry.app.context.config.DATABASE_URL ?? '',
      features: switchableFeatures,
    };
    const check = async () => {
      const results = await runChecks({ ...options, limit: 100, onResult: () => undefined });
      return results.filter(({ differences: found }) => found.length > 0).map(({ name }) => name);
    };
    expect(await check()).toEqual([]);
    await gantry.pool.query(
      'UPDATE traffic_bins SET sums = sums || 1::bigint, cells = cells || cells[1], measures = measures || 250::smallint WHERE minutes = 60 AND slot = $1',
      [new Date(Math.floor((until - 1) / 3_600_000) * 3_600_000)],
    );
    expect(await check()).toEqual(['traffic by longer slots']);
    await rebuildDerived('traffic', options);
    expect(await check()).toEqual([]);
    expect(await differences()).toEqual([]);
  });

  it('are counted from smaller parts after a transaction took too long', async () => {
    const { DATABASE_URL = '' } = gantry.app.context.config;
    const pool = createPool(DATABASE_URL, 1, () => undefined, { statementTimeoutMs: 300 });
    // Simulates groups that take long to roll up: forty events take longer than the pool allows for a statement.
    await gantry.pool.query(`
      CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.02); RETURN OLD; END';
      CREATE TRIGGER delay BEFORE DELETE ON traffic_unfolded FOR EACH ROW EXECUTE FUNCTION delay()`);
    const { apiKey } = sensors[0] ?? { apiKey: '' };
    for (let n = 0; n < 40; n++)
      await gantry.ok('events.ingest', { apiKey, ...anEvent(), eventType: 'SPEED_DETECTION' });
    const parts = { db: createDatabase(pool), log: suiteLog(), now: () => 0, zone: () => 'UTC', everyMs: 50 };
    const rollingUp = startTrafficRollUp({ ...parts, zone: () => 'UTC', notePending: () => undefined });
    try {
      await eventually(
        () => gantry.count('traffic_unfolded'),
        (left) => left === 0,
      );
    } finally {
      await rollingUp[Symbol.asyncDispose]();
      await pool.end();
      await gantry.pool.query('DROP FUNCTION delay CASCADE');
    }
    expect(await differences()).toEqual([]);
  });

  it('are counted by the service itself, two minutes after the end of a quarter hour', async () => {
    const overrides = { timings: { rollUpTrafficMs: 100 } };
    await using own = await startGantry({ overrides });
    const since = Math.floor(Date.now() / QUARTER) * QUARTER - 4 * QUARTER;
    await own.pool.query('UPDATE traffic_kept SET longer_until = $1', [new Date(since)]);
    const apiKey = await own.registerSensor();
    await own.ok('events.ingestBatch', {
      apiKey,
      events: Array.from({ length: 50 }, () => anEvent(since, since + 3 * QUARTER)),
    });
    const isDone = async () => {
      const { rows } = await own.pool.query<{ at: Date }>('SELECT longer_until AS at FROM traffic_kept');
      const due = Math.floor((Date.now() - 2 * MINUTE) / QUARTER) * QUARTER;
      const pending = await own.count('traffic_unfolded');
      return pending === 0 && rows[0]?.at.getTime() === due;
    };
    await eventually(isDone, (done) => done);
    expect((await own.pool.query(TRAFFIC_DIFFERENCES)).rows).toEqual([]);
  });
});
