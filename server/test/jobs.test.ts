import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { pgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { claimableIds, createJobRunner, startJobs } from '../src/platform/database/jobs.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { channels, listen } from '../src/platform/database/notify.ts';
import { createDatabase, createPool, type Database } from '../src/platform/database/pool.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { migrationsFolder } from '../src/platform/installation.ts';
import { Resources } from '../src/platform/start.ts';
import { createTestDatabase, eventually } from './harness.ts';

// Jobs of a small table of their own, performed in the same way as deliveries and reports.

const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
const chores = pgTable('chores', {});
const LEASE_MS = 1_000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let pool: pg.Pool;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 2, () => undefined);
  db = createDatabase(pool);
  await pool.query(`CREATE TABLE chores (id integer PRIMARY KEY, place text NOT NULL,
    due_at timestamptz NOT NULL, attempts integer NOT NULL DEFAULT 0, is_done boolean NOT NULL DEFAULT false)`);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

let resources = new Resources();
const done: number[] = [];
afterEach(async () => {
  await resources[Symbol.asyncDispose]();
  resources = new Resources();
  done.length = 0;
  await pool.query('TRUNCATE chores');
});

interface Chore {
  readonly id: number;
  readonly attempts: number;
}
type Perform = (chore: Chore) => Promise<void> | void;
const remember: Perform = ({ id }) => {
  done.push(id);
};

interface ProcessOptions {
  readonly perform?: Perform;
  readonly sweepMs?: number;
  readonly concurrency?: number;
}

/** Starts the work on jobs, as one process does it. */
const startWorking = async (options: ProcessOptions = {}): Promise<Resources> => {
  const { perform = remember, sweepMs = 200, concurrency = 2 } = options;
  const process = resources.use(new Resources());
  const own = createPool(database.url, 2, () => undefined, { name: 'jobs of the test' });
  process.onClose(() => own.end());
  const ours = createDatabase(own);
  const runner = createJobRunner<Chore>({
    concurrency,
    log,
    failure: 'not now',
    claim: async (place, most) => {
      const due = sql`place = ${place} AND NOT is_done AND due_at <= now()`;
      const { rows } = await ours.execute<{ id: number; attempts: number }>(sql`
        UPDATE chores SET attempts = attempts + 1, due_at = now() + ${LEASE_MS} * interval '1 millisecond'
        WHERE id = ANY (${claimableIds(chores, { due, order: sql`due_at, id`, most })}) RETURNING id, attempts`);
      return rows;
    },
    perform: async (chore) => {
      await perform(chore);
      const { id, attempts } = chore;
      await ours.execute(sql`UPDATE chores SET is_done = true WHERE id = ${id} AND attempts = ${attempts}`);
    },
  });
  const listener = process.use(await listen(database.url, log));
  process.use(
    startJobs({
      runner,
      listener,
      channel: channels.deliveries,
      everyMs: sweepMs,
      log,
      failure: 'not now',
      sweep: async () => {
        const { rows } = await ours.execute<{ place: string }>(
          sql`SELECT DISTINCT place FROM chores WHERE NOT is_done AND due_at <= now()`,
        );
        for (const { place } of rows) runner.wake(place);
        return true;
      },
    }),
  );
  return process;
};

interface NewChore {
  readonly place?: string;
  readonly dueInMs?: number;
}
const add = (
  id: number,
  { place = 'here', dueInMs = 0 }: NewChore = {},
  within: Pick<Database, 'execute'> = db,
) =>
  within.execute(sql`
    WITH added AS (
      INSERT INTO chores (id, place, due_at) VALUES (${id}, ${place}, now() + ${dueInMs} * interval '1 millisecond')
      RETURNING place
    )
    SELECT pg_notify(${channels.deliveries}, place) FROM added`);
const waitForDone = (count: number, ms = 20_000) =>
  eventually(
    async () => [...done],
    ({ length }) => length >= count,
    ms,
  );
const waitUntilNothingIsLeft = (ms = 30_000) =>
  eventually(
    async () => (await pool.query('SELECT FROM chores WHERE NOT is_done')).rowCount,
    (left) => left === 0,
    ms,
  );
const numbers = (until: number) => Array.from({ length: until }, (_, n) => n);
const inOrder = (ids: Iterable<number>) => [...ids].sort((a, b) => a - b);

/** Ends all other connections to the test's database. */
const endConnections = () =>
  pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );

