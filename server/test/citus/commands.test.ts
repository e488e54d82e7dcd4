import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runChecks } from '../../src/operations/consistency/checks.ts';
import { readConfig } from '../../src/platform/config.ts';
import { distribute } from '../../src/platform/database/distribute/distribute.ts';
import { createTestDatabase, eventually, type Gantry } from '../harness.ts';
import { runGantry } from '../processes/gantry-command.ts';
import { CITUS_SERVERS, startTestCluster, type TestCluster } from './cluster.ts';
import { startGantryOn } from './gantry-on-cluster.ts';

// A database that was in use before it was distributed, and the commands of an administrator on it.

const PARAMETERS = `SELECT relname FROM pg_class WHERE relname LIKE 'events%' AND reloptions::text LIKE '%autovacuum%'`;
const SUMS = 'SELECT count(*)::int AS n, sum(hashtext(id::text)::bigint) AS sum FROM events';
const TIMINGS = { upkeepMs: 100 };

let cluster: TestCluster;
let gantry: Gantry;
let token: string;
let apiKey: string;
let folder: string;

const rowsOf = async (url: string, statement: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
};

const run = (...args: string[]) => runOn(cluster.url, join(folder, 'data'), ...args);
const runOn = (DATABASE_URL: string, DATA_DIR: string, ...args: string[]) =>
  runGantry(folder, { DATABASE_URL, DATA_DIR, ALLOW_UNSAFE_DATABASE: 'true' }, args);

const distributeAt = (connectionString: string) =>
  distribute({ connectionString, shards: null, isDryRun: false, say: () => undefined });

const differencesIn = async (connectionString: string) => {
  const { FEATURES } = readConfig({});
  const options = { connectionString, features: FEATURES, limit: 5, onResult: () => undefined };
  const results = await runChecks(options);
  return results.flatMap(({ name, differences }) =>
    differences.map((difference) => ({ name, ...difference })),
  );
};

const ingest = async (timestamp: string, count: number): Promise<void> => {
  const event = { eventType: 'VEHICLE_DETECTION', timestamp, vehicleSpeed: 50 };
  const { results } = await gantry.ok('events.ingestBatch', { apiKey, events: Array(count).fill(event) });
  expect(results.filter((result: object) => 'error' in result)).toEqual([]);
};

/** Stores events continuously while `work` runs. @returns its result, and how many events were stored by then */
const underLoad = async <Result>(work: () => Promise<Result>): Promise<[Result, number]> => {
  let isOver = false;
  let stored = 0;
  const send = async () => {
    while (!isOver) {
      const events = Array(5).fill({ eventType: 'VEHICLE_DETECTION', vehicleSpeed: 70 });
      const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
      stored += results.filter((result: object) => 'eventId' in result).length;
    }
  };
  const sending = Promise.all([send(), send(), send()]);
  try {
    return [await work(), stored];
  } finally {
    isOver = true;
    await sending;
  }
};

