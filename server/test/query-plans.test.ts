import { type ListCasesInput, listCasesInput } from '@gantry/contract/cases';
import { type ListEventsInput, listEventsInput } from '@gantry/contract/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countWaiting, findCaseOf, listCases, roomForCases } from '../src/cases/store.ts';
import { rollUpCounts } from '../src/events/counts/roll-up.ts';
import { getEventStats } from '../src/events/counts/totals.ts';
import { listEvents, listRecentEvents } from '../src/events/list/run.ts';
import { removeEvent } from '../src/events/remove-store.ts';
import { getEvent } from '../src/events/store.ts';
import { exportedPages } from '../src/operations/transfer/store.ts';
import { createDatabase, type Database } from '../src/platform/database/pool.ts';
import type { Interval } from '../src/platform/time.ts';
import { newApiKey } from '../src/sensors/service.ts';
import { readCountedSpans, readCrossingPeriods } from '../src/traffic/periods-store.ts';
import { readCountedHours } from '../src/traffic/quality/no-hits-store.ts';
import { judgeParts, type KeptPart, sumParts } from '../src/traffic/ranking-store.ts';
import { type Segment, segmentsOf } from '../src/traffic/segments.ts';
import { readCounts } from '../src/traffic/slots-store.ts';
import { createLongHistory, EVEN, type LongHistory, marking, SENSORS } from './long-history.ts';
import { noteStatements, type Statement } from './noted-statements.ts';

// The query plans of the service's statements, from EXPLAIN.

/** A node of a plan, as EXPLAIN shows it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Join Filter'?: string;
  readonly 'Conflict Arbiter Indexes'?: readonly string[];
  readonly Plans?: readonly PlanNode[];
}

let history: LongHistory;
/** A database that records its statements. */
let db: Database;
let ids: string[];
let sent: Statement[] = [];
const everSent = new Set<string>();
/** The index of the whole table to which an index of a partition belongs. */
let wholeOf: ReadonlyMap<string, string>;

beforeAll(async () => {
  history = await createLongHistory(EVEN);
  await history.goOn();
  const { rows: open } = await history.pool.query<{ id: string }>(
    'SELECT id FROM events WHERE NOT processed ORDER BY id LIMIT 10',
  );
  ids = open.map(({ id }) => id);
  const { rows } = await history.pool.query<{ part: string; whole: string }>(
    `SELECT inhrelid::regclass::text AS part, inhparent::regclass::text AS whole FROM pg_inherits
     WHERE inhparent::regclass::text LIKE 'events%'`,
  );
  wholeOf = new Map(rows.map(({ part, whole }) => [part, whole]));
  noteStatements(history.pool, (statement) => sent.push(statement));
  db = createDatabase(history.pool);
}, 120_000);
afterAll(() => history[Symbol.asyncDispose]());

// ── The questions ───────────────────────────────────────────────────────────────────────────────────

const ENDLESS: Interval = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
const DAYS: Interval = { from: Date.UTC(2025, 1, 5), until: Date.UTC(2025, 2, 9) };
const FEW_DAYS: Interval = { from: Date.UTC(2025, 1, 5), until: Date.UTC(2025, 1, 9) };
const RAGGED_HOURS: Interval = { from: Date.UTC(2025, 0, 7, 8), until: Date.UTC(2025, 3, 9, 22) };
const RAGGED: Interval = { from: Date.UTC(2025, 0, 7, 8, 20, 1, 2), until: Date.UTC(2025, 3, 9, 22, 40, 3) };

type Queryable = () => Promise<unknown>;
/** A query with the index that it must use, and others that it may use. */
type Row = readonly [question: string, ask: Queryable, index: string, ...others: string[]];

const END = 'from its end';
const PKEY = 'events_pkey';
const HOURS = 'event_totals_folded_pkey';
const PERIODS = 'event_period_totals_pkey';
const COUNTS = [PERIODS, HOURS];
/** All days of the totals are searched for those with matching events. */
const ALL_DAYS = 'all of event_period_totals';
const ARRIVALS = `event_arrivals_folded_pkey ${END}`;

