import type { Flow, FlowPoint } from '@gantry/contract/traffic';
import type { SpeedUnits } from '@gantry/contract/values';
import type { Database } from '../../platform/database/pool.ts';
import { createLocalTime, type LocalTime } from '../../platform/local-time.ts';
import type { Bin } from '../../traffic/bin.ts';
import { dailyVolumes } from '../../traffic/daily.ts';
import { isUsableHour } from '../../traffic/local-hours.ts';
import { getSpeedDistribution } from '../../traffic/service.ts';
import {
  type Chart,
  type Column,
  type Figure,
  type ReportScope,
  type Row,
  type Section,
  type Sections,
  UNIT_NAMES,
} from '../document.ts';
import { listTrafficPlaces, type TrafficPlace } from '../places-store.ts';
import { addTo, dayChart } from './summaries.ts';
import { flowOf, intervalOf, isByHour, isKnown, partsOf, placeOf, slicesOf, speedIn } from './traffic.ts';

/** Maximum number of days for which the time series of a place is by hour. */
const MAX_DAYS_IN_HOURS = 2;

/** Maximum number of points of a time series. */
const MAX_POINTS = 92;

function columnsIn(units: SpeedUnits): Column[] {
  const unit = UNIT_NAMES[units];
  return [
    { name: 'Place', type: 'text', width: 40 },
    { name: 'Vehicles', type: 'integer', width: 10 },
    { name: 'Mean per day', type: 'integer', width: 10 },
    { name: `Mean speed (${unit})`, type: 'decimal', width: 10 },
    { name: `V85 (${unit})`, type: 'decimal', width: 9 },
    { name: `Speed limit (${unit})`, type: units === 'KMH' ? 'integer' : 'decimal', width: 9 },
    { name: 'Over the limit', type: 'share', width: 9 },
    { name: 'Completeness', type: 'share', width: 11 },
  ];
}

/** The speeds of the whole range, with the limit that applies to them. */
type Speeds = Pick<Flow, 'meanSpeed' | 'v85' | 'shareOverLimit' | 'speedLimit'>;

/** The data of a place in the range. */
interface Known {
  readonly speeds: Speeds;
  /** The points of the table's rows, those of whole days, and the hours. */
  readonly points: readonly FlowPoint[];
  readonly days: readonly FlowPoint[];
  readonly hours: readonly FlowPoint[];
  readonly peak: Flow['peakHour'];
  /** The number of rows of the table for the place. */
  readonly rowCount: number;
}

/**
 * A long range is read in parts, and its speeds once more as a whole, because its V85 cannot be derived from those of
 * the parts.
 */
async function readPlace(db: Database, scope: ReportScope, place: TrafficPlace): Promise<Known | null> {
  const interval = intervalOf(scope);
  const slices = slicesOf(scope);
  const flows: Flow[] = [];
  const hours: FlowPoint[] = [];
  for (const slice of slices) {
    const flow = await flowOf(db, scope, place, slice, interval);
    if (!isKnown(flow.points)) continue;
    flows.push(flow);
    const { points } = interval === '60min' ? flow : await flowOf(db, scope, place, slice, '60min');
    hours.push(...points);
  }
  const [first, last] = [slices[0], slices.at(-1)];
  const [only] = flows;
  if (!only || !first || !last) return null;
  const whole = { from: first.from, until: last.until };
  const days =
    interval === 'day'
      ? flows.flatMap(({ points }) => points)
      : (await flowOf(db, scope, place, whole, 'day')).points;
  const range = {
    ...placeOf(place, scope),
    startDate: new Date(whole.from).toISOString(),
    endDate: new Date(whole.until - 1).toISOString(),
    vehicleType: scope.filters.vehicleType,
    binWidth: 50,
  };
  const speeds = slices.length === 1 ? only : await getSpeedDistribution(partsOf(db, scope), range);
  const peaks = flows.flatMap(({ peakHour }) => (peakHour ? [peakHour] : []));
  const points = flows.flatMap((flow) => flow.points);
  return {
    speeds,
    points,
    days,
    hours,
    peak: peaks.reduce<Flow['peakHour']>(
      (most, each) => (most && most.volume >= each.volume ? most : each),
      null,
    ),
    rowCount: points.length,
  };
}

