import { DAY_MS } from '@gantry/contract/durations';
import type pg from 'pg';
import { rollUpCounts } from '../src/events/counts/roll-up.ts';
import { createPartitions, listEventMonths } from '../src/events/partitions.ts';
import { removeEvent } from '../src/events/remove-store.ts';
import { type Flags, lockFlags, setFlags } from '../src/events/reviews-store.ts';
import { createDatabase, createPool, type Database } from '../src/platform/database/pool.ts';
import { createTestDatabase } from './harness.ts';

type Period = readonly [start: string, length: string, events: number];

/** The times of the events of a history. */
interface Shape {
  readonly periods: readonly Period[];
  /** Hours with the only trams, which are also the only events of severity LOW. */
  readonly trams: readonly string[];
  /** Whether each month has a partition, as if it had been the current one when it was written. */
  readonly monthly?: boolean;
}

const SPARSE_PERIODS: readonly Period[] = [
  ['2021-01-01T00:00Z', '28 days', 900],
  ['2021-02-10T11:00Z', '3 hours', 400],
  ['2021-12-31T20:00Z', '8 hours', 2_500],
  ['2022-06-01T00:00Z', '29 days', 1_500],
  ['2022-06-17T10:00Z', '59 minutes', 5_000],
  ['2022-06-17T13:59:59.998Z', '3 milliseconds', 1_500],
  ['2024-02-28T00:00Z', '2 days 23 hours', 1_200],
  ['2024-03-10T00:00Z', '80 days', 4_000],
  ['2024-05-31T23:30Z', '1 hour', 3_500],
  ['2025-01-05T00:00Z', '50 days', 5_000],
  ['2025-11-20T00:00Z', '41 days', 8_000],
  ['2025-12-31T22:00Z', '30 minutes', 6_000],
];
/**
 * Five years, mostly empty: months without any event, a year with three, thousands within an hour and within some
 * milliseconds, bursts across the end of a month and of a year.
 */
export const SPARSE: Shape = {
  periods: SPARSE_PERIODS,
  trams: [
    '2021-01-20T04:00Z',
    '2021-12-31T23:00Z',
    '2022-06-17T10:00Z',
    '2023-07-04T05:00Z',
    '2024-02-29T12:00Z',
    '2024-04-01T00:00Z',
    '2024-05-31T23:00Z',
    '2025-02-01T17:00Z',
    '2025-12-24T18:00Z',
    '2025-12-31T22:00Z',
  ],
};

/** Five months with the same number of events in every hour, so that no part of it is faster to read as a whole. */
export const EVEN: Shape = {
  periods: [1, 2, 3, 4, 5].map((month) => [`2025-0${month}-01T00:00Z`, '27 days 23 hours', 16_000]),
  trams: Array.from(
    { length: 12 },
    (_, n) => `2025-0${1 + (n % 5)}-${String(3 + 2 * n).padStart(2, '0')}T12:00Z`,
  ),
};

export const SENSORS = Array.from(
  { length: 40 },
  (_, n) => `0190c0de-0000-7000-a000-${String(n).padStart(12, '0')}`,
);

const provideMonths = async (pool: pg.Pool, periods: readonly Period[], monthly: boolean): Promise<void> => {
  let now = Date.now();
  const partitions = createPartitions(pool, () => now);
  for (const [start, length] of periods) {
    if (monthly) now = Date.parse(start);
    const days = 1 + Number(/^(\d+) days/.exec(length)?.[1] ?? 0);
    for (let day = 0; day <= days; day += 1) await partitions.ensure(Date.parse(start) + day * DAY_MS);
  }
};

