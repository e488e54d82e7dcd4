import { HOUR_MS } from '@gantry/contract/durations';
import { eventType, type ListEventsInput, listEventsInput } from '@gantry/contract/events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timeOfId } from '../src/events/id.ts';
import { listEvents } from '../src/events/list/run.ts';
import type { Interval } from '../src/platform/time.ts';
import { createLongHistory, type LongHistory, SENSORS, SPARSE } from './long-history.ts';
import { lengthOf } from './test-length.ts';

// A page that is found by counts must equal the page found by sorting all events. The counts are rolled up for most of
// the history, but not yet for recent additions and changes.

type Filters = Partial<ListEventsInput>;
type SortBy = ListEventsInput['sortBy'];
type SortOrder = ListEventsInput['sortOrder'];
interface Question {
  readonly filters: Filters;
  readonly interval: Interval;
  readonly sortBy: SortBy;
  readonly sortOrder: SortOrder;
}

const ENDLESS: Interval = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
/** The numbers at which the service changes its strategy for a list. */
const LIMITS = [1_000, 5_000];
const around = (n: number): number[] => [n - 1, n, n + 1];

const SORTS = (['timestamp', 'createdAt', 'eventType', 'severity'] as const).flatMap((sortBy) =>
  (['asc', 'desc'] as const).map((sortOrder) => ({ sortBy, sortOrder })),
);
const VALUES = {
  eventType: eventType.options,
  processed: [true, false],
  archived: [true, false],
  violationType: ['speeding', 'WRONG_WAY', 'nothing like it'],
  vehicleType: ['CAR', 'truck', 'bus', 'TRAM'],
} as const;
const COUNTED_FILTERS: Filters[] = Object.entries(VALUES).flatMap(([name, values]) =>
  values.map((value) => ({ [name]: value })),
);
const SEARCHES: Filters[] = [
  { sensorId: SENSORS[7] ?? '' },
  { locationName: 'CROSSING 12' },
  { licensePlateNumber: 'b 1234' },
  { licensePlateNumber: 'B-12*' },
  { licensePlateNumber: 'B*' },
  { licensePlateNumber: '*99' },
];

let history: LongHistory;

beforeAll(async () => {
  history = await createLongHistory(SPARSE);
  await history.goOn();
  // The independent implementation reads this table: no partitions, no index, and the time in a column.
  await history.pool.query('CREATE TABLE plain AS SELECT *, event_time(id) AS at FROM events');
  await history.pool.query('ANALYZE plain');
}, 120_000);
afterAll(() => history[Symbol.asyncDispose]());

const CONDITIONS: Readonly<Record<string, string>> = {
  eventType: 'event_type = ?',
  processed: 'processed = ?',
  archived: 'archived = ?',
  violationType: 'lower(violation_type) = lower(?)',
  vehicleType: 'lower(vehicle_type) = lower(?)',
  sensorId: 'sensor_id = ?',
  locationName: 'lower(location_name) = lower(?)',
  licensePlateNumber: `plate_key LIKE replace(upper(regexp_replace(?, '[ -]', '', 'g')), '*', '%')`,
};
const COLUMNS = {
  timestamp: 'at',
  createdAt: 'created_at',
  eventType: 'event_type',
  severity: 'severity',
} as const;

/** A cached result of the independent implementation: nothing is stored meanwhile. */
const once = <Found>(find: (key: string) => Promise<Found>): ((key: string) => Promise<Found>) => {
  const found = new Map<string, Promise<Found>>();
  return (key) => {
    const known = found.get(key) ?? find(key);
    found.set(key, known);
    return known;
  };
};

/** Every event in the order of a sort, with its time. */
const everythingBy = once(async (order: string) => {
  const { rows } = await history.pool.query<{ id: string; at: number }>(
    `SELECT id, (extract(epoch FROM at) * 1000)::float8 AS at FROM plain ORDER BY ${order}`,
  );
  return rows;
});

/** The ids of the events that meet one filter, which is its name and value as JSON. */
const meeting = once(async (filter: string): Promise<ReadonlySet<string>> => {
  const [name, value] = JSON.parse(filter);
  const condition = (CONDITIONS[name] ?? '').replace('?', '$1');
  const { rows } = await history.pool.query<{ id: string }>(`SELECT id FROM plain WHERE ${condition}`, [
    value,
  ]);
  return new Set(rows.map(({ id }) => id));
});

/** The ids of the whole list, by reading every event. */
const naiveIds = async ({ filters, interval, sortBy, sortOrder }: Question): Promise<string[]> => {
  const everything = await everythingBy(`${COLUMNS[sortBy]} ${sortOrder} NULLS LAST, id ${sortOrder}`);
  const wanted = await Promise.all(Object.entries(filters).map((filter) => meeting(JSON.stringify(filter))));
  const { from, until } = interval;
  return everything.flatMap(({ id, at }) =>
    at >= from && at < until && wanted.every((ids) => ids.has(id)) ? [id] : [],
  );
};

