import type { Flow, FlowPoint } from '@gantry/contract/traffic';
import type { SpeedUnits } from '@gantry/contract/values';
import type { Database } from '../../platform/database/pool.ts';
import { createLocalTime } from '../../platform/local-time.ts';
import { type Interval, localDays } from '../../platform/time.ts';
import { roundTo } from '../../traffic/bin.ts';
import type { WantedPlace } from '../../traffic/places-store.ts';
import { getFlow } from '../../traffic/service.ts';
import { inUnits } from '../../traffic/speed-sample.ts';
import {
  type Batch,
  type Column,
  type KindOfReport,
  type ReportScope,
  type Row,
  type Summary,
  UNIT_NAMES,
} from '../document.ts';
import { listTrafficPlaces, type TrafficPlace } from '../places-store.ts';
import { addTo, dayChart, largest } from './summaries.ts';

/** Maximum number of days for which the table is by hour; for a longer range it is by day. */
const MAX_DAYS_BY_HOUR = 31;

/** Number of days of a place that are read at once. */
const SLICE_DAYS = 31;

/** A speed in km/h in the units of a report. The figures are to 0.001 km/h; in other units, to 0.1. */
export function speedIn(speed: number | null, units: SpeedUnits): number | null {
  return speed === null || units === 'KMH' ? speed : roundTo(inUnits(speed, units), 1);
}

function columnsIn(units: SpeedUnits): Column[] {
  const speed = (name: string, width: number): Column => ({
    ...{ name: `${name} (${UNIT_NAMES[units]})`, type: 'decimal', width },
  });
  return [
    { name: 'From', type: 'time', width: 15 },
    { name: 'Until', type: 'time', width: 15 },
    { name: 'Place', type: 'text', width: 30 },
    { name: 'Vehicles', type: 'integer', width: 9 },
    speed('Mean speed', 10),
    speed('V15', 8),
    speed('V50', 8),
    speed('V85', 8),
    speed('V95', 8),
    { name: 'Over the limit', type: 'share', width: 9 },
    { name: 'Completeness', type: 'share', width: 11 },
    { name: 'Kind of place', type: 'text', width: 0 },
    { name: 'Place ID', type: 'text', width: 0 },
  ];
}

/** The units of a report, which has each figure in one column: those of its places if all have the same, and otherwise those of the service. */
export async function unitsOfReport(
  db: Database,
  { filters, interval, speedUnits }: ReportScope,
): Promise<SpeedUnits> {
  const places = await listTrafficPlaces(db, filters, interval);
  const [first = speedUnits, ...others] = new Set(places.map(({ units }) => units ?? speedUnits));
  return others.length === 0 ? first : speedUnits;
}

/** The local days of the scope up to now, in parts of a month that begin and end with days. */
export function slicesOf(scope: ReportScope): Interval[] {
  const interval = { from: scope.interval.from, until: Math.min(scope.interval.until, scope.now) };
  const days = [...localDays(interval, scope.settings.timezone)];
  const slices: Interval[] = [];
  for (let at = 0; at < days.length; at += SLICE_DAYS) {
    const [first, last] = [days[at], days[Math.min(at + SLICE_DAYS, days.length) - 1]];
    if (first && last) slices.push({ from: first.from, until: last.until });
  }
  return slices;
}

/** Whether the rows are hours instead of days. */
export function isByHour({ interval, settings }: ReportScope): boolean {
  let days = 0;
  for (const _ of localDays(interval, settings.timezone)) if (++days > MAX_DAYS_BY_HOUR) return false;
  return true;
}

/**
 * The interval of the rows, and of everything that must add up to the same sum: a range that begins or ends within a day
 * includes whole hours of it, but not the whole day.
 */
export function intervalOf(scope: ReportScope): '60min' | 'day' {
  return isByHour(scope) ? '60min' : 'day';
}

/** The parameters for reading traffic figures. */
export function partsOf(db: Database, { settings, now, speedUnits }: ReportScope) {
  return {
    db,
    config: { SPEED_UNITS: speedUnits },
    clock: { now: () => now },
    settings: { current: () => settings, formerZones: () => [], refresh: async () => undefined },
  };
}

/**
 * The query for a place. For a sensor: everything that it saw if the filters name it, or only what it saw at the
 * location if they name a location too; if they do not name the sensor, only what it saw while it stood at no location
 * that still exists.
 */
export function placeOf({ kind, id }: TrafficPlace, { filters }: ReportScope): WantedPlace {
  if (kind === 'location') return { locationId: id };
  const { sensorId, locationId } = filters;
  const installedAt = sensorId === undefined ? null : locationId?.toLowerCase();
  return { sensorId: id, installedAt, mayBeDeleted: true };
}

