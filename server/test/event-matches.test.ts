import type { Event, EventFilter } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { matchesFilter, matchesPattern } from '../src/events/matches.ts';
import { sharedGantry } from './harness.ts';

// Streams and webhooks match events in memory, lists in the database: the results must agree.

const PLATES = ['W-12 AB', 'w12ab', 'ẞ 1', 'ß1', 'А 123 ВС', '100%', 'A_1', 'İ-7', 'AAAB', 'ABAB', '😀1'];
const PLACES = ['Main Street', 'MAIN STREET', 'Ärzteweg', 'ärzteweg', 'Ring / 5'];
const VEHICLES = ['CAR', 'car', 'Truck'];
const VIOLATIONS = ['SPEEDING', 'speeding', 'RED_LIGHT'];
const REGIONS = ['US', 'US-CA', 'US-TX', 'UM', 'DE'];
const LANES = [1, 2, 'bus'];
const DIRECTIONS = ['NB', 'APPROACHING', 22.5] as const;
const TYPES = ['VEHICLE_DETECTION', 'TRAFFIC_VIOLATION'] as const;

let events: Event[] = [];

const gantry = await sharedGantry();
const token = await gantry.tokenFor('ADMIN');
beforeAll(async () => {
  const apiKey = await gantry.registerSensor();
  const pick = <Item>(items: readonly Item[], n: number): Item | undefined => items[n % (items.length + 1)];
  await gantry.ok('events.ingestBatch', {
    apiKey,
    events: Array.from({ length: 90 }, (_, n) => ({
      eventType: TYPES[n % 2],
      licensePlateNumber: pick(PLATES, n),
      vehicleType: pick(VEHICLES, n),
      violationType: pick(VIOLATIONS, n >> 1),
      plateRegion: pick(REGIONS, n >> 2),
      plateConfidence: pick([0, 49, 50, 100], n >> 3),
      lane: pick(LANES, n >> 1),
      direction: pick(DIRECTIONS, n >> 2),
      vehicleSpeed: pick([0, 30, 50.5, 90], n >> 1),
      severity: pick(['LOW', 'HIGH', 'CRITICAL'], n >> 2),
      location: PLACES[n % 6] && { latitude: 1, longitude: 2, address: PLACES[n % 6] },
    })),
  });
  const page = await gantry.ok<{ events: Event[] }>('events.getAll', { take: 100 }, { token });
  events = page.events;
  const some = events.slice(0, 10);
  for (const { id } of some) await gantry.ok('events.markAsProcessed', { id }, { token });
  events = (await gantry.ok<{ events: Event[] }>('events.getAll', { take: 100 }, { token })).events;
});

const maybe = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined, freq: 3 });
const all: fc.Arbitrary<EventFilter> = fc.record({
  eventType: maybe(fc.constantFrom(...TYPES)),
  sensorId: fc.constant(undefined),
  processed: maybe(fc.boolean()),
  archived: fc.constantFrom(undefined, undefined, false),
  violationType: maybe(fc.constantFrom(...VIOLATIONS, 'Red_Light', 'none')),
  licensePlateNumber: maybe(
    fc.oneof(
      fc.constantFrom(...PLATES),
      fc.constantFrom('*', 'w*', '*b', 'W*A*', 'a*b*b', 'A*A', '*1*', '_*', '%', '*😀*', 'а*с'),
    ),
  ),
  vehicleType: maybe(fc.constantFrom(...VEHICLES, 'TRUCK')),
  plateRegion: maybe(fc.constantFrom(...REGIONS, 'AT')),
  minConfidence: maybe(fc.constantFrom(0, 50, 51, 100)),
  lane: maybe(fc.constantFrom(...LANES, 3)),
  direction: maybe(fc.constantFrom(...DIRECTIONS, 'SB' as const)),
  severities: maybe(
    fc.subarray(['LOW', 'HIGH', 'CRITICAL'] as const, { minLength: 1 }).map((all) => [...all]),
  ),
  minSpeed: maybe(fc.constantFrom(0, 30, 50.5)),
  maxSpeed: maybe(fc.constantFrom(50.5, 50.6, 90)),
  locationName: maybe(fc.constantFrom(...PLACES, 'ÄRZTEWEG', 'ring / 5')),
});
/** One with all fields finds nothing, whatever one of them means: most have one or two. */
const filters = all.chain((filter) =>
  fc
    .subarray(Object.entries(filter), { minLength: 1, maxLength: 2 })
    .map((fields): EventFilter => Object.fromEntries(fields)),
);

describe('matching events in memory', () => {
  it('finds the same as events.getAll with the same filter', async () => {
    expect(events).toHaveLength(90);
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const page = await gantry.ok<{ events: Event[] }>(
          'events.getAll',
          { ...filter, take: 100 },
          { token },
        );
        const found = events.filter(matchesFilter(filter));
        expect(found.map(({ id }) => id)).toEqual(page.events.map(({ id }) => id));
      }),
      { numRuns: 200 },
    );
  });

  it.each<[EventFilter, (event: Event) => boolean]>([
    [{ plateRegion: 'US' }, ({ plateRegion }) => plateRegion?.startsWith('US') === true],
    [{ plateRegion: 'US-CA' }, ({ plateRegion }) => plateRegion === 'US-CA'],
    [{ minConfidence: 50 }, ({ plateConfidence }) => plateConfidence === 50 || plateConfidence === 100],
    [{ minConfidence: 0 }, ({ plateConfidence }) => (plateConfidence ?? -1) >= 0],
    [{ lane: 2 }, ({ lane }) => lane === 2],
    [{ lane: 'bus' }, ({ lane }) => lane === 'bus'],
    [{ direction: 'NB' }, ({ direction }) => direction === 'NB'],
    [{ direction: 22.5 }, ({ direction }) => direction === 22.5],
  ])('finds by %j what was sent so, and nothing else', async (filter, isMeant) => {
    const expected = events.filter(isMeant).map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(5);
    expect(expected.length).toBeLessThan(90);
    const page = await gantry.ok<{ events: Event[] }>('events.getAll', { ...filter, take: 100 }, { token });
    expect(page.events.map(({ id }) => id)).toEqual(expected);
    expect(events.filter(matchesFilter(filter)).map(({ id }) => id)).toEqual(expected);
  });

  it('compares the ids of sensors in any case', () => {
    const [one] = events;
    expect(events.filter(matchesFilter({ sensorId: one?.sensorId?.toUpperCase() }))).toHaveLength(90);
    expect(events.filter(matchesFilter({ sensorId: 'x' }))).toHaveLength(0);
  });
});

describe('matching a plate against a pattern', () => {
  it('treats * as any sequence of characters, like a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('A', 'B', '*', '.', '(') });
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const key = text.replaceAll('*', '');
        const source = pattern.split('*').map((part) => part.replace(/[.(]/g, '\\$&'));
        expect(matchesPattern(pattern)(key)).toBe(new RegExp(`^${source.join('.*')}$`).test(key));
      }),
      { numRuns: 5_000 },
    );
  });

  it('takes no longer for a pattern with many asterisks', () => {
    const key = plateKey('A'.repeat(50));
    expect(matchesPattern(`${'*A'.repeat(40)}*B`)(key)).toBe(false);
    expect(matchesPattern('*A'.repeat(40))(key)).toBe(true);
  });
});
