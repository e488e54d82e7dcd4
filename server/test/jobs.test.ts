import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDatabase, createPool, type Database } from '../src/platform/database/pool.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { startJobs } from '../src/platform/jobs/jobs.ts';
import { addJob } from '../src/platform/jobs/jobs-store.ts';
import { Resources } from '../src/platform/resources.ts';
import { createTestDatabase, eventually, startGantry } from './harness.ts';

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 2, () => undefined);
  db = createDatabase(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let resources = new Resources();
const done: unknown[] = [];
afterEach(async () => {
  await resources[Symbol.asyncDispose]();
  resources = new Resources();
  done.length = 0;
});

type Task = (payload: unknown) => Promise<void>;
const remember: Task = async (payload) => {
  done.push(payload);
};

/** What a process does about jobs. */
const startWorking = (task: Task = remember): Resources => {
  const process = resources.use(new Resources());
  const jobPool = createPool(database.url, 2, () => undefined);
  process.onClose(() => jobPool.end());
  process.use(startJobs({ pool: jobPool, tasks: { 'deliver-webhooks': task }, log, concurrency: 2 }));
  return process;
};

const add = (n: number, runAt = sql`now()`, within: Pick<Database, 'execute'> = db) =>
  within.execute(sql`SELECT ${addJob('deliver-webhooks', sql`json_build_object('n', ${n}::int)`, runAt)}`);
const waitForDone = (count: number, ms = 20_000) =>
  eventually(
    async () => [...done],
    ({ length }) => length >= count,
    ms,
  );
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => ({ n: from + n }));
const inOrder = (jobs: readonly unknown[]) => (jobs as { n: number }[]).toSorted((a, b) => a.n - b.n);

/** Ends every other connection to the database of the test. */
const endConnections = () =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

/** The database as one that nobody can reach, while the work is done. */
const whileUnreachable = async (work: () => Promise<void>): Promise<void> => {
  const name = new URL(database.url).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('databaseServer') });
  await admin.connect();
  try {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    await work();
  } finally {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await admin.end();
  }
};

describe('a job', () => {
  it('is done within a moment of being added', async () => {
    startWorking();
    await add(0);
    await waitForDone(1);
    const began = Date.now();
    await add(1);
    await waitForDone(2);
    expect(Date.now() - began).toBeLessThan(1_000);
    expect(done).toEqual([{ n: 0 }, { n: 1 }]);
  });

  it('is not done when the transaction that adds it rolls back', async () => {
    startWorking();
    const rolledBack = inTransaction(db, async (tx) => {
      await add(1, sql`now()`, tx);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await add(2);
    await waitForDone(1);
    await sleep(2_500);
    expect(done).toEqual([{ n: 2 }]);
  });

  it('waits until it is due', async () => {
    startWorking();
    const began = Date.now();
    await add(1, sql`now() + interval '2 seconds'`);
    await waitForDone(1);
    expect(Date.now() - began).toBeGreaterThan(1_900);
    expect(Date.now() - began).toBeLessThan(20_000);
  });

  it('is done once, however many processes there are', async () => {
    startWorking();
    startWorking();
    for (let n = 0; n < 100; n++) await add(n);
    await waitForDone(100);
    await sleep(300);
    expect(inOrder(done)).toEqual(numbers(0, 100));
  });

  it('that throws is tried again later, and keeps no other one from being done', async () => {
    startWorking(async (payload) => {
      done.push(payload);
      if (done.length === 1) throw new Error('not now');
    });
    await add(1);
    await waitForDone(1);
    await add(2);
    expect(await waitForDone(3)).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }]);
  });
});