function sumOf(points: readonly FlowPoint[]): number {
  return points.reduce((sum, { volume }) => sum + (volume ?? 0), 0);
}

/**
 * The fraction of the range with known counts. Parts that were not read because nothing is known count as unknown. The
 * first and the last interval may be longer than their part of the range, which ends now at the latest.
 */
function completenessOf(scope: ReportScope, points: readonly FlowPoint[]): number {
  const slices = slicesOf(scope);
  const [first = 0, last = 0] = [slices[0]?.from, slices.at(-1)?.until];
  const within = ({ start, end }: FlowPoint): number => Math.min(+end, last) - Math.max(+start, first);
  const known = points.reduce((sum, point) => sum + point.completeness * within(point), 0);
  return last === first ? 0 : Math.round((known / (last - first)) * 10_000) / 10_000;
}

/** The vehicles of each local day with data. */
function volumesByDay(points: readonly FlowPoint[], { day }: LocalTime): ReadonlyMap<string, number> {
  const byDay = new Map<string, number>();
  for (const { start, volume } of points) if (volume !== null) addTo(byDay, day(start.getTime()), volume);
  return byDay;
}

function toBin({ start, end, ...point }: FlowPoint): Bin {
  return { ...point, start: start.getTime(), end: end.getTime(), cells: [] };
}

/** The mean of the complete local days; null without any. */
function meanPerDay({ hours }: Known, { settings }: ReportScope): number | null {
  const bins = hours.map(toBin);
  const range = { from: bins[0]?.start ?? 0, until: bins.at(-1)?.end ?? 0 };
  const { value } = dailyVolumes(bins, range, settings.timezone).adt;
  return value === null ? null : Math.round(value);
}

function inWords(speed: number | null, units: SpeedUnits): string {
  const value = speedIn(speed, units);
  return value === null
    ? '–'
    : `${value.toLocaleString('en', { maximumFractionDigits: 1 })} ${UNIT_NAMES[units]}`;
}

function percent(share: number | null): string {
  return share === null ? '–' : `${(share * 100).toLocaleString('en', { maximumFractionDigits: 2 })} %`;
}

function figuresOf(scope: ReportScope, known: Known, local: LocalTime, units: SpeedUnits): Figure[] {
  const { speeds, points, peak } = known;
  const perDay = meanPerDay(known, scope);
  return [
    { name: 'Vehicles', value: sumOf(points) },
    { name: 'Mean per complete day', value: perDay ?? '–' },
    {
      name: 'Busiest hour',
      value: peak ? `${peak.volume.toLocaleString('en')} · ${local.show(peak.start.getTime())}` : '–',
    },
    { name: 'Completeness', value: percent(completenessOf(scope, points)) },
    { name: 'Mean speed', value: inWords(speeds.meanSpeed, units) },
    { name: 'V85', value: inWords(speeds.v85, units) },
    { name: 'Speed limit', value: inWords(speeds.speedLimit, units) },
    { name: 'Over the limit', value: percent(speeds.shareOverLimit) },
  ];
}

type Points = { label: string; value: number | null }[];

/** Averages over points that have something in common, such as the hour of the day; null without any that is known. */
function meansBy(
  points: readonly FlowPoint[],
  keys: readonly string[],
  keyOf: (at: number) => string,
): Points {
  const [sums, counts] = [new Map<string, number>(), new Map<string, number>()];
  for (const { start, volume } of points) {
    if (volume === null) continue;
    addTo(sums, keyOf(start.getTime()), volume);
    addTo(counts, keyOf(start.getTime()), 1);
  }
  return keys.map((key) => {
    const count = counts.get(key);
    return { label: key, value: count === undefined ? null : (sums.get(key) ?? 0) / count };
  });
}

