import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.ts';
import { ADMIN, createTestDatabase, eventually } from '../harness.ts';
import { runMixedLoad } from '../mixed-load.ts';
import { lengthOf } from '../test-length.ts';
import { type ServiceProcess, spawnWithTimings, untilItServes } from './service-process.ts';

// Four services in processes of their own, on one database.

const PROCESSES = 4;
const LOAD_SECONDS = lengthOf({ gate: 1.5, full: 30 });

const scratch = mkdtempSync(join(tmpdir(), 'gantry-many-'));
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let services: ServiceProcess[] = [];
let a: ServiceProcess;
let b: ServiceProcess;
let token = '';

beforeAll(async () => {
  database = await createTestDatabase('template0');
  pool = createPool(database.url, 4, () => undefined);
  const settings = {
    DATABASE_URL: database.url,
    DATA_DIR: join(scratch, 'data'),
    HEARTBEAT_TIMEOUT_SECONDS: '3',
  };
  // Caches are refreshed only by what one process announces to the others.
  const timings = { refreshCachesMs: 3_600_000, sweepSensorsMs: 200, writeContactsMs: 200 };
  const started = Array.from({ length: PROCESSES }, () => spawnWithTimings(scratch, settings, timings));
  services = await Promise.all(started.map(untilItServes));
  [a, b] = services as [ServiceProcess, ServiceProcess];
  token = await a.tokenFor('ADMIN');
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await pool.end();
  await database.drop();
  await rm(scratch, { recursive: true, force: true });
});

const registerSensor = async (name = 'Mast 7'): Promise<{ id: string; apiKey: string }> =>
  a.ok('sensors.create', { name, deviceId: randomUUID(), type: 'RADAR' }, { token });

const selectAll = async <Row extends pg.QueryResultRow>(
  statement: string,
  values: unknown[] = [],
): Promise<Row[]> => (await pool.query<Row>(statement, values)).rows;
const selectOne = async <Row extends pg.QueryResultRow>(
  statement: string,
  values: unknown[] = [],
): Promise<Row> => {
  const rows = await selectAll<Row>(statement, values);
  expect(rows).toHaveLength(1);
  return rows[0] as Row;
};

/** PostgreSQL's own count of deadlocks, which it publishes about a second after they happened. */
const countDeadlocks = async (): Promise<number> => {
  await sleep(1_500);
  const { deadlocks } = await selectOne<{ deadlocks: number }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return deadlocks;
};

describe('four processes that start at once on an empty database', () => {
  it('create one administrator together, which one of them reports', async () => {
    const { count } = await selectOne<{ count: number }>('SELECT count(*) FROM users');
    expect(count).toBe(1);
    const tellers = services.filter(({ output }) => output().includes('"administrator":"created"'));
    expect(tellers).toHaveLength(1);
  });

  it('accept the tokens of one another, until one of them logs the user out', async () => {
    const other = await b.login(ADMIN.email, ADMIN.password);
    for (const service of services) await service.ok('auth.me', undefined, { token: other });
    await a.ok('auth.logout', undefined, { token: other });
    const { status } = await b.call('auth.me', undefined, { token: other });
    expect(status).toBe(401);
  });
});

// The totals compared with the stored events, by all keys of the totals.
const DIFFERENCES = `
  WITH counted AS (
    SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''),
      coalesce(severity, 0), processed, archived, count(*)::numeric AS n
    FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
  ), kept AS (
    SELECT hour, event_type, violation_type, vehicle_type, severity, processed, archived, sum(n) AS n
    FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
  )
  (TABLE counted EXCEPT TABLE kept) UNION ALL (TABLE kept EXCEPT TABLE counted)`;

const ARRIVALS = `
  SELECT (SELECT count(*) FROM events)::int AS events, (SELECT sum(n) FROM event_arrivals)::int AS arrivals`;

