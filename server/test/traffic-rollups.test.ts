import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DAY_MS } from '@gantry/contract/durations';
import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
import { convertDay, recountDay } from '../src/traffic/recount-store.ts';
import { rollUpTraffic } from '../src/traffic/roll-up-store.ts';
import { keepTrafficSince, type RemovedDay, removeDaysNotKept } from '../src/traffic/slots-store.ts';
import { sharedGantry } from './harness.ts';
import { rollUpAllTraffic } from './roll-up-all-traffic.ts';
import { seeded } from './simulated-month.ts';
import { lengthOf } from './test-length.ts';
import { TRAFFIC_DIFFERENCES } from './traffic-differences.ts';

// Traffic counts compared with the events themselves, vehicle by vehicle.

const START = Date.parse('2026-02-25T00:00:00Z');
const DAYS = 10;

let locations: string[];
let sensors: { id: string; apiKey: string; locationId: string | null }[];
const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const create = (name: string) => gantry.ok('locations.create', { name }, { token });
  locations = (await Promise.all(['East', 'West'].map(create))).map(({ id }) => id);
  const register = (locationId: string | null) =>
    gantry.ok(
      'sensors.create',
      { name: 'Mast', deviceId: randomUUID(), type: 'RADAR', locationId },
      { token },
    );
  sensors = await Promise.all([...locations, locations[0] ?? null, null].map(register));
});

const rowsOf = async <Row extends pg.QueryResultRow>(statement: string): Promise<Row[]> =>
  (await gantry.pool.query<Row>(statement)).rows;

const rollUpAll = (limit: number) => rollUpAllTraffic(gantry, limit);

