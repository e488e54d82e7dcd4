import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { TIMINGS } from '../src/platform/timings.ts';
import {
  createTestDatabase,
  eventually,
  type Gantry,
  type HttpAnswer,
  sharedGantry,
  startGantry,
} from './harness.ts';

// The program of the thread that writes reports is built before all tests (database-server.ts).

// Whatever is queried, and however often, devices are served and health checks succeed.

const POOL_SIZE = 6;
/** How long an expensive query may wait for a connection in this test, and how long each of its statements may take. */
const QUESTION_MS = 2_000;
/** The figures of docs/reference.md and docs/configuration.md for one process. */
const FURTHER_CONNECTIONS = 20;
/** The connection for the upkeep of partitions, which is open only while there is work. */
const UPKEEP_CONNECTIONS = 1;
/** Those for making seals, which are open only while seals are made. */
const SEAL_CONNECTIONS = 2;

const gantry = await sharedGantry({
  config: { DATABASE_POOL_SIZE: String(POOL_SIZE) },
  overrides: { timings: { questionMs: QUESTION_MS } },
});
const known = await gantry.registerSensor();
const fresh = await gantry.registerSensor();
const viewer = await gantry.tokenFor('VIEWER');
beforeAll(async () => {
  await ingest(known);
});

const ingest = (apiKey: string, more: object = {}): Promise<HttpAnswer> =>
  gantry.call('events.ingest', {
    apiKey,
    eventType: 'VEHICLE_DETECTION',
    licensePlateNumber: '34 ABC 12',
    ...more,
  });
const heartbeat = (apiKey: string): Promise<HttpAnswer> => gantry.call('sensors.heartbeat', { apiKey });

