import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dueWork } from '../src/events/upkeep.ts';
import { type MonthActivity, maintain, readMonthActivity } from '../src/events/upkeep-store.ts';
import { createPool } from '../src/platform/database/pool.ts';
import { eventually, type Gantry, startGantry } from './harness.ts';

const JUNE = { from: Date.UTC(2026, 5), until: Date.UTC(2026, 6) };
const IN_JUNE = Date.UTC(2026, 5, 20);
const IN_JULY = Date.UTC(2026, 6, 20);

const month = (activity: Partial<MonthActivity>): MonthActivity => ({
  table: 'june',
  ...JUNE,
  inserted: 0,
  rows: 1_000_000,
  sinceVacuum: 0,
  pages: 100_000,
  unvisited: 0,
  sinceAnalyze: 0,
  isOurs: true,
  lacksIndex: false,
  ...activity,
});
const workOf = (activity: Partial<MonthActivity>, rate: number | null, now = IN_JUNE) =>
  dueWork([month(activity)], rate, now).map(({ work }) => work);

const QUIET = 5;
const BUSY = 4_000;

describe('the work that is due on a partition', () => {
  it('waits for a quiet time, unless statistics are wrong by half or far too many events are new', () => {
    const some = { sinceVacuum: 200_000, sinceAnalyze: 200_000 };
    expect(workOf(some, QUIET)).toEqual(['vacuum']);
    expect(workOf(some, BUSY)).toEqual([]);
    expect(workOf(some, null)).toEqual([]);
    expect(workOf({ ...some, sinceAnalyze: 450_000 }, BUSY)).toEqual([]);
    expect(workOf({ ...some, sinceAnalyze: 550_000 }, BUSY)).toEqual(['analyze']);
    expect(workOf({ rows: 5_000, sinceAnalyze: 5_000 }, BUSY)).toEqual(['analyze']);
    expect(workOf({ ...some, sinceVacuum: 60_000_000 }, BUSY)).toEqual(['vacuum']);
  });

  it('is nothing for few changes', () => {
    expect(workOf({ sinceVacuum: 80_000, sinceAnalyze: 80_000 }, QUIET)).toEqual([]);
    expect(workOf({ rows: 0, sinceVacuum: 900, sinceAnalyze: 900 }, QUIET)).toEqual([]);
  });

  it('is to freeze a month that is over, once', () => {
    const unvisited = { unvisited: 5_000 };
    expect(workOf(unvisited, QUIET)).toEqual([]);
    expect(workOf(unvisited, QUIET, IN_JULY)).toEqual(['freeze']);
    expect(workOf(unvisited, BUSY, IN_JULY)).toEqual([]);
    expect(workOf({ unvisited: 1_000 }, QUIET, IN_JULY)).toEqual([]);
  });

  it('is to build an index that was added since, in a quiet time, when nothing else is due', () => {
    expect(workOf({ lacksIndex: true }, QUIET)).toEqual(['index']);
    expect(workOf({ lacksIndex: true }, BUSY)).toEqual([]);
    expect(workOf({ lacksIndex: true, sinceVacuum: 200_000 }, QUIET)).toEqual(['vacuum']);
  });

  it('begins with the shortest', () => {
    const months = [
      month({ table: 'may', until: JUNE.from, unvisited: 50_000 }),
      month({ table: 'june', sinceVacuum: 500_000 }),
      month({ table: 'july', sinceAnalyze: 500_000 }),
    ];
    expect(dueWork(months, QUIET, IN_JUNE).map(({ table }) => table)).toEqual(['july', 'june', 'may']);
  });
});

describe('the upkeep of partitions', () => {
  let gantry: Gantry;
  let table: string;
  let apiKey: string;
  beforeAll(async () => {
    gantry = await startGantry({ overrides: { timings: { upkeepMs: 100 } } });
    apiKey = await gantry.registerSensor();
    const event = { eventType: 'PLATE_RECOGNITION', licensePlateNumber: '34 ABC 12' };
    for (let batch = 0; batch < 3; batch++) {
      await gantry.ok('events.ingestBatch', { apiKey, events: Array(1_000).fill(event) });
    }
    const { rows } = await gantry.pool.query<{ name: string }>(
      'SELECT tableoid::regclass::text AS name FROM events LIMIT 1',
    );
    table = rows[0]?.name ?? '';
  });
  afterAll(() => gantry.stop());

  const activity = async (): Promise<MonthActivity | undefined> =>
    (await readMonthActivity(gantry.pool)).find((found) => found.table === table);

  it('takes all of them over from autovacuum, and vacuums and analyses the new events', async () => {
    await eventually(
      async () => {
        // A connection that stores nothing more tells the statistics only after ten seconds what it has stored.
        await gantry.ingest(apiKey);
        return activity();
      },
      (found) =>
        found?.isOurs === true &&
        found.rows >= 3_000 &&
        found.sinceVacuum < 3_000 &&
        // The work may have started while events were still arriving. The rest is then too small to be due again.
        dueWork([found], 0, Date.now()).length === 0,
    );
    expect((await readMonthActivity(gantry.pool)).every(({ isOurs }) => isOurs)).toBe(true);
    expect(
      await gantry.count(
        `pg_stats WHERE tablename = '${table}' AND attname = 'event_type' AND most_common_vals IS NOT NULL`,
      ),
    ).toBe(1);
  });

  it('builds an index that was added since, also after an attempt that was interrupted', async () => {
    const { pool } = gantry;
    const { rows } = await pool.query<{ definition: string; oid: number }>(
      `SELECT pg_get_indexdef('events_by_passage'::regclass) AS definition, '${table}'::regclass::oid AS oid`,
    );
    const [{ definition, oid } = { definition: '', oid: 0 }] = rows;
    await pool.query('DROP INDEX events_by_passage');
    // As an interrupted attempt leaves it.
    await pool.query(`CREATE INDEX events_by_passage_${oid} ON ${table} (created_at)`);
    await pool.query(definition);
    expect((await readMonthActivity(pool)).every(({ lacksIndex }) => lacksIndex)).toBe(true);
    await eventually(
      () => readMonthActivity(pool),
      (months) => months.every(({ lacksIndex }) => !lacksIndex),
    );
    expect(
      await gantry.count(`pg_index WHERE indexrelid = 'events_by_passage'::regclass AND indisvalid`),
    ).toBe(1);
    expect(await gantry.count(`pg_index WHERE indrelid = '${table}'::regclass AND NOT indisvalid`)).toBe(0);
  });

  it('gives way to a process that waits for a lock on the partition', async () => {
    const own = createPool(gantry.pool.options.connectionString ?? '', 1, () => undefined, { name: 'own' });
    const client = await own.connect();
    const blocker = await gantry.pool.connect();
    try {
      // The lock delays the vacuum, which would otherwise end at once.
      await blocker.query('BEGIN');
      await blocker.query(`LOCK TABLE ${table} IN SHARE UPDATE EXCLUSIVE MODE`);
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const working = maintain(gantry.pool, client, table, 'vacuum', () => false);
      await eventually(
        // Others may wait as well, such as the upkeep of the service.
        () =>
          gantry.count(
            `pg_locks WHERE relation = '${table}'::regclass AND NOT granted AND pid = ${rows[0]?.pid}`,
          ),
        (waiting) => waiting === 1,
      );
      const waiting = gantry.pool.query(`TRUNCATE ${table}`);
      expect(await working).toBe(false);
      await blocker.query('COMMIT');
      await waiting;
    } finally {
      blocker.release(true);
      client.release(true);
      await own.end();
    }
  });
});
