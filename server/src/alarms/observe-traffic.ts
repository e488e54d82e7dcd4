import type { ConditionOf, TrafficMeasure } from '@gantry/contract/alarm-rules';
import { MINUTE_MS } from '@gantry/contract/durations';
import type { Observation } from './evaluate.ts';
import type { SensorFact } from './sources-store.ts';
import type { SlotFact } from './traffic-store.ts';

// What rules of TRAFFIC observe, without a database.

export interface TrafficFacts {
  /** The end of the last minute that is counted, Unix milliseconds. */
  readonly until: number;
  /** Minutes, as far back as the longest window of the rules needs. */
  readonly minutes: readonly SlotFact[];
  /** The same hour of the week, in each of the four weeks before. */
  readonly usual: readonly SlotFact[];
}

interface TrafficRule {
  readonly clear: { readonly threshold: number } | null;
}

/** A location or a sensor with what stands there. */
interface Spot {
  readonly key: string;
  readonly name: string | null;
  readonly locationId: string | null;
  readonly sensorId: string | null;
  readonly limit: number | null;
  readonly sensors: readonly SensorFact[];
}

/** The items by a key, in their order. */
export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const known = groups.get(keyOf(item));
    if (known) known.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

/** A function of a list, computed once for each list as long as it exists: many rules ask the same of the same sensors. */
function once<Item, Result>(compute: (list: readonly Item[]) => Result): (list: readonly Item[]) => Result {
  const known = new WeakMap<readonly Item[], Result>();
  return (list) => {
    const found = known.get(list) ?? compute(list);
    known.set(list, found);
    return found;
  };
}

/** The sensors of each location, without those that have none. */
export const sensorsByPlace = once((sensors: readonly SensorFact[]): ReadonlyMap<string, SensorFact[]> => {
  const byPlace = groupedBy(sensors, ({ locationId }) => locationId ?? '');
  byPlace.delete('');
  return byPlace;
});

const SPOTS = {
  SENSOR: once((sensors: readonly SensorFact[]) => spotsOf('SENSOR', sensors)),
  LOCATION: once((sensors: readonly SensorFact[]) => spotsOf('LOCATION', sensors)),
};

function spotsOf(per: 'LOCATION' | 'SENSOR', all: readonly SensorFact[]): Spot[] {
  const sensors = all.filter(({ isPeriodic }) => !isPeriodic);
  if (per === 'SENSOR')
    return sensors.map((sensor) => ({
      key: sensor.id,
      name: sensor.name,
      locationId: sensor.locationId,
      sensorId: sensor.id,
      limit: sensor.speedLimit,
      sensors: [sensor],
    }));
  return [...sensorsByPlace(sensors)].map(([id, here]) => ({
    key: id,
    name: here[0]?.locationName ?? null,
    locationId: id,
    sensorId: null,
    limit: here[0]?.speedLimit ?? null,
    sensors: here,
  }));
}

/** What a rule observes of each of its locations or sensors. */
export function observeTraffic(
  rule: TrafficRule,
  condition: ConditionOf<'TRAFFIC'>,
  sensors: readonly SensorFact[],
  { until, minutes, usual }: TrafficFacts,
): Observation[] {
  const recent = recentBySensor(minutes, until - condition.minutes * MINUTE_MS, until);
  const before =
    condition.of === 'USUAL' ? groupedBy(usual, ({ sensorId }) => sensorId) : new Map<string, SlotFact[]>();
  const figures = figuresIn(recent, condition.measure);
  const text = textOf(condition);
  return SPOTS[condition.per](sensors).map((spot) => {
    const about = { text, place: spot.name, sensorId: spot.sensorId, locationId: spot.locationId };
    const known = figures.get(spot);
    const value = known === undefined ? figureOf(condition.measure, spot, recent, condition.minutes) : known;
    figures.set(spot, value);
    const base = baseOf(condition, spot, before);
    if (value === null || base === null) return { key: spot.key, sample: null, about };
    const isBeyond = (threshold: number): boolean =>
      condition.comparison === 'BELOW' ? value < threshold * base : value > threshold * base;
    const holds = isBeyond(condition.threshold);
    const clears = !isBeyond(rule.clear?.threshold ?? condition.threshold);
    return {
      key: spot.key,
      sample: { at: until, value: Math.round(value * 1_000) / 1_000, holds, clears },
      about,
    };
  });
}

/** What was computed of some minutes before, for other rules: the values of a measure. */
const computed = new WeakMap<object, Map<TrafficMeasure, Map<Spot, number | null>>>();

function figuresIn(recent: object, measure: TrafficMeasure): Map<Spot, number | null> {
  const known = computed.get(recent) ?? new Map<TrafficMeasure, Map<Spot, number | null>>();
  computed.set(recent, known);
  const figures = known.get(measure) ?? new Map<Spot, number | null>();
  known.set(measure, figures);
  return figures;
}

