import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
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
  eventType: pick(['VEHICLE_DETECTION', 'SPEED_DETECTION', 'INCIDENT', 'TRAFFIC_VIOLATION']),
  vehicleType: pick([undefined, 'CAR', 'TRUCK']),
  vehicleSpeed: pick([undefined, 0, 50, 50.5, 0.0001, 1999.9999, random() * 120]),
});

/** The parts of migrations that count stored events. */
const COUNT_STORED = [
  { file: '0005-traffic.sql', part: /-- What is there already counts too\.\n(?<statements>.*?)\n\n/s },
  { file: '0008-types-of-traffic.sql', part: /(?<statements>UPDATE .*)/s },
];

const KEPT = [
  `SELECT minutes, place_id, slot, vehicle_type, n, events, measured, speed_sum, bins, counts, alive, types, type_counts
   FROM traffic_rollups WHERE minutes > 1 ORDER BY 1, 2, 3, 4`,
  'SELECT * FROM traffic_places ORDER BY 1, 2',
];
const readKept = () => Promise.all(KEPT.map((statement) => rowsOf(statement)));

/** Counts the stored events as an upgrade does. */
const recount = async (): Promise<void> => {
  await gantry.pool.query('TRUNCATE traffic_rollups, traffic_places');
  for (const { file, part } of COUNT_STORED) {
    const text = await readFile(new URL(file, migrationsFolder), 'utf8');
    await gantry.pool.query(part.exec(text)?.groups?.statements ?? '');
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
    const kept = await readKept();
    await recount();
    expect(await readKept()).toEqual(kept);
  });

  it('are the same when an upgrade counts stored events', async () => {
    for (const { apiKey } of sensors)
      await gantry.ok('events.ingestBatch', { apiKey, events: Array.from({ length: 60 }, anEvent) });
    await rollUpAll(200);
    const kept = await readKept();
    expect(kept[0]?.length).toBeGreaterThan(500);
    await recount();
    expect(await readKept()).toEqual(kept);
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
    expect((await rowsOf('SELECT FROM traffic_rollups')).length).toBeGreaterThan(1_000);
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
  });

  it('equal a recount when all events of a sensor are deleted', async () => {
    const id = sensors[0]?.id;
    const rows = await rowsOf<{ id: string }>(`SELECT id FROM events WHERE sensor_id = '${id}'`);
    expect(rows.length).toBeGreaterThan(10);
    await Promise.all(rows.map((row) => gantry.ok('events.delete', { id: row.id }, { token })));
    await rollUpAll(50);
    expect(await rowsOf(TRAFFIC_DIFFERENCES)).toEqual([]);
    expect(await rowsOf(`SELECT FROM traffic_rollups WHERE place_id = '${id}' AND n <> 0`)).toEqual([]);
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
    expect(await rowsOf(`SELECT FROM traffic_rollups WHERE slot < '${kept}'`)).toEqual([]);
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