const expectPage = async (question: Question, ids: readonly string[], skip: number, take: number) => {
  const { filters, interval, sortBy, sortOrder } = question;
  const input = listEventsInput.parse({ ...filters, sortBy, sortOrder, skip, take });
  const { items, total } = await listEvents(history.db, input, interval, 'UTC', false);
  const asked = JSON.stringify({ ...input, ...interval });
  expect(total, asked).toBe(ids.length);
  expect(
    items.map(({ id }) => id),
    asked,
  ).toEqual(ids.slice(skip, skip + take));
};

/**
 * The offsets of the requested pages: at the ends of the list, within it, and where the service changes its strategy.
 */
const skipsOf = (total: number): number[] => {
  const places = [0, 0.01, 0.5, 0.99, 1].map((share) => Math.floor(share * total));
  const skips = [...places, 1_000, total - 50 - 1_000];
  return [...new Set(skips)].filter((skip) => skip >= 0);
};

/** Only every nth of these offsets is requested. Lists begin at different ones, so that all are covered. */
const STRIDE = lengthOf({ gate: 7, full: 1 });
let lists = 0;

const expectPages = async (question: Question): Promise<number> => {
  const ids = await naiveIds(question);
  const turn = lists++ % STRIDE;
  const skips = skipsOf(ids.length).filter((_, at) => at % STRIDE === turn);
  // If none of the offsets of a short list is due in this turn, its first page is requested.
  for (const skip of skips.length === 0 ? [0] : skips) await expectPage(question, ids, skip, 50);
  return ids.length;
};

const aSort = fc.constantFrom(...SORTS);
const aTime = fc.oneof(
  fc.integer({ min: Date.UTC(2020, 11), max: Date.UTC(2026, 1) }),
  fc.integer({ min: Date.UTC(2022, 5, 17, 9), max: Date.UTC(2022, 5, 17, 15) }),
  fc.integer({ min: Date.UTC(2025, 11, 31, 20), max: Date.UTC(2026, 0) }),
  fc
    .integer({ min: Date.UTC(2020, 11) / HOUR_MS, max: Date.UTC(2026, 1) / HOUR_MS })
    .map((hour) => hour * HOUR_MS),
);
const anInterval = fc.record({
  from: fc.oneof({ arbitrary: aTime, weight: 5 }, fc.constant(Number.NEGATIVE_INFINITY)),
  until: fc.oneof({ arbitrary: aTime, weight: 5 }, fc.constant(Number.POSITIVE_INFINITY)),
});
const someFilters = (most: number): fc.Arbitrary<Filters> =>
  fc.subarray(COUNTED_FILTERS, { maxLength: most }).map((filters): Filters => Object.assign({}, ...filters));
const aDepth = fc.double({ min: 0, max: 1.05, noNaN: true });

const expectAnyPage = (numRuns: number, aFilter: fc.Arbitrary<Filters>, interval: fc.Arbitrary<Interval>) =>
  fc.assert(
    fc.asyncProperty(
      fc.record({ filters: aFilter, interval, sort: aSort }),
      fc.array(fc.tuple(aDepth, fc.integer({ min: 1, max: 100 })), { minLength: 3, maxLength: 5 }),
      async ({ filters, interval, sort }, pages) => {
        const question = { filters, interval, ...sort };
        const ids = await naiveIds(question);
        for (const [depth, take] of pages)
          await expectPage(question, ids, Math.floor(depth * ids.length), take);
      },
    ),
    { numRuns },
  );

describe('a page of a long and sparse history is exactly its part of the whole list', () => {
  it.each(SORTS)('by $sortBy $sortOrder, of all events and with each filter', async (sort) => {
    const totals = [];
    for (const filters of [{}, ...COUNTED_FILTERS, ...SEARCHES])
      totals.push(await expectPages({ filters, interval: ENDLESS, ...sort }));
    expect(Math.max(...totals)).toBeGreaterThan(40_000);
    expect(totals).toContain(0);
  });

  it.each(SORTS)('by $sortBy $sortOrder, around the limits of the number of events', async (sort) => {
    lists++;
    const oldest = { interval: ENDLESS, sortBy: 'timestamp', sortOrder: 'asc' } as const;
    for (const filters of [{}, { processed: true }]) {
      const ids = await naiveIds({ ...oldest, filters });
      for (const n of LIMITS.flatMap(around)) {
        const question = { filters, interval: { ...ENDLESS, until: timeOfId(ids[n] ?? '') }, ...sort };
        const found = await naiveIds(question);
        expect(found).toHaveLength(n);
        // In the gate, only one of these offsets is requested, in turn, and not the same one for each sort.
        const skips = [999, 1_000, 1_001].filter((_, at) => STRIDE === 1 || at === lists % 3);
        lists++;
        for (const skip of skips) await expectPage(question, found, skip, 50);
      }
    }
  });

  it('with two or three filters at once', () =>
    expectAnyPage(lengthOf({ gate: 12, full: 30 }), someFilters(3), fc.constant(ENDLESS)));

  it('within any dates, with any filter', () =>
    expectAnyPage(lengthOf({ gate: 20, full: 50 }), someFilters(2), anInterval));

  it('after all counts were rolled up', async () => {
    await history.rollUpAll();
    await expectAnyPage(
      lengthOf({ gate: 12, full: 30 }),
      someFilters(2),
      fc.oneof(anInterval, fc.constant(ENDLESS)),
    );
  });
});