/** What was grouped of some minutes before, for other rules: by the start of the window. */
const grouped = new WeakMap<readonly SlotFact[], Map<number, ReadonlyMap<string, readonly SlotFact[]>>>();

function recentBySensor(
  minutes: readonly SlotFact[],
  from: number,
  until: number,
): ReadonlyMap<string, readonly SlotFact[]> {
  const windows = grouped.get(minutes) ?? new Map<number, ReadonlyMap<string, readonly SlotFact[]>>();
  grouped.set(minutes, windows);
  const known = windows.get(from);
  if (known) return known;
  const within = minutes.filter(({ slot }) => slot >= from && slot < until);
  const bySensor = groupedBy(within, ({ sensorId }) => sensorId);
  windows.set(from, bySensor);
  return bySensor;
}

/** What a threshold is multiplied with; null if it is not known. */
function baseOf(
  { of, measure }: ConditionOf<'TRAFFIC'>,
  spot: Spot,
  before: ReadonlyMap<string, readonly SlotFact[]>,
): number | null {
  if (of === 'NUMBER') return 1;
  if (of === 'LIMIT') return spot.limit;
  const weeks = groupedBy(
    spot.sensors.flatMap(({ id }) => before.get(id) ?? []),
    ({ slot }) => slot,
  );
  const values = [...weeks.values()].flatMap((rows) => {
    const ofWeek = groupedBy(rows, ({ sensorId }) => sensorId);
    return figureOf(measure, spot, ofWeek, 60, false) ?? [];
  });
  return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0) / values.length;
}

/**
 * The value of a measure over some minutes; null if it is not known.
 * @param isNow whether only what works now can say that there was no vehicle
 */
export function figureOf(
  measure: TrafficMeasure,
  spot: Pick<Spot, 'sensors' | 'limit'>,
  slots: ReadonlyMap<string, readonly SlotFact[]>,
  minutes: number,
  isNow = true,
): number | null {
  const ofOne = sameType(spot.sensors, slots, isNow);
  if (!ofOne) return null;
  const rows = ofOne.flatMap(({ id }) => slots.get(id) ?? []);
  const sum = (of: (row: SlotFact) => number): number => rows.reduce((total, row) => total + of(row), 0);
  if (measure === 'volumePerHour') return (sum(({ vehicles }) => vehicles) * 60) / minutes;
  const measured = sum((row) => row.measured);
  if (measured === 0) return null;
  if (measure === 'meanSpeed') return sum(({ speedSum }) => speedSum) / measured / 1_000;
  const bins = new Map<number, number>();
  for (const row of rows) for (const [bin, n] of row.bins) bins.set(bin, (bins.get(bin) ?? 0) + n);
  if (measure === 'v85') return percentile(bins, 0.85);
  const { limit } = spot;
  if (limit === null) return null;
  const over = [...bins].reduce((n, [bin, count]) => (bin > Math.ceil(limit) ? n + count : n), 0);
  return over / measured;
}

/**
 * The sensors of the type that counted most, so that one vehicle counts once; null if nothing counted, and nothing works
 * that would have.
 */
function sameType(
  sensors: readonly SensorFact[],
  slots: ReadonlyMap<string, readonly SlotFact[]>,
  isNow: boolean,
): readonly SensorFact[] | null {
  const volume = ({ id }: SensorFact): number =>
    (slots.get(id) ?? []).reduce((n, { vehicles }) => n + vehicles, 0);
  const types = [...groupedBy(sensors, ({ type }) => type).values()].map((same) => ({
    same,
    n: same.reduce((total, sensor) => total + volume(sensor), 0),
  }));
  const [most] = types.sort((a, b) => b.n - a.n);
  if (most && most.n > 0) return most.same;
  const isKnown = isNow
    ? sensors.some(({ status }) => status === 'ONLINE')
    : sensors.some(({ id }) => slots.has(id));
  return most && isKnown ? most.same : null;
}

/** A percentile by nearest rank, from counts by whole km/h, rounded up. */
function percentile(bins: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...bins].sort(([a], [b]) => a - b);
  let left = Math.ceil(sorted.reduce((n, [, count]) => n + count, 0) * share);
  for (const [bin, count] of sorted) {
    left -= count;
    if (left <= 0) return bin;
  }
  return null;
}

const UNITS: Readonly<Record<TrafficMeasure, string>> = {
  meanSpeed: 'The mean speed',
  v85: 'V85',
  volumePerHour: 'The volume',
  shareOverLimit: 'The share of vehicles over the limit',
};

function textOf({ measure, comparison, threshold, of }: ConditionOf<'TRAFFIC'>): string {
  const unit =
    measure === 'meanSpeed' || measure === 'v85' ? ' km/h' : measure === 'volumePerHour' ? ' per hour' : '';
  const limit =
    of === 'NUMBER'
      ? `${threshold}${unit}`
      : `${Math.round(threshold * 100)} % of ${of === 'LIMIT' ? 'the limit' : 'the usual value'}`;
  return `${UNITS[measure]} is ${comparison.toLowerCase()} ${limit}`;
}
