import { randomUUID } from 'node:crypto';
import { isUuid } from '@gantry/contract/id';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  firstIdAt,
  keyedEventId,
  MAX_ID_TIME,
  newEventId,
  newIdInOrder,
  timeOfId,
} from '../src/events/id.ts';
import { createTestDatabase } from './harness.ts';

const anyTime = fc.oneof(
  fc.integer({ min: 0, max: MAX_ID_TIME }),
  fc.integer({ min: Date.UTC(2000), max: Date.UTC(2100) }),
);
const anyKey = fc.string({ minLength: 1 });

describe('an event id', () => {
  it('is a UUID of version 7 that begins with the time of the event', () => {
    fc.assert(
      fc.property(anyTime, anyKey, (time, key) => {
        for (const id of [newEventId(time), newIdInOrder(time), keyedEventId(time, randomUUID(), key)]) {
          expect(isUuid(id)).toBe(true);
          expect(id[14]).toBe('7');
          expect('89ab').toContain(id[19]);
          expect(timeOfId(id)).toBe(time);
          expect(id >= firstIdAt(time) && id < firstIdAt(time + 1)).toBe(time < MAX_ID_TIME);
        }
      }),
    );
  });

  it('is different each time, even for the same time', () => {
    const ids = Array.from({ length: 20_000 }, () => newEventId(Date.UTC(2026, 0, 1)));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is in the order of receipt within a millisecond, where that is asked for', () => {
    const times = Array.from({ length: 30_000 }, (_, n) => Date.UTC(2026, 0, 1) + Math.floor(n / 10_000));
    const ids = times.map(newIdInOrder);
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
    expect(newIdInOrder(0).slice(14)).not.toBe(newIdInOrder(1).slice(14));
  });

  it('is determined by sensor, key and time, and changes with each of them', () => {
    const sensor = randomUUID();
    const id = keyedEventId(1_000, sensor, 'key');
    expect(keyedEventId(1_000, sensor, 'key')).toBe(id);
    const others = [
      keyedEventId(1_001, sensor, 'key'),
      keyedEventId(1_000, randomUUID(), 'key'),
      keyedEventId(1_000, sensor, 'kez'),
    ];
    expect(new Set([id, ...others].map((each) => each.slice(14))).size).toBe(3);
    expect(new Set([id, ...others]).size).toBe(4);
  });
});

describe('firstIdAt', () => {
  it('stays within the limits of an id', () => {
    expect(firstIdAt(-1)).toBe(firstIdAt(0));
    expect(firstIdAt(Number.MAX_SAFE_INTEGER)).toBe(firstIdAt(MAX_ID_TIME));
  });
});

describe('the functions of the database', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    // The hour of an event must not depend on the time zone of the session that counts it.
    await client.query(`SET timezone = 'Pacific/Auckland'`);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  it('return the same time for an id, and its hour in UTC', async () => {
    const times = [0, 1, Date.UTC(2016, 10, 23, 15, 56), Date.UTC(2026, 0, 31, 23, 59, 59, 999), MAX_ID_TIME];
    const { rows } = await client.query<{ time: string; hour: string }>(
      `SELECT extract(epoch FROM event_time(id)) * 1000 AS time, extract(epoch FROM event_hour(id)) * 1000 AS hour
       FROM unnest($1::uuid[]) WITH ORDINALITY AS ids (id, n) ORDER BY n`,
      [times.map(newEventId)],
    );
    expect(rows.map(({ time }) => Number(time))).toEqual(times);
    expect(rows.map(({ hour }) => Number(hour))).toEqual(times.map((time) => time - (time % 3_600_000)));
  });

  it('order ids as their texts are ordered', async () => {
    const ids = Array.from({ length: 200 }, (_, n) => newEventId(Date.UTC(2026) + (n % 7)));
    const { rows } = await client.query<{ id: string }>(
      'SELECT id FROM unnest($1::uuid[]) AS ids (id) ORDER BY id',
      [ids],
    );
    expect(rows.map(({ id }) => id)).toEqual([...ids].sort());
  });
});