describe('four processes that ingest and change events at once', () => {
  it('agree exactly with a recount, and never cause a deadlock', async () => {
    const sensors = await Promise.all(['North', 'South', 'East'].map(registerSensor));
    const apiKeys = sensors.map(({ apiKey }) => apiKey);
    const done = await runMixedLoad({
      services,
      apiKeys,
      token,
      clients: 16,
      seconds: LOAD_SECONDS,
      atLeast: 201,
    });
    expect(done.faults).toEqual([]);
    expect(done.stored.size).toBeGreaterThan(200);

    const rows = await selectAll<{ id: string; processed: boolean; archived: boolean }>(
      'SELECT id, processed, archived FROM events',
    );
    const expected = [...done.stored]
      .filter((id) => !done.deleted.has(id))
      .map((id) => ({ id, processed: done.processed.has(id), archived: done.archived.has(id) }));
    expect(new Set(rows.map((row) => JSON.stringify(row)))).toEqual(
      new Set(expected.map((row) => JSON.stringify(row))),
    );
    expect(rows).toHaveLength(expected.length);

    expect(await selectAll(DIFFERENCES)).toEqual([]);
    expect(await selectOne(ARRIVALS)).toEqual({ events: rows.length, arrivals: rows.length });
    for (const service of services) {
      expect(await service.ok('events.getStats', {}, { token })).toMatchObject({
        total: rows.length,
        processed: rows.filter(({ processed }) => processed).length,
        archived: rows.filter(({ archived }) => archived).length,
      });
    }
    expect(await countDeadlocks()).toBe(0);
  });

  it('store an event once that is sent to all of them at the same time', async () => {
    const { apiKey } = await registerSensor();
    for (let n = 0; n < 30; n++) {
      const event = {
        eventType: 'INCIDENT',
        timestamp: new Date().toISOString(),
        idempotencyKey: randomUUID(),
      };
      const answers = await Promise.all(
        services.map((service) => service.ok('events.ingestBatch', { apiKey, events: [event] })),
      );
      const results = answers.map((answer) => answer.results[0]);
      expect(new Set(results.map(({ eventId }) => eventId)).size).toBe(1);
      expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    }
    expect(await selectAll(DIFFERENCES)).toEqual([]);
  });

  it('create the partition of a new month once, however many need it at the same time', async () => {
    const { apiKey } = await registerSensor();
    const partitions = `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`;
    const before = new Set((await selectAll<{ name: string }>(partitions)).map(({ name }) => name));
    const now = new Date();
    const months = [23, 22, 21, 20, 19, 18].map((ago) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 7),
    );
    await Promise.all(
      months.flatMap((month) =>
        services.map((service) =>
          service.ok('events.ingest', { apiKey, eventType: 'INCIDENT', timestamp: `${month}-15T12:00:00Z` }),
        ),
      ),
    );
    const after = (await selectAll<{ name: string }>(partitions)).map(({ name }) => name);
    expect(after.filter((name) => !before.has(name)).sort()).toEqual(
      months.map((month) => `events_${month.replace('-', '_')}`),
    );
  });
});

