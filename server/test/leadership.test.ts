import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { locks, startLeading } from '../src/platform/database/locks.ts';
import { createPool } from '../src/platform/database/pool.ts';
import { createTestDatabase } from './harness.ts';

const database = await createTestDatabase();
afterAll(() => database.drop());

it('has a number of its own for each lock', () => {
  const numbers = Object.values(locks);
  expect(new Set(numbers).size).toBe(numbers.length);
});

/** A pool of one connection, and a process that wants to lead with it. */
const start = () => {
  const pool = createPool(database.url, 1, () => undefined);
  let isLeading = false;
  const leading = startLeading({
    pool,
    lock: 4711,
    everyMs: 20,
    log: pino({ level: 'silent' }),
    failure: 'no leader could be chosen',
    lead: async () => {
      isLeading = true;
      return {
        async [Symbol.asyncDispose]() {
          isLeading = false;
        },
      };
    },
  });
  return {
    pool,
    isLeading: () => isLeading,
    async [Symbol.asyncDispose]() {
      await leading[Symbol.asyncDispose]();
      await pool.end();
    },
  };
};

describe('a process that waits for its turn to lead', () => {
  it('leaves no listener on the connection with which it tried', async () => {
    await using first = start();
    while (!first.isLeading()) await sleep(10);
    await using second = start();
    const [tried] = await once(second.pool, 'acquire');
    const listeners = tried.listenerCount('error');
    for (let tries = 0; tries < 15; tries++) await once(second.pool, 'release');
    expect(second.isLeading()).toBe(false);
    expect(tried.listenerCount('error')).toBeLessThanOrEqual(listeners + 1);
  });
});
