import { type ListEventsInput, listEventsInput } from '@gantry/contract/events';
import { describe, expect, it } from 'vitest';
import type { Count } from '../src/events/counts/covering.ts';
import { ofSeverity, ofType, type TotalledFilter } from '../src/events/list/filters.ts';
import {
  type Counted,
  type Plan,
  planPage,
  planSpans,
  readingWithin,
  type Step,
} from '../src/events/list/plan.ts';
import { ENDLESS, type Interval } from '../src/platform/time.ts';

// Which index or counts answer a page of the event list, from which place, and in which direction.

const Y24 = Date.UTC(2024, 0);
const Y25 = Date.UTC(2025, 0);
const Y26 = Date.UTC(2026, 0);
const IN_25: Interval = { from: Y25 + 1_000, until: Y26 - 1_000 };
const years = (...n: number[]): Count[] =>
  n.map((each, at) => ({ start: [Y24, Y25, Y26][at] ?? 0, n: each }));

const unindexed: TotalledFilter = { ...ofType('INCIDENT'), isIndexed: false };
const typed = ofType('INCIDENT');

const totals = (...n: number[]): Counted => ({
  by: 'totals',
  spans: [ENDLESS],
  groups: [{ kind: null, years: years(...n) }],
});
const events = (total: number | null, isInOrder = true): Counted => ({
  by: 'events',
  spans: [IN_25],
  total,
  isInOrder,
});
const severities = (...n: (readonly [rank: number, n: number])[]): Counted => ({
  by: 'totals',
  spans: [ENDLESS],
  groups: n.map(([rank, each]) => ({ kind: { key: rank, filter: ofSeverity(rank) }, years: years(each) })),
});
const types = (...n: (readonly [type: string, n: number])[]): Counted => ({
  by: 'totals',
  spans: [ENDLESS],
  groups: n.map(([type, each]) => ({ kind: { key: type, filter: ofType(type) }, years: years(each) })),
});

const plan = (
  input: Partial<ListEventsInput>,
  counted: Counted,
  filters: readonly TotalledFilter[] = [],
  interval = ENDLESS,
): Plan => planPage({ input: listEventsInput.parse({ take: 50, ...input }), filters, interval }, counted);

/** A plan in one line: each step with its source, the place of its page, and the direction in which it is read. */
const shown = (made: Plan): string => {
  if (made.by !== 'steps') return made.by;
  return [`${made.total}`, ...made.steps.map(stepShown)].join(': ');
};
const stepShown = (step: Step): string => {
  if (step.by !== 'index') return `${step.by} ${step.ranks.first}-${step.ranks.last} ${step.ranks.direction}`;
  const { sortBy, direction, skip, take, isReversed } = step.reading;
  return `index ${sortBy} ${direction} ${skip}+${take}${isReversed ? ' reversed' : ''}`;
};

type Row = readonly [what: string, made: () => Plan, expected: string];

const ROWS: readonly Row[] = [
  ['nothing found', () => plan({}, totals()), '0'],
  ['after the end', () => plan({ skip: 100 }, totals(60, 40)), '100'],
  ['the latest', () => plan({}, totals(0, 9_000)), '9000: index timestamp desc 0+50'],
  ['the earliest', () => plan({ sortOrder: 'asc' }, totals(9_000)), '9000: index timestamp asc 0+50'],
  ['the last page', () => plan({ skip: 8_980 }, totals(9_000)), '9000: index timestamp asc 0+20 reversed'],
  ['near an end', () => plan({ skip: 1_000 }, totals(9_000)), '9000: index timestamp desc 1000+50'],
  ['far from both', () => plan({ skip: 1_001 }, totals(9_000)), '9000: hours 7949-7998 desc'],
  [
    'far, from the start',
    () => plan({ skip: 4_000, sortOrder: 'asc' }, totals(9_000)),
    '9000: hours 4000-4049 asc',
  ],
  ['an indexed filter', () => plan({}, totals(9_000), [typed]), '9000: index timestamp desc 0+50'],
  ['a filter without an index', () => plan({}, totals(9_000), [unindexed]), '9000: hours 8950-8999 desc'],
  ['two filters', () => plan({}, totals(9_000), [typed, typed]), '9000: hours 8950-8999 desc'],

  ['by arrival', () => plan({ sortBy: 'createdAt' }, totals(100)), '100: index createdAt desc 0+50'],
  [
    'by arrival, far',
    () => plan({ sortBy: 'createdAt', skip: 1_001 }, totals(9_000)),
    '9000: arrivals 7949-7998 desc',
  ],
  [
    'by arrival, few of a filter',
    () => plan({ sortBy: 'createdAt' }, totals(5_000), [typed]),
    'sorting hours',
  ],
  ['by arrival, few of a year', () => plan({ sortBy: 'createdAt' }, totals(9), [], IN_25), 'sorting hours'],
  [
    'by arrival, many of a filter',
    () => plan({ sortBy: 'createdAt', skip: 2_000 }, totals(5_001), [typed]),
    '5001: index createdAt desc 2000+50',
  ],
  ['by arrival, after the end', () => plan({ sortBy: 'createdAt', skip: 9 }, totals(9)), '9'],

  [
    'by type',
    () => plan({ sortBy: 'eventType', sortOrder: 'asc', skip: 80 }, types(['A', 90], ['B', 5], ['C', 900])),
    '995: index timestamp desc 0+10 reversed: index timestamp asc 0+5: index timestamp asc 0+35',
  ],
  [
    'by type, backwards',
    () => plan({ sortBy: 'eventType' }, types(['A', 90], ['B', 20])),
    '110: index timestamp desc 0+20: index timestamp desc 0+30',
  ],
  [
    'by severity, those without last',
    () => plan({ sortBy: 'severity', sortOrder: 'asc', take: 10 }, severities([0, 5], [3, 4], [4, 2])),
    '11: index timestamp asc 0+4: index timestamp asc 0+2: hours 0-3 asc',
  ],
  [
    'by severity, backwards, those without last',
    () => plan({ sortBy: 'severity', take: 10 }, severities([0, 5], [3, 4], [4, 2])),
    '11: index timestamp desc 0+2: index timestamp desc 0+4: hours 1-4 desc',
  ],

  ['a sensor', () => plan({ skip: 10 }, events(100)), '100: index timestamp desc 10+50'],
  ['a sensor, near its end', () => plan({ skip: 90 }, events(100)), '100: index timestamp asc 0+10 reversed'],
  ['a sensor, far', () => plan({ skip: 30_000 }, events(90_000)), '90000: index timestamp desc 30000+50'],
  ['a sensor, after the end', () => plan({ skip: 100 }, events(100)), '100'],
  ['a sensor, by arrival', () => plan({ sortBy: 'createdAt' }, events(20_000)), 'sorting'],
  [
    'a busy sensor, by arrival',
    () => plan({ sortBy: 'createdAt' }, events(20_001)),
    '20001: index createdAt desc 0+50',
  ],
  ['a pattern of plates', () => plan({}, events(null)), 'sorting'],
  ['a place in several spellings', () => plan({}, events(100, false)), 'sorting'],
];

