import { isDeepStrictEqual } from 'node:util';
import { DAY_MS } from '@gantry/contract/durations';
import { severities } from '@gantry/contract/values';
import pg from 'pg';
import { BenchmarkFailed } from '../failure.ts';
import { firstIdAt } from './history.ts';
import type { ListInput, Question } from './questions.ts';

// Checks answers against plain SQL that counts and sorts the events themselves.

const PAGE = 50;

interface Where {
  readonly text: string;
  readonly values: readonly unknown[];
}

const SORT_KEYS = {
  timestamp: 'id',
  createdAt: 'created_at',
  eventType: 'event_type',
  severity: 'severity',
} as const;

interface Counted {
  readonly count: number;
}

/** For each checked procedure, the part of an answer that is compared, and the query for its expected value. */
const opinions: Readonly<
  Record<
    string,
    {
      // biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without types does
      readonly seen: (value: any) => unknown;
      readonly plain: (client: pg.Client, input: ListInput) => Promise<unknown>;
    }
  >
> = {
  'events.getAll': {
    seen: ({ total, events }) => ({ total, ids: events.map(({ id }: { id: string }) => id) }),
    plain: plainList,
  },
  'events.getStats': {
    seen: ({ total, processed, unprocessed, archived, byViolationType }) => ({
      total,
      processed,
      unprocessed,
      archived,
      violations: byViolationType.reduce((sum: number, { count }: Counted) => sum + count, 0),
    }),
    plain: plainStats,
  },
};

/**
 * Compares an answer with the result of plain SQL, if the procedure is one of those that are checked.
 * @throws BenchmarkFailed when they differ
 */
export async function checkAnswer(
  databaseUrl: string,
  { name, procedure }: Question,
  input: ListInput,
  value: unknown,
): Promise<void> {
  const opinion = opinions[procedure];
  if (opinion === undefined) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const [seen, expected] = [opinion.seen(value), await opinion.plain(client, input)];
    if (isDeepStrictEqual(seen, expected)) return;
    throw new BenchmarkFailed(
      `${procedure} (${name}) with ${JSON.stringify(input)} answered\n  ${JSON.stringify(seen)}\nbut plain SQL finds\n  ${JSON.stringify(expected)}`,
    );
  } finally {
    await client.end();
  }
}

function isDay(date: string): boolean {
  return date.length === 10;
}

function whereOf(input: ListInput): Where {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  const { startDate, endDate, licensePlateNumber } = input;
  add('id >= ?::uuid', startDate && firstIdAt(Date.parse(startDate)));
  add('id < ?::uuid', endDate && firstIdAt(Date.parse(endDate) + (isDay(endDate) ? DAY_MS : 1)));
  add('event_type = ?', input.eventType);
  add('sensor_id = ?::uuid', input.sensorId);
  add('processed = ?', input.processed);
  add('archived = ?', input.archived);
  add('lower(violation_type) = lower(?)', input.violationType);
  add('lower(vehicle_type) = lower(?)', input.vehicleType);
  add('lower(location_name) = lower(?)', input.locationName);
  add('plate_key LIKE ?', licensePlateNumber?.replaceAll('-', '').replace('*', '%'));
  add(
    'severity = ANY (?)',
    input.severities?.map((name) => 1 + severities.indexOf(name)),
  );
  add('vehicle_speed >= ?', input.minSpeed);
  add('lane = ?', input.lane);
  add('plate_confidence >= ?', input.minConfidence);
  add(
    'vehicle_speed >= (SELECT speed_limit FROM locations WHERE locations.id = location_id) + ?::float8',
    input.minExcess,
  );
  add('extract(hour FROM event_time(id)) = ANY (?)', input.hours);
  add('extract(dow FROM event_time(id)) = ANY (?)', input.weekdays);
  add('sensor_id IN (SELECT id FROM sensors WHERE tags && ?)', input.sensorTags);
  add('location_id IN (SELECT id FROM locations WHERE kilometre <= ?)', input.toKilometre);
  return { text: conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '', values };
}

async function plainList(client: pg.Client, input: ListInput): Promise<unknown> {
  const { text, values } = whereOf(input);
  const { sortBy = 'timestamp', sortOrder = 'desc', skip = 0 } = input;
  const { rows: counted } = await client.query(`SELECT count(*)::int AS total FROM events ${text}`, [
    ...values,
  ]);
  const { rows } = await client.query(
    `SELECT id FROM events ${text} ORDER BY ${SORT_KEYS[sortBy]} ${sortOrder} NULLS LAST, id ${sortOrder}
     LIMIT ${PAGE} OFFSET ${skip}`,
    [...values],
  );
  return { total: counted[0].total, ids: rows.map(({ id }) => id) };
}

async function plainStats(client: pg.Client, input: ListInput): Promise<unknown> {
  const { text, values } = whereOf(input);
  const { rows } = await client.query(
    `SELECT count(*)::int AS total, count(*) FILTER (WHERE processed)::int AS processed,
       count(*) FILTER (WHERE NOT processed)::int AS unprocessed, count(*) FILTER (WHERE archived)::int AS archived,
       count(*) FILTER (WHERE violation_type IS NOT NULL)::int AS violations FROM events ${text}`,
    [...values],
  );
  return rows[0];
}