const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`);
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function rhythmOf(scope: ReportScope, { hours, days }: Known, { wall }: LocalTime): Chart {
  const looks = { shape: 'columns', isHalf: true } as const;
  if (isByHour(scope)) {
    const usable = hours.filter((point) => isUsableHour(toBin(point)));
    const hourOf = (at: number): string => `${wall(at).toISOString().slice(11, 13)}:00`;
    return { title: 'Mean vehicles by hour of the day', points: meansBy(usable, HOURS, hourOf), ...looks };
  }
  const dayOf = (at: number): string => WEEKDAYS[wall(at).getUTCDay()] ?? '';
  const complete = days.filter(({ isComplete }) => isComplete);
  return { title: 'Mean vehicles by day of the week', points: meansBy(complete, WEEKDAYS, dayOf), ...looks };
}

/** The V85 of several days cannot be derived from those of each day, so the highest represents them. */
function speedChart(days: readonly FlowPoint[], { day, showDay }: LocalTime, units: SpeedUnits): Chart {
  const together = Math.max(1, Math.ceil(days.length / MAX_POINTS));
  const points: Points = [];
  for (let at = 0; at < days.length; at += together) {
    const group = days.slice(at, at + together);
    const label = showDay(day(group[0]?.start.getTime() ?? 0));
    const known = group.flatMap(({ v85 }) => speedIn(v85, units) ?? []);
    points.push({ label, value: known.length === 0 ? null : Math.max(...known) });
  }
  const what = together === 1 ? 'V85 per day' : `Highest V85 of each ${together} days`;
  const title = `${what} (${UNIT_NAMES[units]})`;
  return {
    title,
    shape: 'columns',
    isHalf: true,
    points: points.some(({ value }) => value !== null) ? points : [],
  };
}

function chartsOf(scope: ReportScope, known: Known, local: LocalTime, units: SpeedUnits): Chart[] {
  const { points, days } = known;
  if (days.length <= MAX_DAYS_IN_HOURS && isByHour(scope)) {
    const course = (title: string, toValue: (point: FlowPoint) => number | null): Chart => ({
      title,
      shape: 'columns',
      points: points.map((point) => ({
        label: local.show(point.start.getTime()),
        value: toValue(point),
      })),
    });
    return [
      course('Vehicles per hour', ({ volume }) => volume),
      course(`V85 per hour (${UNIT_NAMES[units]})`, ({ v85 }) => speedIn(v85, units)),
    ];
  }
  const byDay = volumesByDay(points, local);
  return [
    dayChart('Vehicles per day', byDay, scope, null),
    rhythmOf(scope, known, local),
    speedChart(days, local, units),
  ];
}

function rowOf(scope: ReportScope, place: TrafficPlace, known: Known, units: SpeedUnits): Row {
  const { speeds, points } = known;
  return [
    place.name,
    sumOf(points),
    meanPerDay(known, scope),
    ...[speeds.meanSpeed, speeds.v85, speeds.speedLimit].map((speed) => speedIn(speed, units)),
    speeds.shareOverLimit,
    completenessOf(scope, points),
  ];
}

async function* list(db: Database, scope: ReportScope, units: SpeedUnits): AsyncGenerator<Section> {
  const local = createLocalTime(scope.settings);
  for (const place of await listTrafficPlaces(db, scope.filters, scope.interval)) {
    const known = await readPlace(db, scope, place);
    if (known === null) continue;
    yield {
      id: place.id,
      title: place.name,
      subtitle: place.kind === 'location' ? 'Location' : 'Sensor at no location',
      weight: sumOf(known.points),
      row: rowOf(scope, place, known, units),
      rowCount: known.rowCount,
      figures: figuresOf(scope, known, local, units),
      charts: chartsOf(scope, known, local, units),
    };
  }
}

const PLACE_ID = 12;

/** A summary of each place with data. */
export function trafficSections(units: SpeedUnits): Sections {
  return {
    name: 'places',
    columns: columnsIn(units),
    list: (db, scope) => list(db, scope, units),
    idOf: (row) => String(row[PLACE_ID]),
    naming: ['Place'],
  };
}