const page =
  (filters: Partial<ListEventsInput>, interval = ENDLESS, depth = 0): Queryable =>
  async () => {
    const input = listEventsInput.parse(filters);
    const { total } = await listEvents(db, input, interval, 'UTC', false);
    expect(total).toBeGreaterThan(0);
    sent = [];
    await listEvents(db, { ...input, skip: Math.floor(depth * total) }, interval, 'UTC', false);
  };

const sorted = (
  sortBy: ListEventsInput['sortBy'],
  depth: number,
  index: string,
  ...others: string[]
): Row[] =>
  (['asc', 'desc'] as const).map((sortOrder) => {
    const ask = page({ sortBy, sortOrder }, ENDLESS, depth);
    return [`by ${sortBy} ${sortOrder}, at ${100 * depth} %`, ask, index, ...others];
  });

const listed = (filters: Partial<ListEventsInput>, index: string, ...others: string[]): Row => [
  JSON.stringify(filters),
  page(filters),
  index,
  ...others,
];
const halfway = (filters: Partial<ListEventsInput>, index: string, ...others: string[]): Row => [
  `${JSON.stringify(filters)}, at 50 %`,
  page(filters, ENDLESS, 0.5),
  index,
  ...others,
];

const sensorId = SENSORS[3] ?? '';
const user = SENSORS[0] ?? '';
const one = (n: number): string => ids[n] ?? '';