/** Makes the database unreachable while the work runs. */
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
  it('is performed shortly after it was added, without waiting for a sweep', async () => {
    await startWorking({ sweepMs: 3_600_000 });
    await add(0);
    await waitForDone(1);
    await add(1);
    expect(await waitForDone(2)).toEqual([0, 1]);
  });

  it('is performed in a sweep when its message is lost', async () => {
    await startWorking();
    await add(0);
    await waitForDone(1);
    await pool.query(`INSERT INTO chores VALUES (1, 'here', now())`);
    expect(await waitForDone(2)).toEqual([0, 1]);
  });

  it('is not performed when the transaction that adds it is rolled back', async () => {
    await startWorking();
    const rolledBack = inTransaction(db, async (tx) => {
      await add(1, {}, tx);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await add(2);
    await waitUntilNothingIsLeft();
    expect(done).toEqual([2]);
  });

  it('waits until it is due, by the clock of the database', async () => {
    await startWorking();
    await add(1, { dueInMs: 600 });
    const { rows } = await pool.query('SELECT due_at FROM chores');
    await waitForDone(1);
    const { rows: after } = await pool.query('SELECT now() AS now');
    expect(after[0].now.getTime()).toBeGreaterThanOrEqual(rows[0].due_at.getTime());
  });

  it('is performed once, however many processes there are', async () => {
    await startWorking();
    await startWorking();
    for (const n of numbers(100)) await add(n);
    await waitUntilNothingIsLeft();
    expect(inOrder(done)).toEqual(numbers(100));
  });

  it('that another process is claiming is left to it, and does not delay others', async () => {
    await add(0);
    await add(1);
    const claiming = await pool.connect();
    await claiming.query('BEGIN; SELECT FROM chores WHERE id = 0 FOR UPDATE');
    try {
      await startWorking();
      expect(await waitForDone(1)).toEqual([1]);
    } finally {
      await claiming.query('ROLLBACK');
      claiming.release();
    }
    expect(await waitForDone(2)).toEqual([1, 0]);
  });

  it('that throws is retried when its lease expires, and does not delay others', async () => {
    await startWorking({
      perform: ({ id }) => {
        done.push(id);
        if (done.length === 1) throw new Error('not now');
      },
    });
    await add(1);
    await waitForDone(1);
    await add(2);
    expect(await waitForDone(3)).toEqual([1, 2, 1]);
  });

  it('of a process that has ended is performed by another one, but not before its lease expires', async () => {
    await add(1);
    await pool.query(`UPDATE chores SET attempts = 1, due_at = now() + interval '1 second'`);
    const { rows } = await pool.query('SELECT due_at FROM chores');
    await startWorking();
    await waitForDone(1);
    const { rows: after } = await pool.query('SELECT now() AS now, attempts FROM chores');
    expect(after[0].now.getTime()).toBeGreaterThanOrEqual(rows[0].due_at.getTime());
    expect(after[0].attempts).toBe(2);
  });
});

describe('jobs of one group', () => {
  it('are performed a few at once, and do not delay those of another group', async () => {
    const release = new AbortController();
    const started: number[] = [];
    await startWorking({
      perform: async ({ id }) => {
        started.push(id);
        if (id < 10) await once(release.signal, 'abort');
        done.push(id);
      },
    });
    for (const n of numbers(5)) await add(n);
    await eventually(
      async () => started.length,
      (count) => count === 2,
    );
    for (const n of [10, 11, 12]) await add(n, { place: 'elsewhere' });
    expect(inOrder(await waitForDone(3))).toEqual([10, 11, 12]);
    expect(inOrder(started)).toEqual([0, 1, 10, 11, 12]);
    release.abort();
  });

  it('are found even if they are added during the search', async () => {
    const looked = new AbortController();
    const goOn = new AbortController();
    let asked = 0;
    const runner = createJobRunner<number>({
      concurrency: 4,
      log,
      failure: 'not now',
      claim: async () => {
        const due = asked++ === 1 ? [1] : [];
        looked.abort();
        if (!goOn.signal.aborted) await once(goOn.signal, 'abort');
        return due;
      },
      perform: async (n) => {
        done.push(n);
      },
    });
    runner.wake();
    if (!looked.signal.aborted) await once(looked.signal, 'abort');
    runner.wake();
    goOn.abort();
    expect(await waitForDone(1)).toEqual([1]);
    await runner[Symbol.asyncDispose]();
  });
});

