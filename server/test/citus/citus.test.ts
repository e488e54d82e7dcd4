import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeSchema } from '../../scripts/generate/describe-schema.ts';
import { runChecks } from '../../src/operations/consistency/checks.ts';
import { readConfig } from '../../src/platform/config.ts';
import { distribute } from '../../src/platform/database/distribute/distribute.ts';
import { eventually, type Gantry, untilBegun } from '../harness.ts';
import { openStream } from '../sse.ts';
import { CITUS_SERVERS, startTestCluster, type TestCluster } from './cluster.ts';
import { startGantryOn } from './gantry-on-cluster.ts';

// The service on a real cluster. The tests build on one another, in this order.

const HAS_CLUSTER = CITUS_SERVERS.length >= 3;
if (!HAS_CLUSTER) {
  process.stdout.write(
    'No cluster to test on: set CITUS_SERVERS to the addresses of three servers with Citus (CONTRIBUTING.md).\n',
  );
}

let cluster: TestCluster;
let gantry: Gantry;
let token: string;
let sensor: { id: string; apiKey: string };
let locationId: string;

const MONTHS = ['2026-08', '2026-09', '2026-10'] as const;
const KINDS = ['VEHICLE_DETECTION', 'SPEED_DETECTION', 'INCIDENT', 'TRAFFIC_VIOLATION'] as const;
const VEHICLES = ['CAR', 'TRUCK', null] as const;

/** An event as it was reported, with the id under which it was stored. */
interface Reported {
  readonly id: string;
  readonly timestamp: string;
  readonly eventType: string;
  readonly vehicleType: string | null;
  readonly licensePlateNumber: string | null;
  readonly sensorId: string;
}
const reported: Reported[] = [];

const runDistribution = async (shards: number | null = null): Promise<string> => {
  const lines: string[] = [];
  await distribute({
    connectionString: cluster.url,
    shards,
    isDryRun: false,
    say: (line) => lines.push(line),
  });
  return lines.join('\n');
};

const differences = async (): Promise<unknown[]> => {
  const { FEATURES } = readConfig({});
  const results = await runChecks({
    connectionString: cluster.url,
    features: FEATURES,
    limit: 10,
    onResult: () => undefined,
  });
  return results.flatMap(({ name, differences: found }) =>
    found.map((difference) => ({ name, ...difference })),
  );
};

/** Stores events in a batch, which must be accepted. */
const report = async (events: readonly object[], to = sensor): Promise<string[]> => {
  const { results } = await gantry.ok('events.ingestBatch', { apiKey: to.apiKey, events });
  return results.map((result: { eventId?: string }) => {
    if (result.eventId === undefined) throw new Error(JSON.stringify(result));
    return result.eventId;
  });
};

const keyed = (count: number, timestamp = new Date().toISOString()) =>
  Array.from({ length: count }, () => ({
    eventType: 'VEHICLE_DETECTION',
    timestamp,
    idempotencyKey: randomUUID(),
  }));

/** Sends an event repeatedly, as a device does, until it is stored. @returns its id */
const insist = async (event: object, onRefusal = () => {}): Promise<{ id: string }> => {
  for (;;) {
    const answer = await gantry.call('events.ingest', { apiKey: sensor.apiKey, ...event });
    if (answer.status === 200) return { id: answer.body.result.data.json.eventId };
    if (answer.status !== 503) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
    onRefusal();
    await sleep(100);
  }
};

const createSensor = async (name: string) =>
  gantry.ok('sensors.create', { name, deviceId: randomUUID(), type: 'CAMERA', locationId }, { token });

/** The parts of the schema that describe sensors, locations and the history of their status. */
const tablesOfSensors = async (): Promise<string[]> => {
  const pool = new pg.Pool({ connectionString: cluster.url, max: 1 });
  const schema = await describeSchema(pool);
  await pool.end();
  return schema
    .split(/\n(?=\S)/)
    .filter((part) => /\b(sensors|locations|sensor_status_history)\b/.test(part));
};