// Inserts events in the order of time. Events that arrive together have the same created_at; that of a device that was
// offline is some three days after the time of its events.
const FILL = `
  WITH chance AS (
    SELECT start + random() * length AS at, trams, random() AS kind, random() AS state, random() AS place,
      random() AS violation, random() AS vehicle, random() AS late, random() AS plate, md5(random()::text) AS tail
    FROM unnest($1::timestamptz[], $2::interval[], $3::int[], $4::boolean[]) AS period (start, length, n, trams),
      generate_series(1, n)
  ), stored AS (
    INSERT INTO events (id, event_type, violation_type, vehicle_type, severity, processed, archived, sensor_id,
      location_name, plate, plate_key, created_at, vehicle_speed)
    SELECT
      (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || left(tail, 3) || 'a'
        || right(tail, 15))::uuid,
      CASE WHEN kind < 0.6 THEN 'VEHICLE_DETECTION' WHEN kind < 0.8 THEN 'SPEED_DETECTION'
        WHEN kind < 0.99 THEN 'TRAFFIC_VIOLATION' ELSE 'INCIDENT' END,
      CASE WHEN violation < 0.2 THEN 'SPEEDING' WHEN violation < 0.25 THEN 'Speeding'
        WHEN violation < 0.252 THEN 'WRONG_WAY' END,
      CASE WHEN trams THEN 'TRAM' WHEN vehicle < 0.5 THEN 'CAR' WHEN vehicle < 0.6 THEN 'Truck'
        WHEN vehicle < 0.602 THEN 'BUS' END,
      CASE WHEN trams THEN 1 WHEN kind > 0.9 THEN 2 WHEN kind > 0.85 THEN 3 WHEN kind > 0.848 THEN 4 END,
      state < 0.9, state BETWEEN 0.89 AND 0.91,
      ($5::uuid[])[1 + floor(place * 40)::int], 'Crossing ' || floor(place * 60),
      'B-' || floor(plate * 3000)::int, 'B' || floor(plate * 3000)::int,
      CASE WHEN late < 0.5 THEN date_trunc('minute', at) + interval '1 minute'
        WHEN late < 0.8 THEN at + late * interval '1 second'
        ELSE date_trunc('hour', at) + interval '73 hours' END,
      30 + floor(place * 60)
    FROM chance ORDER BY at
    RETURNING *
  ), arrived AS (
    INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', created_at, 'UTC'), count(*) FROM stored GROUP BY 1
  )
  INSERT INTO event_totals (hour, event_type, violation_type, vehicle_type, severity, processed, archived, n)
  SELECT event_hour(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), coalesce(severity, 0),
    processed, archived, count(*)
  FROM stored GROUP BY 1, 2, 3, 4, 5, 6, 7`;

const fill = async (pool: pg.Pool, periods: readonly Period[], trams: readonly Period[], seed: number) => {
  const all = [...periods, ...trams];
  const client = await pool.connect();
  try {
    await client.query('SELECT setseed($1)', [seed]);
    await client.query(FILL, [
      all.map(([start]) => start),
      all.map(([, length]) => length),
      all.map(([, , events]) => events),
      all.map((_, n) => n >= periods.length),
      SENSORS,
    ]);
  } finally {
    client.release();
  }
};

/** Sets a flag of an event that is not set yet, as the service does. */
export const marking = (flag: keyof Flags) => async (db: Database, id: string, by: string) => {
  const before = await lockFlags(db, id);
  if (!before || before[flag]) return;
  const mark = { by, at: new Date().toISOString() };
  await setFlags(db, id, { before, after: { ...before, [flag]: mark } });
};

/** A database with such a history, which nothing else uses. */
export interface LongHistory extends AsyncDisposable {
  readonly pool: pg.Pool;
  readonly db: Database;
  /** Rolls up everything that is not rolled up yet. */
  rollUpAll(): Promise<void>;
  /** Adds and changes events throughout the history, without rolling up the resulting counts. */
  goOn(): Promise<void>;
}

/** Creates a history with rolled-up counts and statistics for the planner. */
export const createLongHistory = async (shape: Shape): Promise<LongHistory> => {
  const { periods } = shape;
  const trams = shape.trams.map((start): Period => [start, '1 hour', 3]);
  const database = await createTestDatabase();
  const pool = createPool(database.url, 4, () => undefined);
  const db = createDatabase(pool);
  const history: LongHistory = {
    pool,
    db,
    async rollUpAll() {
      while ((await rollUpCounts(db, 20_000)) > 0);
    },
    async goOn() {
      const more = periods.map(([start, length, events]): Period => [start, length, Math.ceil(events / 20)]);
      await fill(pool, more, [], 0.5);
      const { rows } = await pool.query<{ id: string }>(
        'SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM events) AS e WHERE n % 97 = 0',
      );
      const changes = [marking('processed'), marking('archived'), removeEvent];
      for (const [n, { id }] of rows.entries()) await changes[n % 3]?.(db, id, SENSORS[0] ?? '');
    },
    async [Symbol.asyncDispose]() {
      await pool.end();
      await database.drop();
    },
  };
  // The template has those of the present, which this history need not contain.
  for (const { table } of await listEventMonths(db)) await pool.query(`DROP TABLE ${table}`);
  await provideMonths(pool, [...periods, ...trams], shape.monthly ?? false);
  await fill(pool, periods, trams, 0.25);
  await history.rollUpAll();
  await pool.query(`
    INSERT INTO event_images (event_id, sha256, event_type)
    SELECT gen_random_uuid(), sha256(n::text::bytea), 'INCIDENT' FROM generate_series(1, 20000) AS n`);
  await pool.query(`
    INSERT INTO event_reviews (event_id, decision, user_id, at, before, after)
    SELECT gen_random_uuid(), 'CONFIRMED', gen_random_uuid(), now(), '{}', '{}' FROM generate_series(1, 20000)`);
  await pool.query('VACUUM (ANALYZE)');
  return history;
};