const random = seeded(11);
const pick = <Value>(values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value;
const anEvent = () => ({
  timestamp: new Date(START + random() * DAYS * 86_400_000).toISOString(),
  idempotencyKey: random() < 0.5 ? randomUUID() : undefined,
  eventType: pick([
    'VEHICLE_DETECTION',
    'SPEED_DETECTION',
    'PLATE_RECOGNITION',
    'INCIDENT',
    'TRAFFIC_VIOLATION',
  ]),
  vehicleType: pick([undefined, 'CAR', 'TRUCK', 'Bicycle']),
  vehicleClass: pick([
    undefined,
    undefined,
    { scheme: 'BASIC', code: 'BICYCLE' },
    { scheme: 'FHWA13', code: '9' },
  ]),
  direction: pick([undefined, 'NB', 12.5]),
  lane: pick([undefined, 1, 'bus']),
  movement: pick([undefined, undefined, { from: 'N' }, { from: 'N', turn: 'L' }]),
  vehicleSpeed: pick([undefined, 0, 50, 50.5, 0.0001, 250, 250.1, 1999.9999, random() * 120]),
});

/** The parts of migrations that counted stored events before bins. */
const COUNT_EARLIER = [
  { file: '0005-traffic.sql', part: /(?<statements>WITH passed AS .*?;)/s },
  { file: '0008-types-of-traffic.sql', part: /(?<statements>UPDATE .*)/s },
];

/** Replaces all counts by those that an older version would have made of the stored events. */
const countAsBefore = async (): Promise<void> => {
  await gantry.pool.query(`TRUNCATE traffic_rollups, traffic_bins;
    DROP RULE IF EXISTS traffic_rollups_are_replaced ON traffic_rollups;
    UPDATE traffic_places SET detections = false, plates = false, earlier = true;
    UPDATE traffic_kept SET unconverted_until =
      (SELECT date_trunc('day', max(last_slot), 'UTC') + interval '1 day' FROM traffic_places)`);
  for (const { file, part } of COUNT_EARLIER) {
    const text = await readFile(new URL(file, migrationsFolder), 'utf8');
    await gantry.pool.query(part.exec(text)?.groups?.statements ?? '');
  }
};

/** Replaces all earlier counts, also while the service itself rolls up. */
const convertAll = async (meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> => {
  while ((await rowsOf('SELECT FROM traffic_kept WHERE unconverted_until IS NOT NULL')).length > 0) {
    await convertDay(gantry.app.context.db);
    await meanwhile();
  }
};

describe('traffic counts', () => {
  it('are the same when all events of a roll-up are in one slot of five minutes', async () => {
    const slot = Date.parse('2026-03-03T13:40:00Z');
    const send = async () => {
      for (const { apiKey } of sensors) {
        const events = Array.from({ length: 20 }, () => ({
          ...anEvent(),
          timestamp: new Date(slot + random() * 299_000).toISOString(),
        }));
        await gantry.ok('events.ingestBatch', { apiKey, events });
      }
      await rollUpAll(200);
    };
    await send();
    await send();
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
  });

  it('are the same when earlier counts are replaced day by day, while events come and go', async () => {
    const send = async (count: number): Promise<string[]> => {
      const ids: string[] = [];
      for (const { apiKey } of sensors) {
        const events = Array.from({ length: count }, anEvent);
        const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
        ids.push(...results.map(({ eventId }: { eventId: string }) => eventId));
      }
      return ids;
    };
    const stored = await send(60);
    await rollUpAll(200);
    const asBefore = `INSERT INTO traffic_rollups (minutes, place_id, slot, n, measured, speed_sum)
      VALUES (5, gen_random_uuid(), now(), 1, 0, 0) ON CONFLICT DO NOTHING`;
    await expect(gantry.pool.query(asBefore)).rejects.toThrow(/rule/);
    await countAsBefore();
    const total = async () => {
      const flow = {
        locationId: locations[1],
        startDate: '2026-02-25',
        endDate: '2026-03-07',
        interval: 'day',
      };
      return (await gantry.ok('traffic.getFlow', flow, { token })).points.map(
        ({ volume }: { volume: number | null }) => volume ?? 0,
      );
    };
    const before = await total();
    const { rows } = await gantry.pool.query(
      `SELECT count(*)::int AS n FROM events WHERE location_id = $1 AND event_type <> 'INCIDENT' AND vehicle_type IS DISTINCT FROM 'Bicycle'
       GROUP BY date_trunc('day', event_time(id), 'UTC') ORDER BY date_trunc('day', event_time(id), 'UTC')`,
      [locations[1]],
    );
    expect(before.filter((n: number) => n > 0)).toEqual(rows.map(({ n }) => n));
    await convertDay(gantry.app.context.db);
    for (const id of stored.filter((_, n) => n % 9 === 0))
      await gantry.ok('events.delete', { id }, { token });
    await send(15);
    await convertAll(() => rollUpTraffic(gantry.app.context.db, 3));
    await rollUpAll(200);
    expect(await rowsOf('SELECT FROM traffic_rollups')).toEqual([]);
    expect(await rowsOf('SELECT FROM traffic_places WHERE earlier')).toEqual([]);
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
  });

  it('keep the earlier ones of a day from which retention removed events', async () => {
    await countAsBefore();
    const run = `INSERT INTO retention_runs (status) VALUES ('COMPLETED') RETURNING id`;
    await gantry.pool.query(`WITH run AS (${run})
      INSERT INTO retention_removals (run_id, class, event_type, month, rows, until)
      SELECT id, 'events', 'VEHICLE_DETECTION', '2026-02-01', 3, '2026-02-27' FROM run`);
    const flowOf = (place: object) => {
      const range = { startDate: '2026-02-25', endDate: '2026-02-26', interval: 'day' };
      return gantry.ok('traffic.getFlow', { ...place, ...range }, { token });
    };
    const figures = async () => {
      const flows = [await flowOf({ locationId: locations[0] }), await flowOf({ sensorId: sensors[0]?.id })];
      return flows.map(({ volume, measured, meanSpeed, v85, byVehicleType }) => ({
        ...{ volume, measured, meanSpeed, v85, byVehicleType },
      }));
    };
    const before = await figures();
    expect(before[0]?.volume).toBeGreaterThan(10);
    await convertAll();
    expect(await figures()).toEqual(before);
    const count = `SELECT sum(vehicles)::int AS n FROM traffic_bins
      WHERE source = 0 AND minutes = 1440 AND sensor_id = $1`;
    const { rows } = await gantry.pool.query(count, [locations[0]]);
    expect(rows[0]?.n).toBe(before[0]?.volume);
    await gantry.pool.query(`DELETE FROM retention_removals;
      TRUNCATE traffic_bins; UPDATE traffic_places SET earlier = false`);
    await inTransaction(gantry.app.context.db, async (tx) => {
      for (let day = START; day < START + (DAYS + 1) * DAY_MS; day += DAY_MS)
        await recountDay(tx, { from: day, until: day + DAY_MS }, sql`true`);
    });
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
  });

  it('equal a recount after concurrent actions of devices and users, and during the roll-up', async () => {
    let busy = true;
    const rollingUp = (async () => {
      while (busy) await rollUpTraffic(gantry.app.context.db, 2);
    })();
    const client = async () => {
      const { apiKey } = pick(sensors);
      for (let round = 0; round < lengthOf({ gate: 8, full: 12 }); round++) {
        const events = Array.from({ length: 12 }, anEvent);
        const send = () => gantry.ok('events.ingestBatch', { apiKey, events });
        const [{ results }] = await Promise.all([send(), ...(round % 3 === 0 ? [send()] : [])]);
        const ids = results.map(({ eventId }: { eventId: string }) => eventId);
        await Promise.all([
          ...ids.slice(0, 3).map((id: string) => gantry.ok('events.delete', { id }, { token })),
          ...ids.slice(2, 6).map((id: string) => gantry.call('events.markAsProcessed', { id }, { token })),
          ...ids.slice(5, 7).map((id: string) => gantry.ok('events.markAsArchived', { id }, { token })),
        ]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    busy = false;
    await rollingUp;
    await rollUpAll(200);
    expect((await rowsOf('SELECT FROM events')).length).toBeGreaterThan(800);
    expect((await rowsOf('SELECT FROM traffic_bins')).length).toBeGreaterThan(1_000);
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
  });

  it('equal a recount when all events of a sensor are deleted', async () => {
    const id = sensors[0]?.id;
    const rows = await rowsOf<{ id: string }>(`SELECT id FROM events WHERE sensor_id = '${id}'`);
    expect(rows.length).toBeGreaterThan(10);
    await Promise.all(rows.map((row) => gantry.ok('events.delete', { id: row.id }, { token })));
    await rollUpAll(50);
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
    expect(
      await rowsOf(`SELECT FROM traffic_bins WHERE sensor_id = '${id}' AND (events <> 0 OR cells <> '{}')`),
    ).toEqual([]);
  });

  it('exclude everything before the time since which they are kept, even if it is not rolled up yet', async () => {
    const { apiKey } = sensors[3] ?? { apiKey: '' };
    const events = Array.from({ length: 40 }, anEvent);
    await gantry.ok('events.ingestBatch', { apiKey, events });
    const kept = '2026-03-01T00:00:00Z';
    await inTransaction(gantry.app.context.db, async (tx) => {
      await keepTrafficSince(tx, Date.parse(kept));
      for (let last: RemovedDay | null = null; ; ) {
        const days: RemovedDay[] = await removeDaysNotKept(tx, last, 3);
        if (days.length === 0) break;
        last = days.at(-1) ?? null;
      }
    });
    const [late, gone] = await rowsOf<{ id: string }>(
      `SELECT id FROM events WHERE event_time(id) < '${kept}' LIMIT 2`,
    );
    await gantry.ok('events.delete', { id: late?.id }, { token });
    await rollUpAll(1);
    await gantry.ok('events.delete', { id: gone?.id }, { token });
    await rollUpAll(1);
    expect(await rowsOf(`SELECT FROM traffic_bins WHERE slot < '${kept}'`)).toEqual([]);
    expect(
      await rowsOf(
        TRAFFIC_DIFFERENCES.replaceAll(
          'FROM events',
          `FROM (SELECT * FROM events WHERE event_time(id) >= '${kept}') AS events`,
        ),
      ),
    ).toEqual([]);
  });
});