const ROWS: readonly Row[] = [
  ...sorted('timestamp', 0, PKEY, PERIODS),
  ...sorted('timestamp', 0.5, PKEY, ...COUNTS),
  ...sorted('timestamp', 0.97, PKEY, ...COUNTS),
  ...sorted('createdAt', 0, `events_by_creation ${END}`, PERIODS),
  ...sorted('createdAt', 0.5, 'events_by_creation', PERIODS, ARRIVALS, PKEY),
  ...sorted('createdAt', 0.99, 'events_by_creation', PERIODS, ARRIVALS, PKEY),
  ...sorted('eventType', 0, 'events_by_type', PERIODS),
  ...sorted('eventType', 0.5, HOURS, PERIODS, PKEY, 'events_by_type'),
  ...sorted('eventType', 0.99, 'events_by_type', ...COUNTS, PKEY),
  ['by severity asc, at 0 %', page({ sortBy: 'severity', sortOrder: 'asc' }), PKEY, ...COUNTS, ALL_DAYS],
  ['by severity desc, at 0 %', page({ sortBy: 'severity' }), 'events_by_severity', PERIODS],
  ...sorted('severity', 0.5, PKEY, ...COUNTS),
  ...sorted('severity', 0.99, PKEY, ...COUNTS),
  listed({ eventType: 'INCIDENT' }, 'events_by_type', PERIODS),
  halfway({ eventType: 'INCIDENT' }, 'events_by_type', PERIODS),
  ['an event type within days', page({ eventType: 'INCIDENT' }, DAYS), 'events_by_type', ...COUNTS],
  ['days', page({}, DAYS), PKEY, ...COUNTS],
  ['a ragged range', page({}, RAGGED), PKEY, ...COUNTS],
  ['a ragged range, at 50 %', page({}, RAGGED, 0.5), PKEY, ...COUNTS],
  listed({ processed: false }, 'events_unprocessed', ...COUNTS),
  halfway({ processed: false }, 'events_unprocessed', ...COUNTS),
  listed({ processed: true }, PKEY, ...COUNTS),
  listed(
    { processed: false, eventType: 'INCIDENT' },
    'events_unprocessed',
    ...COUNTS,
    PKEY,
    'events_by_type',
  ),
  listed({ archived: true }, 'events_archived', PERIODS),
  halfway({ archived: false }, PKEY, ...COUNTS),
  listed({ violationType: 'speeding' }, 'events_by_violation', PERIODS),
  halfway({ violationType: 'speeding' }, 'events_by_violation', ...COUNTS, PKEY),
  listed({ vehicleType: 'car' }, PKEY, ...COUNTS),
  halfway({ vehicleType: 'car' }, PKEY, ...COUNTS),
  listed({ vehicleType: 'bus' }, PKEY, ...COUNTS, ALL_DAYS),
  listed({ vehicleType: 'tram' }, PKEY, ...COUNTS, ALL_DAYS),
  listed({ vehicleType: 'tram', sortBy: 'createdAt' }, PKEY, ...COUNTS, ALL_DAYS),
  listed({ sensorId }, 'events_by_sensor', PERIODS),
  halfway({ sensorId }, 'events_by_sensor', PERIODS),
  listed({ sensorId, sortBy: 'createdAt' }, 'events_by_sensor', PKEY, PERIODS),
  ['a sensor within days', page({ sensorId }, DAYS), 'events_by_sensor', PERIODS],
  listed({ locationName: 'crossing 7' }, 'events_by_location', PERIODS),
  listed({ licensePlateNumber: 'B-123' }, 'events_by_plate', PERIODS),
  listed({ licensePlateNumber: 'B-123*' }, 'events_by_plate', PKEY, PERIODS),
  listed({ licensePlateNumber: '*123' }, 'events_by_plate_end', PKEY, PERIODS),
  ['a speed within days', page({ minSpeed: 50 }, FEW_DAYS), PKEY, PERIODS],
  ['a speed within days, by severity', page({ minSpeed: 50, sortBy: 'severity' }, FEW_DAYS), PKEY, PERIODS],
  ['hours of some days', page({ hours: [7, 8] }, FEW_DAYS), PKEY, HOURS, PERIODS, 'event_hour_totals_pkey'],
  [
    'hours of some days by type',
    page({ hours: [7, 8], eventType: 'INCIDENT' }, FEW_DAYS),
    HOURS,
    PERIODS,
    PKEY,
    'events_by_type',
  ],
  ['hours of some days by speed', page({ hours: [7, 8], minSpeed: 50 }, DAYS), PKEY, PERIODS],
  ['the latest', () => listRecentEvents(db, { limit: 10 }, Date.now(), false), PKEY, PERIODS],
  [
    'the latest of a type',
    () => listRecentEvents(db, { limit: 10, eventType: 'INCIDENT' }, Date.now(), false),
    'events_by_type',
    PERIODS,
  ],
  ['one event', () => getEvent(db, one(0)), PKEY],
  ['marking one', () => marking('processed')(db, one(1), user), PKEY, 'events_unprocessed'],
  ['marking it again', () => marking('processed')(db, one(1), user), PKEY, 'events_unprocessed'],
  ['archiving one', () => marking('archived')(db, one(2), user), PKEY],
  ['deleting one', () => removeEvent(db, one(3)), PKEY, 'event_images_pkey', 'event_reviews_of_event'],
  ['statistics', () => getEventStats(db, ENDLESS), PERIODS],
  ['statistics of days', () => getEventStats(db, DAYS), PERIODS, HOURS],
  ['statistics of a ragged range', () => getEventStats(db, RAGGED), PKEY, ...COUNTS],
  [
    'the roll-up',
    () => rollUpCounts(db, 1_000),
    HOURS,
    PERIODS,
    'event_arrivals_folded_pkey',
    'event_hour_totals_pkey',
  ],
];

// ── The plans ───────────────────────────────────────────────────────────────────────────────────────

/**
 * Tables that are read whole because they have few rows: counts not rolled up yet, events not followed up yet, and
 * partitions.
 */
const READ_WHOLE = new Set([
  'all of events_to_follow_up',
  'all of event_totals_unfolded',
  'all of event_arrivals_unfolded',
  'all of pg_inherits',
  'pg_inherits_parent_index',
]);