describe('when the database goes away', () => {
  it('jobs are done again once it is back', async () => {
    startWorking();
    await add(0);
    await waitForDone(1);
    await whileUnreachable(() => sleep(4_000));
    await add(1);
    await waitForDone(2, 30_000);
    expect(done).toEqual([{ n: 0 }, { n: 1 }]);
  });

  describe('just when', () => {
    let locking: pg.PoolClient;
    beforeEach(async () => {
      locking = await pool.connect();
      await locking.query('BEGIN');
    });
    const unlock = async () => {
      await locking.query('ROLLBACK');
      locking.release();
    };

    /** Ends the connection that waits for what is locked, with a statement like this. */
    const endWhoeverWaits = (statement: string) =>
      eventually(
        () =>
          pool.query(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE wait_event_type = 'Lock' AND query LIKE $1 AND pid <> pg_backend_pid()`,
            [statement],
          ),
        ({ rowCount }) => rowCount !== 0,
      );

    it('the end of a job is written down, others are done all the same', async () => {
      startWorking(async (payload) => {
        if (done.push(payload) === 1)
          await locking.query('SELECT FROM graphile_worker._private_jobs FOR UPDATE');
      });
      await add(1);
      await endWhoeverWaits('%delete from%');
      await unlock();
      await add(2);
      expect(await waitForDone(2, 30_000)).toEqual([{ n: 1 }, { n: 2 }]);
    });

    it('the end of a job is written down, nobody waits for the one that is under way', async () => {
      const told = new AbortController();
      startWorking(async (payload) => {
        const { n } = payload as { n: number };
        if (n === 1) await locking.query('SELECT FROM graphile_worker._private_jobs FOR UPDATE');
        if (n === 0) await once(told.signal, 'abort');
        done.push(payload);
      });
      await add(0);
      await add(1);
      await endWhoeverWaits('%delete from%');
      await unlock();
      await add(2);
      expect(await waitForDone(2, 30_000)).toEqual([{ n: 1 }, { n: 2 }]);
      told.abort();
      expect(await waitForDone(3)).toEqual([{ n: 1 }, { n: 2 }, { n: 0 }]);
    });

    it('the tasks are looked up, jobs are done all the same', async () => {
      await locking.query('LOCK TABLE graphile_worker._private_tasks');
      startWorking();
      await endWhoeverWaits('%_private_tasks%');
      await unlock();
      await add(1);
      expect(await waitForDone(1, 30_000)).toEqual([{ n: 1 }]);
    });
  });

  it('in every moment of many jobs, the process lives on and does all of them', async () => {
    startWorking(async (payload) => {
      await sleep(Math.random() * 10);
      done.push(payload);
    });
    for (let n = 0; n < 200; n++) await add(n);
    for (let round = 0; round < 20; round++) {
      await sleep(60);
      await endConnections();
    }
    // What a connection held when it ended is kept for hours from those who might still be at it.
    const held = async () => {
      const { rows } = await pool.query<{ open: number; held: number }>(
        `SELECT count(*) FILTER (WHERE locked_at IS NULL) AS open, count(locked_at) AS held
         FROM graphile_worker._private_jobs`,
      );
      return rows[0];
    };
    const left = await eventually(held, (jobs) => Number(jobs?.open) === 0, 30_000);
    expect(new Set(inOrder(done).map(({ n }) => n)).size + Number(left?.held)).toBeGreaterThanOrEqual(200);
    await pool.query('DELETE FROM graphile_worker._private_jobs');
  });

  it('stopping takes no longer than a few seconds', async () => {
    const process = startWorking();
    await add(0);
    await waitForDone(1);
    await whileUnreachable(async () => {
      await sleep(500);
      const began = Date.now();
      await process[Symbol.asyncDispose]();
      expect(Date.now() - began).toBeLessThan(20_000);
    });
  });
});

describe('the tables of the job queue', () => {
  it('are there in a database that was migrated, in a schema of their own', async () => {
    const { rows } = await pool.query(
      `SELECT table_schema FROM information_schema.tables WHERE table_name = '_private_jobs'`,
    );
    expect(rows).toEqual([{ table_schema: 'graphile_worker' }]);
  });

  it('never run out of numbers for tasks and queues', async () => {
    const { rows } = await pool.query<{ cycle: boolean }>(
      `SELECT cycle FROM pg_sequences WHERE schemaname = 'graphile_worker' AND data_type = 'integer'::regtype`,
    );
    expect(rows).toEqual([{ cycle: true }, { cycle: true }]);
  });
});

describe('the service', () => {
  it('holds two connections for its jobs', async () => {
    await using gantry = await startGantry({ config: { DATABASE_POOL_SIZE: '2' } });
    const token = await gantry.tokenFor('ADMIN');
    await Promise.all(Array.from({ length: 20 }, () => gantry.ok('users.getAll', undefined, { token })));
    const { rows } = await gantry.pool.query<{ count: number }>(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gantry jobs'`,
    );
    expect(Number(rows[0]?.count)).toBe(2);
  });
});
