import { DAY_MS } from '@gantry/contract/durations';
import { eventType, type ListEventsInput } from '@gantry/contract/events';
import type { Random } from '@gantry/simulator/src/random.ts';
import { lastYear } from './fill-detector.ts';
import { ROAD, TAG } from './history.ts';
import type { Sample } from './sample.ts';

/**
 * The limits of a query: the p99 in milliseconds, and the ratio of the medians of the largest and the smallest history.
 */
export interface Goals {
  readonly p99?: number;
  readonly ratio?: number;
}

export type ListInput = Partial<ListEventsInput>;

/** What is asked: of a list, or of one event, or of a page of figures. */
type Input = ListInput & {
  id?: string;
  limit?: number;
  repeatPlates?: boolean;
  interval?: string;
  year?: number;
  locationId?: string;
};

/** A kind of query with varied arguments. */
export interface Question {
  readonly group: string;
  readonly name: string;
  readonly procedure: string;
  readonly input: (sample: Sample, random: Random) => Input;
  /** The position of the requested page within the list, as a fraction of its length; 0 by default. */
  readonly depth?: number;
  readonly isMutation?: boolean;
  /** Number of concurrent queries; 1 by default. */
  readonly atOnce?: number;
  /** How often it is asked at most, for questions that take seconds. */
  readonly mostAsks?: number;
  readonly goals: Goals;
}

/** For questions that read the whole history. */
const FEW_ASKS = 12;

/** The goals of queries that a page makes when it is opened. */
const SCREEN: Goals = { p99: 50 };

/** The goals of queries on counts, whose duration must not depend on the length of the history either. */
const COUNTED: Goals = { p99: 50, ratio: 2 };
const DEEPEST: Goals = { ratio: 3 };

function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random.next() * items.length)];
  if (item === undefined) throw new RangeError('Nothing to choose from');
  return item;
}

function someTimes({ from, until }: Sample, random: Random): [number, number] {
  const [a, b] = [random.next(), random.next()].map((share) => Math.floor(from + share * (until - from)));
  return [Math.min(a ?? from, b ?? from), Math.max(a ?? until, b ?? until)];
}

function someDays(sample: Sample, random: Random) {
  const [from, until] = someTimes(sample, random).map((time) => new Date(time).toISOString().slice(0, 10));
  return { startDate: from ?? '', endDate: until ?? '' };
}

/** A random week. */
function aWeek({ from, until }: Sample, random: Random) {
  const start = from + random.next() * (until - from - 7 * DAY_MS);
  const [startDate, endDate] = [start, start + 6 * DAY_MS].map((time) =>
    new Date(time).toISOString().slice(0, 10),
  );
  return { startDate: startDate ?? '', endDate: endDate ?? '' };
}

function wholeHistory({ from, until }: Sample) {
  return { startDate: new Date(from).toISOString(), endDate: new Date(until).toISOString() };
}

function raggedRange(sample: Sample, random: Random) {
  const [from, until] = someTimes(sample, random);
  return { startDate: new Date(from).toISOString(), endDate: new Date(until).toISOString() };
}

function list(group: string, name: string, input: Question['input'], goals: Goals, depth?: number): Question {
  return {
    group,
    name,
    procedure: 'events.getAll',
    input,
    goals,
    ...(depth !== undefined && { depth }),
  };
}

const SORTS = ['timestamp', 'createdAt', 'eventType', 'severity'] as const;
const ORDERS = ['desc', 'asc'] as const;

const statistics: Question[] = [
  { name: 'no range', input: () => ({}) },
  { name: 'whole days', input: someDays },
  { name: 'ragged range', input: raggedRange },
].map(({ name, input }) => ({
  group: 'getStats',
  name,
  procedure: 'events.getStats',
  input,
  goals: COUNTED,
}));

const firstPages = SORTS.flatMap((sortBy) =>
  ORDERS.map((sortOrder) =>
    list('getAll', `first page, ${sortBy} ${sortOrder}`, () => ({ sortBy, sortOrder }), COUNTED),
  ),
);