/**
 * The indexes that a plan uses, and the tables that it reads whole; partitions are replaced by the name of their
 * table.
 */
const usedBy = (node: PlanNode): string[] => {
  const { 'Relation Name': table = '', 'Index Name': index } = node;
  const used = [...(node.Plans ?? []).flatMap(usedBy), ...(node['Conflict Arbiter Indexes'] ?? [])];
  if (node['Node Type'] === 'Seq Scan') used.push(`all of ${wholeOf.get(table) ?? table}`);
  if (node['Join Filter'] !== undefined) used.push('all of one side for each row of the other');
  const place = node['Index Cond'] === undefined ? ` ${END}` : '';
  if (index !== undefined) used.push(`${wholeOf.get(index) ?? index}${place}`);
  return used.filter((name) => !READ_WHOLE.has(name));
};

const planOf = async ({ text, values }: Statement): Promise<PlanNode[]> => {
  const { rows } = await history.pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  );
  return rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan));
};
const explain = async (statement: Statement): Promise<string[]> => (await planOf(statement)).flatMap(usedBy);
const nodesOf = (node: PlanNode): string[] => [node['Node Type'], ...(node.Plans ?? []).flatMap(nodesOf)];

describe('a query on a long history', () => {
  const questions = ROWS.map(([question, ask, index, ...others]) => ({ question, ask, index, others }));

  it.each(questions)(
    'uses its indexes, and reads no table whole: $question',
    async ({ ask, index, others }) => {
      sent = [];
      await ask();
      const statements = sent;
      for (const { text } of statements) everSent.add(text);
      const used = new Set((await Promise.all(statements.map(explain))).flat());
      expect([...used]).toContain(index);
      expect([...used].filter((name) => name !== index && !others.includes(name))).toEqual([]);
    },
  );

  it('contains nothing that a cluster of servers could not answer', () => {
    const statements = [...everSent].filter((text) => /\bevents\b/.test(text));
    expect(statements.length).toBeGreaterThan(30);
    const impossible =
      /GROUPING SETS|ROLLUP|CUBE|RECURSIVE|LATERAL|FOR (NO KEY )?(UPDATE|SHARE|KEY)|SKIP LOCKED|MERGE/i;
    // A row that is locked by its id lies in one shard, so a cluster can lock it.
    const ofOneShard = /WHERE id = \$1::uuid FOR UPDATE$/;
    expect(statements.filter((text) => impossible.test(text) && !ofOneShard.test(text))).toEqual([]);
  });
});

describe('an export of the events of sensors', () => {
  it.each([1, 3])('reads those of %s in order from their index', async (count) => {
    const sensors = SENSORS.slice(0, count);
    await history.pool.query(
      `INSERT INTO sensors (id, name, device_id, type, api_key)
       SELECT id::uuid, id, id, 'RADAR', key FROM unnest($1::text[], $2::text[]) AS new (id, key) ON CONFLICT DO NOTHING`,
      [sensors, sensors.map(newApiKey)],
    );
    sent = [];
    const filters = { from: DAYS.from, until: null, eventTypes: [], deviceIds: sensors };
    const exported: string[] = [];
    for await (const events of exportedPages(db, filters))
      exported.push(...events.map((event) => String(event.id)));
    expect(exported.length).toBeGreaterThan(1_000);
    const { rows } = await history.pool.query<{ id: string }>(
      `SELECT id FROM events WHERE sensor_id = ANY ($1::uuid[]) AND event_time(id) >= '2025-02-05T00:00Z' ORDER BY id`,
      [sensors],
    );
    expect(exported).toEqual(rows.map(({ id }) => id));
    const pages = sent.filter(({ text }) => text.includes('LIMIT'));
    expect(pages.length).toBeGreaterThan(1);
    for (const plan of (await Promise.all(pages.map(planOf))).flat()) {
      expect(new Set(usedBy(plan))).toEqual(new Set(['events_by_sensor']));
      expect(nodesOf(plan).filter((type) => type.includes('Sort'))).toEqual([]);
    }
  });
});