const TIMINGS = { sweepSensorsMs: 200, writeContactsMs: 200, sweepFollowUpsMs: 500 };

describe.skipIf(!HAS_CLUSTER)('on a cluster', () => {
  beforeAll(async () => {
    cluster = await startTestCluster();
  });
  afterAll(async () => {
    await gantry?.stop();
    await cluster?.[Symbol.asyncDispose]();
  });

  describe('distributing', () => {
    it('refuses a database without a schema, and a node that does not answer', async () => {
      await expect(runDistribution()).rejects.toThrow(/start the service on it once/);
      gantry = await startGantryOn(cluster.url);
      await expect(runDistribution()).rejects.toThrow(/A service is running on this database/);
      await gantry.stop();
      await cluster.kill(2);
      await expect(runDistribution()).rejects.toThrow(/does not answer the coordinator/);
      await cluster.start(2);
    });

    it('turns the reference tables of an earlier version back into ordinary tables, with their rows', async () => {
      gantry = await startGantryOn(cluster.url);
      token = await gantry.tokenFor('ADMIN');
      locationId = (await gantry.ok('locations.create', { name: 'Main Street' }, { token })).id;
      sensor = await createSensor('Mast 7');
      await report(keyed(50));
      await gantry.stop();
      const before = await tablesOfSensors();
      const owner = new pg.Client({ connectionString: cluster.url });
      await owner.connect();
      await owner.query(`SELECT create_reference_table('locations')`);
      await owner.query(`SELECT create_reference_table('sensors')`);
      await owner.end();

      const output = await runDistribution();
      expect(output).toContain('50 events will be moved, into 2 shards on 2 nodes.');
      expect(await runDistribution()).toContain('Nothing to do.');
      const distributed = await cluster.ask<{ name: string }>(
        0,
        `SELECT logicalrelid::text AS name FROM pg_dist_partition
        WHERE logicalrelid::text NOT LIKE 'events\\_2%' ORDER BY 1`,
      );
      expect(distributed).toEqual([{ name: 'events' }]);
      const keys = await cluster.ask(
        0,
        `SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid IN ('sensors'::regclass, 'locations'::regclass)`,
      );
      expect(keys).toHaveLength(1);
      expect(await tablesOfSensors()).toEqual(before);
      gantry = await startGantryOn(cluster.url, TIMINGS);
      token = await gantry.tokenFor('ADMIN');
      expect(await gantry.count('events')).toBe(50);
      expect(await differences()).toEqual([]);
    });
  });

  describe('a sensor', () => {
    it('is brought online by a heartbeat, taken offline by silence, and its time last seen is kept', async () => {
      const { apiKey, id } = await createSensor('Mast 8');
      const look = () => gantry.ok('sensors.getById', { id }, { token });
      await gantry.ok('sensors.heartbeat', { apiKey });
      expect(await look()).toMatchObject({ status: 'ONLINE', lastHeartbeat: expect.any(String) });
      await eventually(look, ({ status }) => status === 'OFFLINE');
      const before = (await look()).lastCommunication;
      await gantry.ok('events.ingest', { apiKey, eventType: 'VEHICLE_DETECTION' });
      await eventually(look, ({ lastCommunication }) => lastCommunication > before);
      await eventually(look, ({ status }) => status === 'ONLINE');
      await gantry.ok('sensors.update', { id, name: 'Mast 9', status: 'MAINTENANCE' }, { token });
      expect(await look()).toMatchObject({ name: 'Mast 9', status: 'MAINTENANCE' });
      await gantry.ok('sensors.delete', { id }, { token });
      expect(
        await gantry.count(`sensor_status_history WHERE sensor_id = '${id}' AND reason = 'deleted'`),
      ).toBe(1);
    });
  });

  describe('ingestion', () => {
    it('stores events of months without a partition, alone and in batches', async () => {
      const other = await createSensor('Gate 1');
      for (const month of MONTHS) {
        const events = Array.from({ length: 120 }, (_, n) => ({
          eventType: KINDS[n % KINDS.length] ?? 'INCIDENT',
          timestamp: `${month}-${String((n % 27) + 1).padStart(2, '0')}T${String(n % 24).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}:30.000Z`,
          vehicleType: VEHICLES[n % VEHICLES.length] ?? null,
          licensePlateNumber: n % 5 === 0 ? `B${n}AA` : n % 7 === 0 ? `C${n}ZZ` : null,
        }));
        for (const from of [sensor, other]) {
          const ids = await report(events, from);
          reported.push(...events.map((event, n) => ({ ...event, id: ids[n] ?? '', sensorId: from.id })));
        }
      }
      expect(await gantry.count('events')).toBeGreaterThan(700);
    });

    it('answers a repeated event as documented, and does not disturb others', async () => {
      const [first] = keyed(1);
      const stored = await insist({ ...first });
      const others: number[] = [];
      let isOver = false;
      const other = (async () => {
        while (!isOver)
          others.push(
            (await gantry.call('events.ingest', { apiKey: sensor.apiKey, eventType: 'VEHICLE_DETECTION' }))
              .status,
          );
      })();
      for (let n = 0; n < 30; n++) expect((await insist({ ...first })).id).toBe(stored.id);
      const { results } = await gantry.ok('events.ingestBatch', {
        apiKey: sensor.apiKey,
        events: [first, ...keyed(20), first],
      });
      expect(results.filter(({ duplicate }: { duplicate: boolean }) => duplicate)).toHaveLength(2);
      const conflict = await gantry.call('events.ingest', {
        apiKey: sensor.apiKey,
        ...first,
        description: 'Something else',
      });
      expect(conflict.status).toBe(409);
      isOver = true;
      await other;
      expect(new Set(others)).toEqual(new Set([200]));
    });

    it('refuses only the invalid event', async () => {
      await cluster.ask(0, `ALTER TABLE events ADD CONSTRAINT no_poison CHECK (vehicle_type <> 'POISON')`);
      const { results } = await gantry.ok('events.ingestBatch', {
        apiKey: sensor.apiKey,
        events: [...keyed(5), { eventType: 'VEHICLE_DETECTION', vehicleType: 'POISON' }, ...keyed(5)],
      });
      expect(results.map((result: object) => 'error' in result)).toEqual([
        ...Array(5).fill(false),
        true,
        ...Array(5).fill(false),
      ]);
      await cluster.ask(0, 'ALTER TABLE events DROP CONSTRAINT no_poison');
    });

    it('opens incidents, which people work on', async () => {
      const id = (await report([{ eventType: 'INCIDENT', description: 'Stopped vehicle' }]))[0] ?? '';
      const { incidents } = await gantry.ok(
        'incidents.getAll',
        { sensorId: sensor.id, status: 'OPEN' },
        { token },
      );
      const opened = await gantry.ok('incidents.getById', { id: incidents[0].id }, { token });
      expect(opened.events.map((event: { id: string }) => event.id)).toContain(id);
      await gantry.ok('incidents.acknowledge', { id: opened.id }, { token });
      await gantry.ok('events.markAsProcessed', { id }, { token });
      await gantry.ok('events.markAsArchived', { id }, { token });
    });
  });

  describe('lists', () => {
    const filters: readonly [string, object, (event: Reported) => boolean][] = [
      ['all', {}, () => true],
      ['a type', { eventType: 'SPEED_DETECTION' }, ({ eventType }) => eventType === 'SPEED_DETECTION'],
      ['a vehicle type', { vehicleType: 'truck' }, ({ vehicleType }) => vehicleType === 'TRUCK'],
      [
        'a type and a vehicle type',
        { eventType: 'INCIDENT', vehicleType: 'CAR' },
        ({ eventType, vehicleType }) => eventType === 'INCIDENT' && vehicleType === 'CAR',
      ],
      ['a plate', { licensePlateNumber: 'b5aa' }, (event) => event.licensePlateNumber === 'B5AA'],
      ['plates', { licensePlateNumber: 'B*' }, (event) => event.licensePlateNumber?.startsWith('B') ?? false],
      [
        'the end of plates',
        { licensePlateNumber: '*zz' },
        (event) => event.licensePlateNumber?.endsWith('ZZ') ?? false,
      ],
      ['a place', { locationName: 'main street' }, () => true],
      ['not processed', { processed: false, archived: false }, () => true],
    ];
    const sorts = ['timestamp', 'createdAt', 'eventType', 'severity'] as const;
    const orders = ['asc', 'desc'] as const;

    it.each(filters)(
      'are complete and in order in every sort order, by %s',
      async (_name, filter, matches) => {
        const range = { startDate: '2026-08-01T00:00:00Z', endDate: '2026-10-31T23:59:59Z' };
        const wanted = reported.filter(matches).map(({ id }) => id);
        for (const sortBy of sorts)
          for (const sortOrder of orders) {
            const seen: { id: string }[] = [];
            for (let skip = 0; ; skip += 90) {
              const page = await gantry.ok(
                'events.getAll',
                { ...filter, ...range, sortBy, sortOrder, skip, take: 90 },
                { token },
              );
              expect({ sortBy, sortOrder, total: page.total }).toEqual({
                sortBy,
                sortOrder,
                total: wanted.length,
              });
              seen.push(...page.events);
              if (page.events.length === 0) break;
            }
            expect(seen.map(({ id }) => id).sort()).toEqual([...wanted].sort());
            if (sortBy === 'timestamp') {
              const ids = seen.map(({ id }) => id);
              expect(ids).toEqual([...ids].sort((a, b) => (sortOrder === 'asc' ? 1 : -1) * (a < b ? -1 : 1)));
            }
            if (sortBy === 'createdAt' || sortBy === 'eventType') {
              const keys = seen.map((event) => String((event as Record<string, unknown>)[sortBy]));
              expect(keys).toEqual(
                [...keys].sort((a, b) => (sortOrder === 'asc' ? 1 : -1) * (a < b ? -1 : a > b ? 1 : 0)),
              );
            }
          }
      },
    );

    it('and figures agree with a recount', async () => {
      const { total } = await gantry.ok('events.getStats', {}, { token });
      expect(total).toBe(await gantry.count('events'));
      expect(await differences()).toEqual([]);
    });
  });

  describe('streams', () => {
    it('lose nothing', async () => {
      const stream = await openStream(gantry.url, 'events.onIngested', { token });
      await untilBegun(stream);
      const ids: string[] = [];
      const send = async () => {
        for (let n = 0; n < 60; n++) ids.push((await insist({ eventType: 'VEHICLE_DETECTION' })).id);
      };
      await Promise.all(Array.from({ length: 12 }, send));
      const received = () => stream.messages.flatMap(({ data }) => (data.event ? [data.event.id] : []));
      await eventually(
        async () => received().length,
        (count) => count >= ids.length,
      ).catch(() => undefined);
      stream.close();
      expect(received().sort()).toEqual(ids.sort());
    });
  });

  describe('retention', () => {
    it('removes a whole month and parts of another, and the counts follow', async () => {
      const days = Math.ceil((Date.now() - Date.parse('2026-09-15T00:00:00Z')) / 86_400_000);
      await gantry.ok('storage.setRetention', { events: { default: days } }, { token });
      const { id } = await gantry.ok('storage.runRetention', undefined, { token });
      const { runs } = await eventually(
        () => gantry.ok('storage.getRetentionRuns', {}, { token }),
        ({ runs: all }) => all.find((run: { id: string }) => run.id === id)?.status !== 'RUNNING',
      );
      expect(runs[0]).toMatchObject({ status: 'COMPLETED' });
      expect(await gantry.count(`events WHERE event_time(id) < '2026-09-01'`)).toBe(0);
      expect(await differences()).toEqual([]);
      await gantry.ok('storage.setRetention', { events: { default: null } }, { token });
    });
  });

  describe('the storage figures', () => {
    it('count every node', async () => {
      const sizes = await Promise.all(
        [0, 1, 2].map((server) =>
          cluster.ask<{ bytes: string }>(server, 'SELECT pg_database_size(current_database()) AS bytes'),
        ),
      );
      const all = sizes.reduce((sum, [row]) => sum + Number(row?.bytes), 0);
      const { databaseBytes } = await gantry.ok('storage.getStats', undefined, { token });
      expect(databaseBytes / all).toBeGreaterThan(0.9);
      expect(databaseBytes / all).toBeLessThan(1.1);
    });
  });

  describe('a worker that is killed under load', () => {
    it('is reported, nothing is lost, and streams resume where they were', async () => {
      const stream = await openStream(gantry.url, 'events.onIngested', { token });
      await untilBegun(stream);
      const before = await gantry.count('events');
      const ids: string[] = [];
      let refused = 0;
      let isOver = false;
      const send = async () => {
        while (!isOver) {
          const [event] = keyed(1);
          const stored = await insist({ ...event }, () => refused++);
          ids.push(stored.id);
        }
      };
      const sending = Array.from({ length: 8 }, send);
      await eventually(
        async () => ids.length,
        (count) => count > 100,
      );
      await cluster.kill(1);
      const ready = await eventually(
        () => gantry.fetch('/ready'),
        ({ status }) => status === 503,
      );
      expect(ready.body).toMatchObject({
        status: 'unavailable',
        reason: expect.stringContaining('do not answer'),
      });
      expect(await gantry.ok('system.health')).toMatchObject({ status: 'unhealthy' });
      await eventually(
        async () => refused,
        (count) => count > 10,
      );
      await cluster.start(1);
      await eventually(
        () => gantry.fetch('/ready'),
        ({ status }) => status === 200,
      );
      const count = ids.length;
      await eventually(
        async () => ids.length,
        (now) => now > count + 100,
      );
      isOver = true;
      await Promise.all(sending);
      // Citus finishes interrupted commits within a minute. Only then do their events become visible.
      const received = () => stream.messages.flatMap(({ data }) => (data.event ? [data.event.id] : []));
      await eventually(
        async () => received().length,
        (now) => now >= ids.length,
        90_000,
      ).catch(() => undefined);
      stream.close();
      expect(received().sort()).toEqual(ids.sort());
      expect((await gantry.count('events')) - before).toBe(ids.length);
      expect(await differences()).toEqual([]);
    }, 300_000);
  });

  describe('another node', () => {
    it('takes over shards under load, and nothing is lost', async () => {
      const before = await gantry.count('events');
      const ids: string[] = [];
      let isOver = false;
      const send = async () => {
        while (!isOver) ids.push((await insist({ ...keyed(1)[0] })).id);
      };
      const sending = Array.from({ length: 4 }, send);
      await cluster.rebalance();
      const placed = await cluster.ask<{ nodes: string }>(
        0,
        `SELECT count(DISTINCT groupid) AS nodes FROM pg_dist_placement
        JOIN pg_dist_shard USING (shardid) WHERE logicalrelid = 'events'::regclass`,
      );
      isOver = true;
      await Promise.all(sending);
      expect(Number(placed[0]?.nodes)).toBe(Math.max(3, CITUS_SERVERS.length - 1));
      expect((await gantry.count('events')) - before).toBe(ids.length);
      expect(await differences()).toEqual([]);
    }, 300_000);
  });
});