/** Points that a report keeps, because its rows, its summary and its sections are of the same ones. More are read again. */
const MAX_KEPT_POINTS = 50_000;

/** What is kept for a report, which reads from one snapshot. */
interface KeptFlows {
  readonly flows: Map<string, Flow>;
  points: number;
}

const kept = new WeakMap<ReportScope, KeptFlows>();

/** The traffic of a place, by hour or by day. */
export async function flowOf(
  db: Database,
  scope: ReportScope,
  place: TrafficPlace,
  { from, until }: Interval,
  interval: '60min' | 'day',
): Promise<Flow> {
  const known = kept.get(scope) ?? { flows: new Map<string, Flow>(), points: 0 };
  kept.set(scope, known);
  const key = `${place.kind} ${place.id} ${from} ${until} ${interval}`;
  const found = known.flows.get(key);
  if (found) return found;
  const flow = await getFlow(partsOf(db, scope), {
    ...placeOf(place, scope),
    interval,
    startDate: new Date(from).toISOString(),
    endDate: new Date(until - 1).toISOString(),
    vehicleType: scope.filters.vehicleType,
  });
  known.points += flow.points.length;
  if (known.points <= MAX_KEPT_POINTS) known.flows.set(key, flow);
  return flow;
}

/** Whether anything is known about the traffic of a place. */
export function isKnown(points: readonly FlowPoint[]): boolean {
  return points.some(({ volume }) => volume !== null);
}

/**
 * The traffic of each location, and of each sensor (even a deleted one) while it stood at none, by hour or, beyond a month,
 * by day. A gap, for which nothing is known, is a row without a volume.
 */
export function traffic(units: SpeedUnits): KindOfReport {
  return {
    title: 'Traffic',
    columns: columnsIn(units),
    rows: (db, scope) => rows(db, scope, units),
    summary,
  };
}

function rowOf(place: TrafficPlace, point: FlowPoint, units: SpeedUnits): Row {
  return [
    point.start,
    point.end,
    place.name,
    point.volume,
    ...[point.meanSpeed, point.v15, point.v50, point.v85, point.v95].map((speed) => speedIn(speed, units)),
    point.shareOverLimit,
    point.completeness,
    place.kind,
    place.id,
  ];
}

/** The traffic of a place in a part of the range, and the progress after it, from 0 to 1. */
interface Part {
  readonly place: TrafficPlace;
  /** None when nothing is known about the whole part, so that it is left out. */
  readonly points: readonly FlowPoint[];
  readonly progress: number;
}

async function* partsOfRange(db: Database, scope: ReportScope): AsyncGenerator<Part> {
  const interval = intervalOf(scope);
  const slices = slicesOf(scope);
  const places = await listTrafficPlaces(db, scope.filters, scope.interval);
  let done = 0;
  for (const slice of slices)
    for (const place of places) {
      const { points } = await flowOf(db, scope, place, slice, interval);
      done += 1;
      yield {
        place,
        points: isKnown(points) ? points : [],
        progress: done / (slices.length * places.length),
      };
    }
}

async function* rows(db: Database, scope: ReportScope, units: SpeedUnits): AsyncGenerator<Batch> {
  for await (const { place, points, progress } of partsOfRange(db, scope))
    yield { rows: points.map((point) => rowOf(place, point, units)), progress };
}

async function summary(db: Database, scope: ReportScope): Promise<Summary> {
  const local = createLocalTime(scope.settings);
  const [byDay, byPlace] = [new Map<string, number>(), new Map<string, number>()];
  const nameOf = new Map<string, string>();
  for await (const { place, points } of partsOfRange(db, scope))
    for (const { start, volume } of points) {
      if (volume === null) continue;
      addTo(byDay, local.day(start.getTime()), volume);
      if (volume === 0) continue;
      addTo(byPlace, place.id, volume);
      nameOf.set(place.id, place.name);
    }
  const total = [...byDay.values()].reduce((sum, n) => sum + n, 0);
  const [busiestDay] = largest(byDay);
  // By id, because two sensors may have the same name.
  const places = largest(byPlace).map(({ label: id, value }) => ({ label: nameOf.get(id) ?? id, value }));
  const [busiestPlace] = places;
  return {
    figures: [
      { name: 'Vehicles', value: total },
      ...(busiestDay && busiestDay.value > 0
        ? [{ name: 'Busiest day', value: `${local.showDay(busiestDay.label)} (${busiestDay.value})` }]
        : []),
      ...(busiestPlace
        ? [{ name: 'Busiest place', value: `${busiestPlace.label} (${busiestPlace.value})` }]
        : []),
    ],
    charts: [
      dayChart('Vehicles per day', byDay, scope, null),
      { title: 'Busiest places', shape: 'bars', points: places },
    ],
  };
}