describe('a figure of traffic of a long time', () => {
  const BY_SENSOR_OR_LOCATION = [
    'traffic_bins_minutes_sensor_id_slot_location_id_source_key',
    'traffic_bins_of_location',
  ];
  const segments: Segment[] = [{ minutes: 60, ...RAGGED_HOURS }];
  const counting = [{ sensorId, source: 4 }];
  const parts = SENSORS.slice(0, 20).flatMap((id): KeptPart[] =>
    [1_440, 60].map((minutes) => ({
      ...{ locationId: id, sensorId: id, source: 4, limit: 50, minutes: minutes as 60 | 1_440 },
      ...{ from: DAYS.from, until: DAYS.until },
    })),
  );

  beforeAll(async () => {
    await history.pool.query(
      `INSERT INTO traffic_bins (minutes, sensor_id, location_id, source, slot, events, vehicles, measured, speed_sum, cells, measures, sums, counted_share)
       SELECT minutes, id::uuid, id::uuid, 4, slot, 0, 10, 10, 500000, '{1,1,1}', '{-5,-4,50}', ARRAY[3600000, 3600000, 10], 1
       FROM unnest($1::text[]) AS sensor (id), (VALUES (60, interval '1 hour'), (1440, interval '1 day')) AS level (minutes, step),
         generate_series('2025-01-01Z'::timestamptz, '2025-05-31Z', step) AS slot`,
      [SENSORS],
    );
    await history.pool.query(
      `INSERT INTO traffic_periods (sensor_id, direction, lane, movement, start, seconds, location_id, content)
       SELECT id::uuid, '', '', '', start, 1800, id::uuid, '{"volume": 10, "status": "OK"}'
       FROM unnest($1::text[]) AS sensor (id), generate_series('2025-01-01Z'::timestamptz, '2025-05-31Z', interval '30 minutes') AS start`,
      [SENSORS.slice(0, 30)],
    );
    await history.pool.query(
      `UPDATE traffic_kept SET longer_until = '2025-06-01Z'; ANALYZE traffic_bins, traffic_periods`,
    );
  });

  it.each<readonly [question: string, ask: Queryable]>([
    ['volumes', () => readCounts(db, { sensorIds: [sensorId] }, counting, segments, { detail: 'sums' })],
    ['what is covered', () => readCountedSpans(db, [sensorId], segments)],
    ['hours with vehicles', () => readCountedHours(db, [sensorId], RAGGED_HOURS)],
    ['sums of parts for a ranking', () => sumParts(db, parts)],
    ['speeds of parts for a ranking', () => judgeParts(db, parts)],
  ])('reads its rows by their index: %s', async (_, ask) => {
    sent = [];
    await ask();
    const used = (await Promise.all(sent.map(explain))).flat();
    const read = used.filter((name) => name.includes('traffic_bins'));
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((name) => !BY_SENSOR_OR_LOCATION.includes(name))).toEqual([]);
  });

  it('looks for periods that cross hours or quarter hours among these only', async () => {
    sent = [];
    const whole = segmentsOf({ from: RAGGED_HOURS.from + 30 * 60_000, until: RAGGED_HOURS.until });
    await readCrossingPeriods(db, [sensorId], { sensorIds: [sensorId] }, whole);
    const used = (await Promise.all(sent.map(explain))).flat();
    expect(new Set(used.filter((name) => name.includes('traffic_periods')))).toEqual(
      new Set(['traffic_periods_across_hours', 'traffic_periods_across_quarters']),
    );
  });
});