describe('the plan of a page of events', () => {
  it.each(ROWS)('of %s', (_, made, expected) => {
    expect(shown(made())).toBe(expected);
  });

  it('reads only the years that contain the page and what it skips', () => {
    const spans = (input: Partial<ListEventsInput>, interval = ENDLESS) =>
      plan(input, totals(60, 40, 30), [], interval).by === 'steps'
        ? (plan(input, totals(60, 40, 30), [], interval) as Plan & { by: 'steps' }).steps.map(
            (step) => step.by === 'index' && step.spans,
          )
        : [];
    expect(spans({ take: 30 })).toEqual([[{ from: Y26, until: Date.UTC(2027, 0) }]]);
    expect(spans({ take: 31 })).toEqual([[{ from: Y25, until: Date.UTC(2027, 0) }]]);
    expect(spans({ take: 50, sortOrder: 'asc' })).toEqual([[{ from: Y24, until: Y25 }]]);
    expect(spans({ take: 31 }, { from: Y25 + 5, until: Y26 + 7 })).toEqual([
      [{ from: Y25 + 5, until: Y26 + 7 }],
    ]);
  });

  it('adds the filter of its kind to each group', () => {
    const made = plan({ sortBy: 'eventType', sortOrder: 'asc' }, types(['A', 10], ['B', 10]), [unindexed]);
    expect(made.by === 'steps' && made.steps.map((step) => step.by !== 'arrivals' && step.filters)).toEqual([
      [unindexed, ofType('A')],
      [unindexed, ofType('B')],
    ]);
  });
});

describe('a page of a list in spans of time', () => {
  it.each([
    ['asc', 0, 3, { total: 10, first: 1, last: 1, reading: ['asc', 0, 3, false] }],
    ['asc', 4, 3, { total: 10, first: 1, last: 3, reading: ['desc', 3, 3, true] }],
    ['desc', 0, 3, { total: 10, first: 3, last: 3, reading: ['desc', 0, 3, false] }],
    ['desc', 4, 9, { total: 10, first: 1, last: 3, reading: ['asc', 0, 6, true] }],
    ['desc', 10, 3, { total: 10, first: 0, last: -1, reading: null }],
  ] as const)('%s from %d touches only the spans that contain it', (sortOrder, skip, take, expected) => {
    const { reading, ...plan } = planSpans([0, 5, 0, 5, 0], { sortOrder, skip, take });
    expect({
      ...plan,
      reading: reading && [reading.direction, reading.skip, reading.take, reading.isReversed],
    }).toEqual(expected);
  });
});

describe('a page within hours', () => {
  it.each([
    ['asc', 12, 14, { direction: 'asc', skip: 2, take: 3, isReversed: false }],
    ['asc', 26, 28, { direction: 'desc', skip: 1, take: 3, isReversed: true }],
    ['desc', 12, 14, { direction: 'asc', skip: 2, take: 3, isReversed: true }],
    ['desc', 26, 28, { direction: 'desc', skip: 1, take: 3, isReversed: false }],
  ] as const)('is read %s from the nearer end: %d to %d', (direction, first, last, expected) => {
    const span = { before: 10, n: 20 };
    expect(readingWithin('timestamp', { first, last, direction }, span)).toEqual({
      sortBy: 'timestamp',
      ...expected,
    });
  });
});