describe.skipIf(CITUS_SERVERS.length < 3)('a database that was distributed while in use', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-citus-'));
    cluster = await startTestCluster();
    gantry = await startGantryOn(cluster.url, TIMINGS);
    apiKey = await gantry.registerSensor();
    for (const month of ['2026-08', '2026-10']) {
      await ingest(`${month}-05T10:00:00Z`, 1_000);
      await ingest(`${month}-05T10:30:00Z`, 1_000);
    }
  });
  afterAll(async () => {
    await gantry?.stop();
    await cluster?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('is returned to autovacuum, and skipped by the upkeep of the service', async () => {
    const maintained = `SELECT relname FROM pg_stat_user_tables WHERE relname LIKE 'events\\_2%' AND last_analyze IS NOT NULL`;
    await eventually(
      () => cluster.ask(0, maintained),
      (tables) => tables.length >= 2,
    );
    expect((await cluster.ask(0, PARAMETERS)).length).toBeGreaterThanOrEqual(2);
    await gantry.stop();

    await distributeAt(cluster.url);
    for (const server of [0, 1, 2]) expect(await cluster.ask(server, PARAMETERS)).toEqual([]);
    const [{ count }] = await rowsOf(cluster.url, 'SELECT count(*)::int FROM events');
    expect(count).toBe(4_000);
    gantry = await startGantryOn(cluster.url, TIMINGS);
    token = await gantry.tokenFor('ADMIN');
    expect(await differencesIn(cluster.url)).toEqual([]);
  });

  it('lists pages deep in an hour with many events', async () => {
    for (const sortBy of ['timestamp', 'createdAt'])
      for (const sortOrder of ['asc', 'desc'])
        for (const skip of [1_100, 1_990, 2_600]) {
          const key = sortBy === 'timestamp' ? '' : `created_at ${sortOrder},`;
          const wanted = await rowsOf(
            cluster.url,
            `SELECT id FROM events ORDER BY ${key} id ${sortOrder} LIMIT 50 OFFSET ${skip}`,
          );
          const page = await gantry.ok('events.getAll', { sortBy, sortOrder, skip, take: 50 }, { token });
          expect(page.events.map(({ id }: { id: string }) => ({ id }))).toEqual(wanted);
        }
  });

  it('is checked while events are stored', async () => {
    const [found, stored] = await underLoad(async () => {
      const all: unknown[] = [];
      for (let n = 0; n < 5; n++) all.push(...(await differencesIn(cluster.url)));
      return all;
    });
    expect(found).toEqual([]);
    expect(stored).toBeGreaterThan(0);
  });

  it('is rebuilt while events are stored', async () => {
    const [totals] = await underLoad(async () => {
      await cluster.ask(
        0,
        'UPDATE event_totals_folded SET n = n + 7 WHERE ctid IN (SELECT ctid FROM event_totals_folded LIMIT 1)',
      );
      const checked = await run('db', 'check');
      expect(checked).toMatchObject({ code: 1, out: expect.stringContaining('gantry db rebuild totals') });
      return run('db', 'rebuild', 'totals');
    });
    expect(totals).toMatchObject({ code: 0, out: expect.stringContaining('rebuilt totals: ') });
    expect(await run('db', 'check')).toMatchObject({ code: 0 });
  });

  describe('a backup', () => {
    it.each([false, true])(
      'has the events of all nodes as of one moment, with another node: %s',
      async (isMore) => {
        if (isMore) await cluster.rebalance();
        const before = await gantry.count('events');
        const [{ code, out }, stored] = await underLoad(() =>
          run('backup', join(folder, 'backups'), '--json'),
        );
        expect(code).toBe(0);
        const made = JSON.parse(out);
        expect(made.events).toBeGreaterThanOrEqual(before);
        expect(stored).toBeGreaterThan(0);

        const plain = await createTestDatabase('template1');
        const restored = await runOn(plain.url, join(folder, 'plain'), 'restore', made.path, '--json');
        expect(restored).toMatchObject({ code: 0 });
        expect(JSON.parse(restored.out).events).toBe(made.events);
        expect(await differencesIn(plain.url)).toEqual([]);
        await plain.drop();
      },
    );

    it('is restored on another cluster, and distributed there', async () => {
      const { out } = await run('backup', join(folder, 'backups'), '--json');
      const { path } = JSON.parse(out);
      await using other = await startTestCluster();
      expect(await runOn(other.url, join(folder, 'other'), 'restore', path)).toMatchObject({ code: 0 });
      await distributeAt(other.url);
      expect(await rowsOf(other.url, SUMS)).toEqual(await rowsOf(cluster.url, SUMS));
      expect(await differencesIn(other.url)).toEqual([]);
    });

    it('is not restored into a distributed database, nor is another database moved there', async () => {
      await gantry.stop();
      const result = await run('restore', join(folder, 'backups'));
      expect(result).toMatchObject({
        code: 1,
        err: expect.stringContaining('run gantry db distribute on it'),
      });
      expect(result.err.trim().split('\n')).toHaveLength(1);
      gantry = await startGantryOn(cluster.url, TIMINGS);
      token = await gantry.tokenFor('ADMIN');
    });

    it('is refused while a node is away', async () => {
      const listBackups = async () =>
        (await readdir(join(folder, 'backups'))).filter((name) => !name.startsWith('claim-'));
      const names = await listBackups();
      await cluster.kill(2);
      const { code, err } = await run('backup', join(folder, 'backups'));
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('does not answer') });
      expect(await listBackups()).toEqual(names);
      const checked = await run('doctor', '--json');
      await cluster.start(2);
      expect(checked).toMatchObject({ code: 1, out: expect.stringContaining('databaseNodesAway') });
      await eventually(
        () => gantry.fetch('/ready'),
        ({ status }) => status === 200,
      );
    });
  });

  it('is moved by a backup, as move-to advises', async () => {
    const { code, err } = await run('move-to', 'postgres://nobody@127.0.0.1:1/gantry');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('use gantry backup and gantry restore'),
    });
  });

  it('is exported', async () => {
    const file = join(folder, 'events.jsonl');
    expect(await run('events', 'export', file)).toMatchObject({ code: 0 });
    const times = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).timestamp);
    expect(times).toHaveLength(await gantry.count('events'));
    expect(times).toEqual([...times].sort());
  });

  it('is checked', async () => {
    const { out, err } = await run('doctor', '--json');
    expect(err).toBe('');
    const { findings } = JSON.parse(out);
    expect(findings.map(({ code }: { code: string }) => code)).toContain('schemaFine');
  });

  it('still has no parameters of the upkeep anywhere', async () => {
    await ingest('2026-07-05T10:00:00Z', 500);
    for (const server of [0, 1, 2]) expect(await cluster.ask(server, PARAMETERS)).toEqual([]);
  });
});