const filtered = [
  list('getAll', 'eventType', (_, random) => ({ eventType: pick(eventType.options, random) }), COUNTED),
  list('getAll', 'dates, whole days', someDays, COUNTED),
  list('getAll', 'dates, ragged', raggedRange, COUNTED),
  list('getAll', 'processed', (_, random) => ({ processed: random.chance(0.5) }), COUNTED),
  list('getAll', 'archived', (_, random) => ({ archived: random.chance(0.5) }), COUNTED),
  list(
    'getAll',
    'violationType',
    (sample, random) => ({ violationType: pick(sample.violationTypes, random) }),
    COUNTED,
  ),
  list(
    'getAll',
    'vehicleType',
    (sample, random) => ({ vehicleType: pick(sample.vehicleTypes, random) }),
    COUNTED,
  ),
  list('getAll', 'sensorId', (sample, random) => ({ sensorId: pick(sample.sensorIds, random) }), SCREEN),
  list(
    'getAll',
    'locationName',
    (sample, random) => ({ locationName: pick(sample.locations, random) }),
    SCREEN,
  ),
  list(
    'getAll',
    'licensePlateNumber, exact',
    (sample, random) => ({ licensePlateNumber: pick(sample.plates, random) }),
    SCREEN,
  ),
  list(
    'getAll',
    'licensePlateNumber, 1AB2*',
    (sample, random) => ({ licensePlateNumber: `${pick(sample.plates, random).slice(0, 4)}*` }),
    SCREEN,
  ),
  list(
    'getAll',
    'licensePlateNumber, *4711',
    (sample, random) => ({ licensePlateNumber: `*${pick(sample.plates, random).slice(-4)}` }),
    SCREEN,
  ),
];

const pairs = [
  list(
    'getAll',
    'eventType + dates',
    (sample, random) => ({ eventType: pick(eventType.options, random), ...aWeek(sample, random) }),
    COUNTED,
  ),
  list(
    'getAll',
    'processed=false + eventType',
    (_, random) => ({ processed: false, eventType: pick(eventType.options, random) }),
    COUNTED,
  ),
  list(
    'getAll',
    'sensorId + dates',
    (sample, random) => ({ sensorId: pick(sample.sensorIds, random), ...aWeek(sample, random) }),
    SCREEN,
  ),
];

/** Filters that the totals and the other indexes do not answer: of a week as of the whole history. */
const reads = [
  list('getAll reads', 'severities', () => ({ severities: ['LOW', 'CRITICAL'] }), COUNTED),
  list('getAll reads', 'hours of the night', () => ({ hours: [22, 23, 0, 1, 2, 3] }), SCREEN),
  list(
    'getAll reads',
    'hours of weekends + eventType',
    (_, random) => ({ hours: [6, 7], weekdays: [0, 6], eventType: pick(eventType.options, random) }),
    SCREEN,
  ),
  ...(
    [
      ['minSpeed', () => ({ minSpeed: 80 })],
      ['minExcess', () => ({ minExcess: 30 })],
      ['minExcess + hours', () => ({ minExcess: 10, hours: [14, 15] })],
      ['lane', (random: Random) => ({ lane: random.whole(1, 3) })],
      ['minConfidence', () => ({ minConfidence: 90 })],
      ['sensorTags', () => ({ sensorTags: [TAG] })],
      ['road + kilometres', (random: Random) => ({ road: ROAD, toKilometre: random.whole(5, 90) })],
      ['minSpeed, severity desc', () => ({ minSpeed: 60, sortBy: 'severity' as const })],
      ['minSpeed, createdAt desc', () => ({ minSpeed: 60, sortBy: 'createdAt' as const })],
    ] as const
  ).flatMap(([name, input]) => [
    list(
      'getAll reads',
      `${name}, a week`,
      (sample, random) => ({ ...input(random), ...aWeek(sample, random) }),
      SCREEN,
    ),
    {
      ...list('getAll reads', `${name}, all`, (_, random) => input(random), {}),
      mostAsks: FEW_ASKS,
    },
  ]),
];

const deep = [
  ...[0.01, 0.5].map((depth) =>
    list('getAll deep', `timestamp desc, ${depth * 100} %`, () => ({}), {}, depth),
  ),
  ...SORTS.map((sortBy) => list('getAll deep', `${sortBy} desc, 99 %`, () => ({ sortBy }), DEEPEST, 0.99)),
  ...SORTS.slice(1).map((sortBy) => list('getAll deep', `${sortBy} desc, 50 %`, () => ({ sortBy }), {}, 0.5)),
  list(
    'getAll deep',
    'eventType, 50 %',
    (_, random) => ({ eventType: pick(eventType.options, random) }),
    {},
    0.5,
  ),
  list(
    'getAll deep',
    'vehicleType, 50 %',
    (sample, random) => ({ vehicleType: pick(sample.vehicleTypes, random) }),
    {},
    0.5,
  ),
  list('getAll deep', 'processed=false, 50 %', () => ({ processed: false }), {}, 0.5),
  list('getAll deep', 'dates, ragged, 50 %', raggedRange, {}, 0.5),
  list(
    'getAll deep',
    'sensorId, 50 %',
    (sample, random) => ({ sensorId: pick(sample.sensorIds, random) }),
    {},
    0.5,
  ),
];

