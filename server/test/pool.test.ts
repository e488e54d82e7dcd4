import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { isDatabaseAway } from '../src/platform/database/failure.ts';
import { createPool } from '../src/platform/database/pool.ts';
import { openPools } from '../src/platform/database/pools.ts';
import { TIMINGS } from '../src/platform/timings.ts';
import { createTestDatabase } from './harness.ts';

const database = await createTestDatabase();
const pool = createPool(database.url, 2, () => undefined);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('a connection that is closed between two statements of a transaction', () => {
  it('makes only the next statement fail', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await sleep(200);
    const failure: unknown = await client.query('SELECT 1').catch((error: unknown) => error);
    client.release(true);
    expect(isDatabaseAway(failure)).toBe(true);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});

describe('a connection that the server closes while nobody uses it', () => {
  it('is reported, but no more once the pools are closed', async () => {
    const reported: string[] = [];
    const pools = openPools(database.url, 1, TIMINGS, ({ message }) => reported.push(message));
    const client = await pools.ordinary.connect();
    client.release();
    client.emit('error', new Error('closed in between'));
    const next = await pools.ordinary.connect();
    next.release();
    const ending = pools[Symbol.asyncDispose]();
    next.emit('error', new Error('closed at the end'));
    await ending;
    expect(reported).toEqual(['closed in between']);
  });
});