describe('a list of cases', () => {
  const me = { id: SENSORS[0] ?? '', role: 'ADMIN' as const };
  const casesLike =
    (filters: Partial<ListCasesInput>): Queryable =>
    () =>
      listCases(db, me, { ...listCasesInput.parse(filters), plate: filters.search }, ENDLESS);

  beforeAll(async () => {
    // As many as may be open, and those of the years before.
    await history.pool.query(
      `INSERT INTO cases (number, kind, state, violation_type, title, happened_at, sensor_id, plate, plate_key, needs_second, first_by, first_at,
         decided_by, decided_at, code, closed_at, closed_by)
       SELECT '2025-' || lpad(n::text, 6, '0'), 'VIOLATION', state, (ARRAY['SPEEDING', 'RED_LIGHT'])[1 + (n % 50 = 0)::int],
         repeat('x', 300), '2020-01-01Z'::timestamptz + n * interval '1 hour', ($1::uuid[])[1 + n % cardinality($1::uuid[])],
         'B AB ' || n, 'BAB' || n, true, first_by, CASE WHEN first_by IS NOT NULL THEN now() END,
         CASE WHEN state = 'REJECTED' THEN $2::uuid END, CASE WHEN state = 'REJECTED' THEN now() END,
         CASE WHEN state = 'REJECTED' THEN (ARRAY['UNREADABLE', 'EQUIPMENT'])[1 + (n % 500 = 0)::int] END,
         CASE WHEN n < 30000 THEN now() END, CASE WHEN n < 30000 THEN $2::uuid END
       FROM (
         SELECT n, CASE WHEN n < 30000 OR n % 10 = 0 THEN 'REJECTED' WHEN n % 2 = 0 THEN 'CHECKED' ELSE 'NEW' END AS state,
           CASE WHEN n % 100 = 2 THEN $2::uuid WHEN n % 2 = 0 THEN ($1::uuid[])[2] END AS first_by
         FROM generate_series(0, 39999) AS n
       ) AS given`,
      [SENSORS, me.id],
    );
    await history.pool.query('VACUUM ANALYZE cases');
  });

  it.each<readonly [question: string, ask: Queryable, index: string]>([
    ['open ones', casesLike({ closed: false }), 'cases_open_by_time'],
    ['new ones', casesLike({ closed: false, states: ['NEW'] }), 'cases_open'],
    ['those that wait for a second person', casesLike({ mine: 'SECOND' }), 'cases_open'],
    ['those that a user checked', casesLike({ mine: 'FIRST' }), 'cases_by_first'],
    ['a type', casesLike({ violationType: 'red_light' }), 'cases_by_violation'],
    ['a type that there is none of', casesLike({ violationType: 'x' }), 'cases_by_violation'],
    ['a code', casesLike({ code: 'EQUIPMENT' }), 'cases_by_code'],
    ['a sensor', casesLike({ sensorId }), 'cases_of_sensor'],
    ['a plate', casesLike({ search: 'B-AB 1234' }), 'cases_by_plate'],
    ['how many wait', () => countWaiting(db, me), 'cases_open'],
    ['how many more may be opened', () => roomForCases(db), 'cases_open'],
    ['the case of an event', () => findCaseOf(db, { kind: 'VIOLATION', id: one(0) }), 'cases_of_event'],
  ])('reads no more cases than it must: %s', async (_, ask, index) => {
    sent = [];
    await ask();
    expect(sent.length).toBeGreaterThan(0);
    for (const statement of [...sent]) {
      const used = await explain(statement);
      expect(used.filter((name) => name.startsWith('all of cases'))).toEqual([]);
      expect(used.join(' ')).toContain(index);
    }
  });
});

// Without inlining, a call costs five times as much, for every event that is rolled up, marked or counted again.
it.each(['event_time', 'event_hour'])('%s is inlined', async (name) => {
  const { rows } = await history.pool.query(`EXPLAIN VERBOSE SELECT ${name}(id) FROM events`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('uuid_send(');
  expect(plan).not.toContain(name);
});
