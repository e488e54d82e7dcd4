import { type ListEventsInput, listEventsInput } from '@gantry/contract/events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstIdAt } from '../src/events/id.ts';
import { listEvents, listRecentEvents } from '../src/events/list/run.ts';
import { findEvents, getEvent } from '../src/events/store.ts';
import { createDatabase, type Database } from '../src/platform/database/pool.ts';
import { ENDLESS } from '../src/platform/time.ts';
import { createLongHistory, type LongHistory, SENSORS } from './long-history.ts';
import { noteStatements, type Statement } from './noted-statements.ts';

// Months that were written as the current month keep their partition, so a service that runs for years has many.

const MONTHS = 60;
const LATEST = Date.UTC(2025, 11);
const startOfMonth = (before: number): number => Date.UTC(2025, 11 - before);

let history: LongHistory;
/** A database that records its statements. */
let db: Database;
let sent: Statement[] = [];

beforeAll(async () => {
  history = await createLongHistory({
    periods: [
      ...Array.from({ length: MONTHS - 1 }, (_, n) => startOfMonth(n + 1)).map(
        (start): [string, string, number] => [new Date(start).toISOString(), '20 days', 40],
      ),
      [new Date(LATEST).toISOString(), '20 days', 4_000],
    ],
    trams: [],
    monthly: true,
  });
  noteStatements(history.pool, (statement) => sent.push(statement));
  db = createDatabase(history.pool);
}, 120_000);
afterAll(() => history[Symbol.asyncDispose]());

/** The number of partitions of events in the plan of each statement that reads any. */
const partitionsOf = async (ask: () => Promise<unknown>): Promise<number[]> => {
  sent = [];
  await ask();
  const counts: number[] = [];
  for (const { text, values } of [...sent]) {
    const { rows } = await history.pool.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
    const names = [...JSON.stringify(rows).matchAll(/"Relation Name":"(events_(?:from_)?\d[^"]+)"/g)];
    if (names.length > 0) counts.push(new Set(names.map(([, name]) => name)).size);
  }
  expect(counts.length).toBeGreaterThan(0);
  return counts;
};

const page =
  (filters: Partial<ListEventsInput>, skip = 0) =>
  () =>
    listEvents(db, { ...listEventsInput.parse(filters), skip }, ENDLESS, 'UTC', false);

it('has a partition for each of its months', async () => {
  const { rows } = await history.pool.query(`SELECT FROM pg_inherits WHERE inhparent = 'events'::regclass`);
  expect(rows.length).toBeGreaterThanOrEqual(MONTHS);
});

it.each<[string, Partial<ListEventsInput>]>([
  ['all events', {}],
  ['the earliest first', { sortOrder: 'asc' }],
  ['a type', { eventType: 'SPEED_DETECTION' }],
  ['a type of violation', { violationType: 'speeding' }],
  ['what is not processed', { processed: false }],
  ['by type', { sortBy: 'eventType' }],
  ['by severity', { sortBy: 'severity', sortOrder: 'asc' }],
])('the first page reads the months of a year or two: %s', async (_, filters) => {
  expect(Math.max(...(await partitionsOf(page(filters))))).toBeLessThanOrEqual(24);
});

it.each([
  ['in the latest month', 2_000],
  ['in the middle of the earlier ones', 5_200],
])('a page deep in the list reads one or two months: %s', async (_, skip) => {
  expect(Math.max(...(await partitionsOf(page({}, skip))))).toBeLessThanOrEqual(2);
});

it('the latest events, single events and those of a stream are read from their months', async () => {
  const { items } = await page({})();
  const ids = items.map(({ id }) => id);
  expect(await partitionsOf(() => getEvent(db, ids[0] ?? ''))).toEqual([1]);
  expect(Math.max(...(await partitionsOf(() => findEvents(db, ids))))).toBeLessThanOrEqual(2);
  const now = LATEST + 25 * 86_400_000;
  expect(
    Math.max(...(await partitionsOf(() => listRecentEvents(db, { limit: 10 }, now, false)))),
  ).toBeLessThanOrEqual(2);
});

it('a search between dates reads the months between them', async () => {
  const between = { from: startOfMonth(3), until: startOfMonth(1) };
  const input = listEventsInput.parse({ sensorId: SENSORS[3] });
  const counts = await partitionsOf(() => listEvents(db, input, between, 'UTC', false));
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});

it('an event that is stored or marked needs the partition of its month only', async () => {
  const id = firstIdAt(LATEST + 1);
  const statements = [
    `INSERT INTO events (id, event_type) VALUES ('${id}', 'INCIDENT')`,
    `UPDATE events SET processed = true WHERE id = '${id}'`,
    `DELETE FROM events WHERE id = ANY ('{${id}}')`,
  ];
  for (const text of statements) {
    const client = await history.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(text);
      const { rows } = await client.query<{ n: number }>(`
        SELECT count(DISTINCT relation)::int AS n FROM pg_locks JOIN pg_inherits ON inhrelid = relation
        WHERE pid = pg_backend_pid() AND inhparent = 'events'::regclass`);
      expect({ text, n: rows[0]?.n }).toEqual({ text, n: 1 });
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
});
