import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { KeptClient } from '../../src/platform/database/client.ts';
import { createDatabase, createPool, type Database } from '../../src/platform/database/pool.ts';
import { inTransaction } from '../../src/platform/database/transaction.ts';
import { startFaultyNetwork } from '../faulty-network.ts';
import { eventually } from '../harness.ts';
import { lengthOf } from '../test-length.ts';
import { type OwnDatabase, startOwnDatabase } from './own-database.ts';

// A server that is suspended, and a network that loses what is sent: there is neither an answer nor an error.

const STATEMENT_TIMEOUT_MS = 1_000;
/** After this time, every statement in progress has been abandoned, including ROLLBACK. */
const LONG_MS = 3_000;

let server: OwnDatabase;
let pool: Pool;
let db: Database;

const openPool = (url: string, size: number): Pool =>
  createPool(url, size, () => undefined, {
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: STATEMENT_TIMEOUT_MS,
  });

beforeAll(async () => {
  server = await startOwnDatabase();
  const setup = openPool(server.url, 1);
  await setup.query('CREATE TABLE noted (n integer PRIMARY KEY)');
  await setup.end();
});
afterAll(() => server[Symbol.asyncDispose]());

beforeEach(async () => {
  pool = openPool(server.url, 4);
  db = createDatabase(pool);
  await pool.query('DELETE FROM noted');
});
afterEach(async () => {
  await server.thaw();
  await pool.end();
});

const out = (of: Pool): number => of.totalCount - of.idleCount;

/** Queries the server on every connection of the pool at once. */
const askAll = (of: Pool, size: number) =>
  Promise.allSettled(Array.from({ length: size }, () => of.query('SELECT pg_sleep(0.05)')));

/** Eight callers use transactions and eight single statements, until `stop`. */
const load = () => {
  let isOn = true;
  const repeat = async (work: () => Promise<unknown>): Promise<void> => {
    while (isOn) await work().catch(() => sleep(10));
  };
  const transaction = () =>
    inTransaction(db, async (tx) => {
      await tx.execute(sql`SELECT 1`);
      await tx.execute(sql`SELECT 2`);
    });
  const callers = Array.from({ length: 16 }, (_, n) =>
    repeat(n % 2 === 0 ? transaction : () => pool.query('SELECT 1')),
  );
  return async () => {
    isOn = false;
    await Promise.all(callers);
  };
};

describe('a pool', () => {
  it('has all its connections again after the server was suspended under load', async () => {
    const stop = load();
    for (let times = 0; times < lengthOf({ gate: 1, full: 3 }); times++) {
      await sleep(300);
      await server.freeze();
      await sleep(LONG_MS);
      await server.thaw();
    }
    await eventually(
      () => askAll(pool, 4),
      (answers) => answers.every(({ status }) => status === 'fulfilled'),
    );
    await stop();
    expect(out(pool)).toBe(0);
    const states = await pool.query("SELECT FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'");
    expect(states.rowCount).toBe(0);
  });

  it('replaces all its connections when one of them gets no answer', async () => {
    await using network = await startFaultyNetwork(server.url);
    const lost = openPool(network.url, 4);
    await askAll(lost, 4);
    expect(lost.totalCount).toBe(4);
    network.swallow();
    network.letNewOnesThrough();
    await expect(inTransaction(createDatabase(lost), () => Promise.resolve())).rejects.toThrow();
    expect(out(lost)).toBe(0);
    const answers = await askAll(lost, 4);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'fulfilled'));
    expect(out(lost)).toBe(0);
    await lost.end();
  });
});

describe('a transaction whose server is suspended between two statements', () => {
  it('leaves nothing open that the next statement could become part of', async () => {
    const single = openPool(server.url, 1);
    const failure = inTransaction(createDatabase(single), async (tx) => {
      // As behind a pooler that does not pass this setting on. Otherwise, the server itself would close the connection.
      await tx.execute(sql`SET LOCAL idle_in_transaction_session_timeout = 0`);
      await tx.execute(sql`INSERT INTO noted VALUES (1)`);
      await server.freeze();
      await tx.execute(sql`INSERT INTO noted VALUES (2)`);
    }).catch((error: unknown) => error);
    expect(String(await failure)).toMatch(/timeout|Failed query/);
    await sleep(STATEMENT_TIMEOUT_MS);
    await server.thaw();
    await eventually(
      () =>
        single.query('INSERT INTO noted VALUES (3)').then(
          () => true,
          () => false,
        ),
      (isStored) => isStored,
    );
    await single.end();
    // Acknowledged data is stored, and refused data is not.
    expect((await pool.query('SELECT n FROM noted')).rows).toEqual([{ n: 3 }]);
  });

  it('is abandoned without waiting for ROLLBACK, together with its connection', async () => {
    const failure = inTransaction(db, async (tx) => {
      await server.freeze();
      await tx.execute(sql`SELECT 1`);
    });
    await expect(failure).rejects.toThrow();
    expect(pool.totalCount).toBe(0);
  });
});

describe('a transaction', () => {
  it('is not considered committed when one of its statements failed silently', async () => {
    const swallowing = inTransaction(db, async (tx) => {
      await tx.execute(sql`INSERT INTO noted VALUES (1)`);
      await tx.execute(sql`INSERT INTO noted VALUES (1)`).catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow('rolled back');
    expect((await pool.query('SELECT n FROM noted')).rows).toEqual([]);
  });

  it('inside another undoes only its own part', async () => {
    await inTransaction(db, async (tx) => {
      await tx.execute(sql`INSERT INTO noted VALUES (1)`);
      const inner = inTransaction(tx, async (part) => {
        await part.execute(sql`INSERT INTO noted VALUES (2)`);
        throw new Error('not this');
      });
      await expect(inner).rejects.toThrow('not this');
      await inTransaction(tx, (part) => part.execute(sql`INSERT INTO noted VALUES (3)`));
    });
    expect((await pool.query('SELECT n FROM noted ORDER BY n')).rows).toEqual([{ n: 1 }, { n: 3 }]);
  });
});

describe('a connection that is returned to the pool', () => {
  it('is reused only if it is idle', async () => {
    const single = openPool(server.url, 1);
    const pid = async () => (await single.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const first = await pid();
    expect(await pid()).toBe(first);
    const careless = await single.connect();
    await careless.query('BEGIN');
    careless.release();
    const second = await pid();
    expect(second).not.toBe(first);
    const hasty = await single.connect();
    const unfinished = hasty.query('SELECT pg_sleep(0.5)').catch(() => undefined);
    hasty.release();
    expect(await pid()).not.toBe(second);
    await unfinished;
    await single.end();
  });
});

describe('a connection that is kept', () => {
  it('survives errors of its statements, and is replaced when it is lost', async () => {
    const own = openPool(server.url, 1);
    const kept = new KeptClient(own);
    const pid = async () =>
      (await kept.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid' })).rows[0]?.pid;
    const first = await pid();
    await kept.query({ text: 'INSERT INTO noted VALUES (1)' });
    await expect(kept.query({ text: 'INSERT INTO noted VALUES (1)' })).rejects.toThrow('duplicate key');
    expect(await pid()).toBe(first);
    await pool.query('SELECT pg_terminate_backend($1, 5000)', [first]);
    await eventually(
      async () => own.totalCount,
      (count) => count === 0,
    );
    expect(await pid()).not.toBe(first);
    await server.freeze();
    await expect(pid()).rejects.toThrow();
    await server.thaw();
    expect(await pid()).toEqual(expect.any(Number));
    kept.release();
    expect(out(own)).toBe(0);
    await own.end();
  });
});
