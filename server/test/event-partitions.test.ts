import { listEventsInput } from '@gantry/contract/events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIdAt } from '../src/events/id.ts';
import { occupiedSpans } from '../src/events/list/count.ts';
import { listEvents } from '../src/events/list/run.ts';
import { sharedSpan } from '../src/events/partitions.ts';
import { createDatabase, createPool } from '../src/platform/database/pool.ts';
import { ENDLESS } from '../src/platform/time.ts';
import { sharedGantry } from './harness.ts';
import { noteStatements, type Statement } from './noted-statements.ts';

// Events from long ago must not slow down others: old months share partitions, and a list does not read empty ones.
const gantry = await sharedGantry();
const apiKey = await gantry.registerSensor();
const token = await gantry.tokenFor('OPERATOR');

const NOW = Date.UTC(2026, 10, 22);
const EARLIEST = Date.UTC(2000, 0);

const bounds = async (): Promise<string[]> =>
  (
    await gantry.pool.query<{ bounds: string }>(
      `SELECT pg_get_expr(relpartbound, pg_class.oid) AS bounds FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = 'events'::regclass ORDER BY 1`,
    )
  ).rows.map((row) => row.bounds);

const rangeOf = (from: number, until: number): string =>
  `FOR VALUES FROM ('${firstIdAt(from)}') TO ('${firstIdAt(until)}')`;

const PLATE = 'OLD-1';
const send = async (times: readonly number[]): Promise<string[]> => {
  const ids: string[] = [];
  for (let first = 0; first < times.length; first += 500) {
    const events = times.slice(first, first + 500).map((time) => ({
      eventType: 'PLATE_RECOGNITION',
      licensePlateNumber: PLATE,
      timestamp: new Date(time).toISOString(),
    }));
    const { results } = await gantry.ok('events.ingestBatch', { apiKey, events });
    ids.push(...results.map(({ eventId }: { eventId: string }) => eventId));
  }
  return ids;
};

/** The partitions in the plans of a list. */
const partitionsRead = async (filters: object): Promise<Set<string>> => {
  const pool = createPool(gantry.pool.options.connectionString ?? '', 1, () => undefined);
  const sent: Statement[] = [];
  noteStatements(pool, (statement) => sent.push(statement));
  await listEvents(createDatabase(pool), listEventsInput.parse(filters), ENDLESS, 'UTC', false);
  await pool.end();
  const read = new Set<string>();
  for (const { text, values } of sent) {
    const { rows } = await gantry.pool.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
    for (const [, name] of JSON.stringify(rows).matchAll(/"Relation Name":"(events_[^"]+)"/g))
      if (name) read.add(name);
  }
  return read;
};

describe('the partition of an event', () => {
  it('is its month for two years, then its year, then that of all earlier years', () => {
    const utc = (year: number, month: number) => Date.UTC(year, month - 1);
    expect(sharedSpan(NOW, NOW)).toEqual({ from: utc(2026, 11), until: utc(2026, 12) });
    expect(sharedSpan(utc(2024, 11), NOW)).toEqual({ from: utc(2024, 11), until: utc(2024, 12) });
    expect(sharedSpan(utc(2024, 11) - 1, NOW)).toEqual({ from: utc(2024, 1), until: utc(2024, 11) });
    expect(sharedSpan(utc(2020, 6), NOW)).toEqual({ from: utc(2020, 1), until: utc(2021, 1) });
    expect(sharedSpan(utc(2019, 1), NOW)).toEqual({ from: utc(2019, 1), until: utc(2020, 1) });
    expect(sharedSpan(utc(2019, 1) - 1, NOW)).toEqual({ from: 0, until: utc(2019, 1) });
  });

  it('contains that time, and there are few, for any time', () => {
    const aTime = fc.integer({ min: EARLIEST, max: Date.UTC(2100, 0) });
    fc.assert(
      fc.property(aTime, fc.integer({ min: 0, max: 100 * 365 }), (now, days) => {
        const time = Math.max(EARLIEST, now - days * 86_400_000);
        const { from, until } = sharedSpan(time, now);
        expect(from).toBeLessThanOrEqual(time);
        expect(until).toBeGreaterThan(time);
      }),
    );
    const spans = Array.from({ length: 323 }, (_, month) => sharedSpan(Date.UTC(2000, month), NOW));
    expect(new Set(spans.map(({ from }) => from)).size).toBeLessThan(40);
  });
});

describe('a device that reports events of every month since 2000', () => {
  it('adds few partitions, which leave room for the existing ones', async () => {
    const there = rangeOf(Date.UTC(2010, 2), Date.UTC(2010, 3));
    await gantry.pool.query(`CREATE TABLE events_2010_03 PARTITION OF events ${there}`);
    const now = new Date();
    // Until the last month: the first of this one may not have had its noon.
    const count = (now.getUTCFullYear() - 2000) * 12 + now.getUTCMonth();
    const ids = await send(Array.from({ length: count }, (_, month) => Date.UTC(2000, month, 1, 12)));

    const partitions = await bounds();
    expect(partitions).toContain(there);
    expect(partitions).toContain(rangeOf(0, Date.UTC(2010, 2)));
    expect(partitions.length).toBeLessThan(45);
    for (const filters of [
      {},
      { licensePlateNumber: PLATE },
      { licensePlateNumber: 'OLD*' },
      { sortBy: 'createdAt' },
    ]) {
      const found: string[] = [];
      for (let skip = 0; skip < count; skip += 100) {
        const page = await gantry.ok(
          'events.getAll',
          { ...filters, sortOrder: 'asc', skip, take: 100 },
          { token },
        );
        found.push(...page.events.map(({ id }: { id: string }) => id));
      }
      expect([...found].sort()).toEqual([...ids].sort());
    }
  });

  it('adds no bounds to lists while there is no gap, because they would exclude nothing', async () => {
    expect(await occupiedSpans(createDatabase(gantry.pool), ENDLESS)).toEqual([ENDLESS]);
  });

  it('does not make lists read a partition that was emptied', async () => {
    const day = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 5, 1, 12);
    const name = `events_${new Date(day).toISOString().slice(0, 7).replace('-', '_')}`;
    const LISTS = [{ licensePlateNumber: PLATE }, { licensePlateNumber: '*1' }, { sortBy: 'createdAt' }];
    for (const list of LISTS) expect(await partitionsRead(list)).toContain(name);
    const { rows } = await gantry.pool.query<{ id: string }>(`SELECT id FROM ${name}`);
    for (const { id } of rows) await gantry.ok('events.delete', { id }, { token });
    await expect
      .poll(async () => {
        const read = await Promise.all(LISTS.map(partitionsRead));
        return read.some((names) => names.has(name));
      })
      .toBe(false);
  });

  it('makes the first page of a list read only the latest years', async () => {
    const now = Date.now();
    await send(Array.from({ length: 60 }, (_, n) => now - 1_000 * n));
    for (const filters of [{}, { eventType: 'PLATE_RECOGNITION' }, { sortBy: 'eventType' }]) {
      const read = await partitionsRead({ ...filters, take: 50 });
      const years = [...read].map((name) => Number(/\d{4}/.exec(name)?.[0]));
      expect(years.length).toBeGreaterThan(0);
      expect(Math.min(...years)).toBeGreaterThanOrEqual(new Date().getUTCFullYear() - 1);
    }
  });
});
