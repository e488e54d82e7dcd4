import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { isDatabaseAway } from '../src/platform/database/failure.ts';
import { createPool } from '../src/platform/database/pool.ts';
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