/** The same query many times in one request. */
const batch = (procedure: string, input: object, token?: string, times = 50): Promise<HttpAnswer> => {
  const inputs = Object.fromEntries(Array.from({ length: times }, (_, n) => [n, { json: input }]));
  const path = Array.from({ length: times }, () => procedure).join(',');
  return gantry.fetch(`/trpc/${path}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
};

/** Runs `work` while the table is locked, so that every query that needs it hangs. */
const whileLocked = async (table: string, work: () => Promise<void>): Promise<void> => {
  const holder = new pg.Client({ connectionString: gantry.app.context.config.DATABASE_URL ?? '' });
  await holder.connect();
  try {
    await holder.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await work();
  } finally {
    await holder.end();
  }
};

const countHanging = async (): Promise<number> => {
  const { rows } = await gantry.app.context.health.$client.query(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows[0].n;
};

const statusesOf = ({ body }: HttpAnswer): number[] =>
  Object.values<HttpAnswer['body']>(body).map(({ error }) => error?.json.data.httpStatus ?? 200);

const expectDevicesServed = async (apiKey: string): Promise<void> => {
  for (let n = 0; n < 20; n++) {
    const answers = await Promise.all([ingest(known), heartbeat(apiKey), gantry.fetch('/ready')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
};

describe('while a batch of plate searches hangs', () => {
  it('devices are served, and the searches receive a clear message', async () => {
    await whileLocked('activity', async () => {
      const asked = batch('events.getAll', { licensePlateNumber: '*A*' }, viewer);
      await eventually(countHanging, (n) => n >= 4);
      // A device with an uncached key requires a query.
      await expectDevicesServed(fresh);
      const answered = await asked;
      expect(answered.status).not.toBe(200);
      expect([...new Set(statusesOf(answered))].sort()).toEqual([408, 503]);
      const messages = Object.values<HttpAnswer['body']>(answered.body).map(
        ({ error }) => error.json.message,
      );
      for (const message of messages) expect(message).toMatch(/narrow the time range|try again/);
    });
    expect(
      (await gantry.call('events.getAll', { licensePlateNumber: '*A*' }, { token: viewer })).status,
    ).toBe(200);
  });
});

describe('while batches of lists of all sensors hang', () => {
  // A batch may contain at most five of these calls.
  const batches = (count: number, token?: string) =>
    Array.from({ length: count }, () => batch('sensors.getAllSensors', {}, token, 5));

  it.each([
    ['the public one, which is loaded once for all', 1, () => undefined],
    ['those with keys, which are loaded for each', 4, () => gantry.tokenFor('ADMIN')],
  ])('devices are served: %s', async (_, hanging, tokenOf) => {
    const token = await tokenOf();
    await heartbeat(known);
    await whileLocked('locations', async () => {
      const asked = Promise.all(batches(10, token));
      await eventually(countHanging, (n) => n >= hanging);
      await expectDevicesServed(known);
      for (const status of (await asked).flatMap(statusesOf)) expect([408, 503]).toContain(status);
    });
  });
});

describe('a query that takes too long', () => {
  it('takes longer than five seconds, in an installation', () => {
    expect(TIMINGS.questionMs).toBe(5_000);
  });

  it('is answered with TIMEOUT and what to do', async () => {
    await whileLocked('activity', async () => {
      const { status, body } = await gantry.call(
        'events.getAll',
        { licensePlateNumber: '34ABC12' },
        { token: viewer },
      );
      expect(status).toBe(408);
      expect(body.error.json).toEqual({
        message: expect.stringMatching(/longer than 2 seconds: narrow the time range/),
        code: -32008,
        data: { code: 'TIMEOUT', httpStatus: 408 },
      });
    });
  });
});

describe('the connection that stores events', () => {
  const writerPid = async (): Promise<number> => {
    const { rows } = await gantry.pool.query(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gantry writer'",
    );
    expect(rows).toHaveLength(1);
    return rows[0].pid;
  };
  const keyed = () => ({ idempotencyKey: randomUUID(), timestamp: new Date().toISOString() });

  it('stays the same when devices repeat stored events', async () => {
    const first = await writerPid();
    const sent = Array.from({ length: 20 }, keyed);
    for (const more of sent) expect((await ingest(known, more)).status).toBe(200);
    for (const more of sent) expect((await ingest(known, more)).status).toBe(200);
    expect(await writerPid()).toBe(first);
  });

  it('runs one statement a group meanwhile, and the usual one once they stop', async () => {
    const sent = Array.from({ length: 10 }, keyed);
    for (const more of sent) await ingest(known, more);
    const queries = vi.spyOn(pg.Client.prototype, 'query');
    try {
      const names = () =>
        queries.mock.calls
          .map(([query]) => (query as { name?: string } | undefined)?.name)
          .filter((name) => name?.startsWith('insert-'))
          .map((name) => name?.replace('-keyed', ''));
      for (const more of sent) await ingest(known, more);
      // This statement is in use from the first event on, because the previous test repeated events too.
      expect(names()).toEqual(sent.map(() => 'insert-missing-events'));
      queries.mockClear();
      await ingest(known);
      expect(names()).toEqual(['insert-new-events']);
      for (let n = 0; n < 60; n++) await ingest(known, keyed());
      queries.mockClear();
      await ingest(known, keyed());
      expect(names()).toEqual(['insert-new-events']);
    } finally {
      queries.mockRestore();
    }
  });

  it('is replaced when it is lost', async () => {
    const first = await writerPid();
    await gantry.pool.query('SELECT pg_terminate_backend($1, 5000)', [first]);
    expect((await ingest(known)).status).toBe(200);
    expect(await writerPid()).not.toBe(first);
  });
});

describe('one process', () => {
  it('opens the documented number of connections', async () => {
    const count = async () => {
      const { rows } = await gantry.app.context.health.$client.query<{ name: string; n: number }>(
        `SELECT application_name AS name, count(*) AS n FROM pg_stat_activity
        WHERE datname = current_database() GROUP BY 1 ORDER BY 1`,
      );
      return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
    };
    const { pool, devices, gateways, questions } = gantry.app.context;
    const admin = await gantry.tokenFor('ADMIN');
    const range = { startDate: '2026-01-01', endDate: '2026-12-31' };
    const most: Record<string, number> = {};
    const sum = async () => {
      for (const [name, n] of Object.entries(await count())) most[name] = Math.max(most[name] ?? 0, n);
      return most;
    };
    const expected = {
      gantry: POOL_SIZE,
      'gantry devices': 3,
      'gantry roll-up': 2,
      'gantry gateways': 4,
      'gantry health': 1,
      'gantry listener': 1,
      'gantry questions': 4,
      'gantry reports': 1,
      'gantry writer': 1,
    };
    const isAll = (counts: Record<string, number>) =>
      Object.entries(expected).every(([name, n]) => (counts[name] ?? 0) >= n);
    // Without these locks, the report would soon be finished, and the counts would be rolled up one after the other.
    await whileLocked('events, event_totals_unfolded, traffic_unfolded', async () => {
      await gantry.ok('reports.generate', { kind: 'VIOLATIONS', format: 'CSV', ...range }, { token: admin });
      // The thread has a lower priority than the rest, so a busy machine starts it late.
      await eventually(sum, (counts) => (counts['gantry reports'] ?? 0) > 0, 60_000);
      const busy = [pool, devices.$client, gateways.$client, questions.$client].flatMap((each) =>
        Array.from({ length: 3 * POOL_SIZE }, () =>
          each.query('SELECT pg_sleep(0.3)').catch(() => undefined),
        ),
      );
      await eventually(sum, isAll, 60_000);
      await Promise.all(busy);
    });
    // The connection that holds the locks is not one of the service.
    delete most[''];
    delete most['gantry upkeep'];
    delete most['gantry seals'];
    expect(most).toEqual(expected);
    expect(Object.values(expected).reduce((a, b) => a + b)).toBe(
      POOL_SIZE + FURTHER_CONNECTIONS - UPKEEP_CONNECTIONS - SEAL_CONNECTIONS,
    );
  });
});

describe('a server that restricts connections', () => {
  const ORDINARY = 10;
  const ALLOWED = 20;
  const role = `restricted_${process.pid}`;
  const lines: string[] = [];
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let owner: pg.Client;
  let limited: Gantry;

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Client({ connectionString: database.url });
    await owner.connect();
    await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT ${ALLOWED}
      IN ROLE ${pg.escapeIdentifier(owner.user ?? '')};
      ALTER ROLE ${role} SET idle_session_timeout = '50ms'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = 'few';
    limited = await startGantry({
      config: { DATABASE_URL: url.href, DATABASE_POOL_SIZE: String(ORDINARY) },
      log: createLog('warn', { write: (line) => lines.push(line) }),
      overrides: { opensKept: true },
    });
  });
  afterAll(async () => {
    await limited?.stop();
    await owner.query(`DROP ROLE ${role}`);
    await owner.end();
    await database.drop();
  });

  it('is named in the log with both numbers, and does not end idle connections', async () => {
    await sleep(200);
    expect(lines.join('')).toMatch(
      new RegExp(`may open ${ORDINARY + FURTHER_CONNECTIONS} .* allows ${ALLOWED}, .*raise its max_conn`),
    );
    expect(lines.join('')).not.toContain('connection failed');
  });

  it('stores events while other requests find no connection', async () => {
    const apiKey = await limited.registerSensor();
    const { pool, questions } = limited.app.context;
    const busy = [pool, questions.$client].flatMap((each) =>
      Array.from({ length: ORDINARY }, () => each.query('SELECT pg_sleep(1)')),
    );
    const settled = Promise.allSettled(busy);
    await expect(Promise.all(busy)).rejects.toMatchObject({ code: '53300' });
    const event = { apiKey, eventType: 'VEHICLE_DETECTION' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => limited.call('events.ingest', event)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await settled;
  });
});