const single: Question[] = [
  {
    group: 'getRecent',
    name: 'any type, or one',
    procedure: 'events.getRecent',
    input: (_, random) => (random.chance(0.5) ? {} : { eventType: pick(eventType.options, random) }),
    goals: COUNTED,
  },
  {
    group: 'getById',
    name: '',
    procedure: 'events.getById',
    input: (sample, random) => ({ id: pick(sample.ids, random) }),
    goals: COUNTED,
  },
  {
    group: 'sensors.getAll',
    name: 'of 10,000 sensors',
    procedure: 'sensors.getAll',
    input: (_, random) => ({ skip: 10 * random.whole(0, 500) }),
    goals: SCREEN,
  },
];

/** What the page of analytics asks, which shows the repeated plates later than the rest. */
const analytics: Question[] = [
  ...[
    { name: 'a week', input: aWeek },
    { name: 'the whole history', input: wholeHistory },
  ].map(({ name, input }) => ({
    group: 'getAnalytics',
    name,
    procedure: 'reports.getAnalytics',
    input: (sample: Sample, random: Random) => ({ ...input(sample, random), repeatPlates: false }),
    goals: SCREEN,
  })),
  { group: 'getRepeatPlates', name: 'a week', procedure: 'reports.getRepeatPlates', input: aWeek, goals: {} },
];

/** A random local month, without the last days of long ones. */
function aMonth({ from, until }: Sample, random: Random) {
  const start = from + random.next() * (until - from - 30 * DAY_MS);
  const [startDate, endDate] = [start, start + 29 * DAY_MS].map((time) =>
    new Date(time).toISOString().slice(0, 10),
  );
  return { startDate: startDate ?? '', endDate: endDate ?? '' };
}

/** Figures of a detector with a year of quarter hours in two directions, with classes and speeds. */
const traffic: Question[] = [
  {
    name: 'getCounts, quarter hours of a month',
    procedure: 'traffic.getCounts',
    input: (sample: Sample, random: Random) => ({ interval: '15min', ...aMonth(sample, random) }),
    p99: 100,
  },
  {
    name: 'getFlow, quarter hours of a month',
    procedure: 'traffic.getFlow',
    input: (sample: Sample, random: Random) => ({ interval: '15min', ...aMonth(sample, random) }),
    p99: 100,
  },
  {
    name: 'getAadt',
    procedure: 'traffic.getAadt',
    input: ({ until }: Sample) => ({ year: new Date(until).getUTCFullYear() }),
    p99: 50,
  },
  { name: 'getSpeedStudy, a week', procedure: 'traffic.getSpeedStudy', input: aWeek, p99: 150 },
].map(({ input, p99, ...question }) => ({
  group: 'traffic',
  ...question,
  input: (sample: Sample, random: Random) => ({ sensorId: sample.detectorId, ...input(sample, random) }),
  goals: { p99 },
}));

/** Figures of years that are over, which are stored. */
const network: Question[] = [
  {
    group: 'traffic',
    name: 'getAadt, a year that is over',
    procedure: 'traffic.getAadt',
    input: ({ networkId, until }) => ({ locationId: networkId, year: lastYear({ until }) }),
    goals: { p99: 50 },
  },
  {
    group: 'traffic',
    name: 'getNetworkAadt of 1,000 locations',
    procedure: 'traffic.getNetworkAadt',
    input: ({ until }) => ({ year: lastYear({ until }), take: 1_000 }),
    goals: { p99: 500 },
  },
];

function unprocessedOne(sample: Sample): { id: string } {
  return { id: sample.unprocessed.pop() ?? '' };
}
const marks: Question[] = [1, 16].map((atOnce) => ({
  group: 'markAsProcessed',
  name: atOnce === 1 ? 'one' : `${atOnce} at once`,
  procedure: 'events.markAsProcessed',
  input: unprocessedOne,
  isMutation: true,
  atOnce,
  goals: {},
}));

/** All queries, in this order. Marking comes last, because it changes what the others count. */
export const QUESTIONS: readonly Question[] = [
  ...statistics,
  ...firstPages,
  ...filtered,
  ...pairs,
  ...reads,
  ...deep,
  ...single,
  ...analytics,
  ...traffic,
  ...network,
  ...marks,
];