describe('a change through one process', () => {
  const others = () => services.slice(1);
  const soon = <Answer>(
    ask: (service: ServiceProcess) => Promise<Answer>,
    satisfies: (answer: Answer) => boolean,
  ) => Promise.all(others().map((service) => eventually(() => ask(service), satisfies)));
  const report = async (service: ServiceProcess, apiKey: string, timestamp?: string) => {
    const { eventId } = await service.ok('events.ingest', { apiKey, eventType: 'INCIDENT', timestamp });
    return a.ok('events.getById', { id: eventId }, { token });
  };
  const refusal = (service: ServiceProcess, apiKey: string) =>
    service.call('events.ingest', { apiKey, eventType: 'INCIDENT' }).then(({ status }) => status);

  it('of the name of a sensor applies to ingestion in the others without a refresh of their caches', async () => {
    const { id, apiKey } = await registerSensor('Old name');
    for (const service of others()) expect((await report(service, apiKey)).sensorName).toBe('Old name');
    await a.ok('sensors.update', { id, name: 'New name' }, { token });
    await soon(
      (service) => report(service, apiKey),
      ({ sensorName }) => sensorName === 'New name',
    );
  });

  it('of a location applies to ingestion in the others without a refresh of their caches', async () => {
    const location = await a.ok('locations.create', { name: 'Old place' }, { token });
    const sensor = { name: 'Mast 8', deviceId: randomUUID(), type: 'CAMERA', locationId: location.id };
    const { apiKey } = await a.ok('sensors.create', sensor, { token });
    for (const service of others()) expect((await report(service, apiKey)).locationName).toBe('Old place');
    await a.ok('locations.update', { id: location.id, name: 'New place' }, { token });
    await soon(
      (service) => report(service, apiKey),
      ({ locationName }) => locationName === 'New place',
    );
  });

  it('of the key of a sensor applies in the others without a refresh of their caches: the old one is invalid, the new one works', async () => {
    const { id, apiKey } = await registerSensor();
    for (const service of others()) await report(service, apiKey);
    const rotated = await a.ok('sensors.rotateKey', { id }, { token });
    await soon(
      (service) => refusal(service, apiKey),
      (status) => status === 401,
    );
    for (const service of others()) await report(service, rotated.apiKey);
  });

  it('that deletes a sensor makes the others refuse its key without a refresh of their caches', async () => {
    const { id, apiKey } = await registerSensor();
    for (const service of others()) await report(service, apiKey);
    await a.ok('sensors.delete', { id }, { token });
    await soon(
      (service) => refusal(service, apiKey),
      (status) => status === 401,
    );
  });

  it('of the time zone applies in the others without a refresh of their caches', async () => {
    const { apiKey } = await registerSensor();
    const noon = '2026-01-31T12:00:00';
    await a.ok('system.timezone.updateTimezoneSettings', { timezone: 'Asia/Tokyo' }, { token });
    await soon(
      (service) => report(service, apiKey, noon),
      ({ timestamp }) => timestamp === '2026-01-31T03:00:00.000Z',
    );
  });
});

describe('four processes on one database', () => {
  it('record one change when a sensor becomes silent', async () => {
    const sensors = await Promise.all(Array.from({ length: 20 }, () => registerSensor()));
    await Promise.all(
      sensors.map(({ apiKey }, n) => services[n % PROCESSES]?.ok('sensors.heartbeat', { apiKey })),
    );
    const statuses = async () => {
      const ids = sensors.map(({ id }) => id);
      return selectAll<{ status: string }>('SELECT status FROM sensors WHERE id = ANY($1::uuid[])', [ids]);
    };
    await eventually(statuses, (rows) => rows.every(({ status }) => status === 'OFFLINE'));
    // More rounds than there are processes.
    const rounds = new Set<number>();
    const lookedAt = 'SELECT extract(epoch FROM looked_at)::float8 AS at FROM sensor_watch';
    await eventually(
      async () => rounds.add((await selectOne<{ at: number }>(lookedAt)).at).size,
      (size) => size > 2 * PROCESSES,
    );
    for (const { id } of sensors) {
      const { history } = await b.ok('sensors.getStatusHistory', { id }, { token });
      expect(history.map(({ to }: { to: string }) => to)).toEqual(['OFFLINE', 'ONLINE', 'OFFLINE']);
    }
  });

  it('count failed logins together', async () => {
    const guess = (service: ServiceProcess) =>
      service.call('auth.login', { email: 'somebody@gantry.local', password: 'a guess' });
    for (let n = 0; n < 20; n++) {
      const { status } = await guess(services[n % PROCESSES] ?? a);
      expect(status).toBe(401);
    }
    for (const service of services) expect((await guess(service)).status).toBe(429);
    await b.login(ADMIN.email, ADMIN.password);
  });
});