describe('when the process ends', () => {
  it('it signals the jobs in progress, waits for them, and begins no others', async () => {
    const signalled: boolean[] = [];
    const runner = createJobRunner<number>({
      concurrency: 1,
      log,
      failure: 'not now',
      claim: async () => [signalled.length],
      perform: async (_, ending) => {
        signalled.push(ending.aborted);
        if (!ending.aborted) await once(ending, 'abort');
        signalled.push(ending.aborted);
      },
    });
    runner.wake();
    await eventually(
      async () => signalled.length,
      (count) => count === 1,
    );
    await runner[Symbol.asyncDispose]();
    expect(signalled).toEqual([false, true]);
    runner.wake();
    await runner[Symbol.asyncDispose]();
    expect(signalled).toEqual([false, true]);
  });

  it('and the database is unavailable, that ends before the database returns', async () => {
    const process = await startWorking();
    await add(0);
    await waitForDone(1);
    await whileUnreachable(async () => {
      await sleep(500);
      await process[Symbol.asyncDispose]();
    });
  });
});

describe('when the database becomes unavailable', () => {
  it('jobs are performed again once it is available', async () => {
    await startWorking();
    await add(0);
    await waitForDone(1);
    await whileUnreachable(() => sleep(1_000));
    await add(1);
    expect(await waitForDone(2, 30_000)).toEqual([0, 1]);
  });

  describe('at the moment when', () => {
    let locking: pg.PoolClient;
    beforeEach(async () => {
      locking = await pool.connect();
      await locking.query('BEGIN');
    });
    const unlock = async () => {
      await locking.query('ROLLBACK');
      locking.release();
    };

    /** Ends the connection that waits for a lock in a statement that matches this LIKE pattern. */
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

    it('the result of a job is recorded, it is not waited for, and is performed again', async () => {
      const release = new AbortController();
      await startWorking({
        perform: async ({ id, attempts }) => {
          if (id === 1 && attempts === 1) await locking.query('SELECT FROM chores WHERE id = 1 FOR UPDATE');
          if (id === 0 && attempts === 1) await once(release.signal, 'abort');
          done.push(id);
        },
      });
      await add(0);
      await add(1);
      await endWhoeverWaits('%SET is_done%');
      await unlock();
      await add(2);
      expect((await waitForDone(2, 30_000)).slice(0, 2)).toEqual([1, 2]);
      release.abort();
      await waitUntilNothingIsLeft();
      expect(inOrder(new Set(done))).toEqual([0, 1, 2]);
    });

    it('jobs are claimed, they are performed nevertheless', async () => {
      await locking.query('LOCK TABLE chores');
      await startWorking();
      await endWhoeverWaits('%SELECT DISTINCT place%');
      await unlock();
      await add(1);
      expect(await waitForDone(1, 30_000)).toEqual([1]);
    });
  });

  it('any of many jobs is at any stage, the process survives and performs all of them', async () => {
    await startWorking({
      perform: async ({ id }) => {
        await sleep(Math.random() * 10);
        done.push(id);
      },
    });
    for (const n of numbers(200)) await add(n);
    for (let round = 0; round < 20; round++) {
      await sleep(60);
      await endConnections();
    }
    await waitUntilNothingIsLeft(60_000);
    expect(inOrder(new Set(done))).toEqual(numbers(200));
  });
});

describe('the queue of the previous version', () => {
  const MIGRATION = '0020-no-job-queue.sql';
  let former: Awaited<ReturnType<typeof createTestDatabase>>;
  let client: pg.Client;
  beforeEach(async () => {
    former = await createTestDatabase();
    client = new pg.Client({ connectionString: former.url });
    await client.connect();
    await client.query('DELETE FROM schema_migrations WHERE name = $1', [MIGRATION]);
    await client.query('CREATE SCHEMA graphile_worker');
    await client.query('CREATE TABLE graphile_worker._private_jobs (id bigint)');
  });
  afterEach(async () => {
    await client.end();
    await former.drop();
  });
  const isThere = async (): Promise<boolean> =>
    (await client.query(`SELECT FROM pg_namespace WHERE nspname = 'graphile_worker'`)).rowCount === 1;

  it('is removed with its schema, once and completely', async () => {
    expect(await migrate(former.url, { folder: migrationsFolder })).toEqual([MIGRATION]);
    expect(await isThere()).toBe(false);
    expect(await migrate(former.url, { folder: migrationsFolder })).toEqual([]);
  });

  it('stays for a process of that version that is still running', async () => {
    const old = new pg.Client({ connectionString: former.url, application_name: 'gantry jobs' });
    await old.connect();
    expect(await migrate(former.url, { folder: migrationsFolder })).toEqual([MIGRATION]);
    expect(await isThere()).toBe(true);
    await old.end();
  });
});
