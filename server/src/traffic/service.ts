import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import {
  type Flow,
  type FlowInput,
  type HourOfWeek,
  type HourOfWeekInput,
  LEVELS,
  type LiveTraffic,
  type SpeedDistribution,
  type SpeedDistributionInput,
  type TopLocations,
  type TopLocationsInput,
  type TrafficLevel,
} from '@gantry/contract/traffic';
import { DateTime } from 'luxon';
import { memoizedCaseFold } from '../platform/case-fold.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { requireRange } from '../platform/time.ts';
import { type Parts, rangeOf, readBuckets, readCompleteness } from './figures.ts';
import { type Bucket, bucketsOf, describeBucket, sumOf, wholeOf } from './flow.ts';
import { getPlace, listTopLocations, readLive, type TopLocation, type WantedPlace } from './places-store.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';
import { cutSegments, segmentsOf, slotsWithin } from './segments.ts';
import { type Place, readRollups } from './slots-store.ts';
import { describeSpeeds, meanOf, meanSpeed, type Speeds, shareOf, sumOfSpeeds } from './speeds.ts';

/**
 * The traffic of a sensor or a location by interval.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is too long
 */
export async function getFlow({ db, settings, clock }: Parts, input: FlowInput & WantedPlace): Promise<Flow> {
  const { timezone } = settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone);
  requireFewPoints(range, minutes);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, minutes, timezone);
  const hours = localBounds(rangeOf(bounds), 60, timezone);
  const fine = minutes > 60 ? hours : bounds;
  const [parts, completeness] = await Promise.all([
    readBuckets(db, place, fine, { vehicleType: input.vehicleType, byType: true, histograms: true }),
    readCompleteness(db, place, bounds, clock.now()),
  ]);
  const peak = await readPeak(db, place, { buckets: parts, bounds: fine, hours }, input.vehicleType);
  const buckets = minutes > 60 ? intoLonger(parts, fine, bounds) : parts;
  const times = bounds.map((bound) => new Date(bound));
  const caseFoldName = memoizedCaseFold();
  return {
    timezone,
    interval: input.interval,
    points: buckets.map((bucket, n) => ({
      ...describeBucket(bucket, completeness.shares[n] ?? 0, caseFoldName),
      start: times[n] ?? new Date(0),
      end: times[n + 1] ?? new Date(0),
    })),
    ...describeBucket(sumOf(buckets), completeness.whole, caseFoldName),
    ...peak,
    speedLimit: place.speedLimit,
  };
}

/** Combines buckets of hours into buckets of days. */
function intoLonger(parts: readonly Bucket[], fine: readonly number[], bounds: readonly number[]): Bucket[] {
  return bounds.slice(1).map((end, n) => {
    const first = fine.indexOf(bounds[n] ?? 0);
    return sumOf(parts.slice(first, fine.indexOf(end, first)));
  });
}

/** The traffic at every location in the last five minutes, the current minute included. */
export async function getLive({ db, clock }: Parts): Promise<LiveTraffic> {
  const until = Math.floor(clock.now() / MINUTE_MS + 1) * MINUTE_MS;
  const since = until - 5 * MINUTE_MS;
  const rows = await readLive(db, { from: since, until });
  return {
    since: new Date(since),
    locations: rows.map((row) => {
      const speed = meanOf(row.measured, row.speed_sum);
      const usualSpeed = row.speed_limit ?? meanOf(row.usual_measured, row.usual_sum);
      const isMonitored = row.monitored;
      return {
        locationId: row.id,
        locationName: row.name,
        volume: row.n > 0 || isMonitored ? row.n : null,
        meanSpeed: speed,
        usualSpeed,
        speedLimit: row.speed_limit,
        level: levelOf({ volume: row.n, meanSpeed: speed, usualSpeed, isMonitored }),
      };
    }),
  };
}

/** The figures of a location's last minutes; speeds in km/h. */
interface LiveFigures {
  readonly volume: number;
  readonly meanSpeed: number | null;
  readonly usualSpeed: number | null;
  /** Whether any of its sensors is ONLINE. */
  readonly isMonitored: boolean;
}

/** The traffic level, by the table in the contract. */
function levelOf({ volume, meanSpeed, usualSpeed, isMonitored }: LiveFigures): TrafficLevel {
  if (volume === 0) return isMonitored ? 'FREE' : 'NO_DATA';
  if (meanSpeed === null || usualSpeed === null || usualSpeed === 0) return 'NO_DATA';
  return LEVELS.find(({ from }) => meanSpeed / usualSpeed >= from)?.level ?? 'CONGESTED';
}

/**
 * The locations with most traffic, the highest speeds, or most vehicles above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export async function getTopLocations(
  { db, settings }: Parts,
  { by, limit, ...input }: TopLocationsInput,
): Promise<TopLocations> {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const all = await listTopLocations(db, range);
  const judged: TopLocation[] = [];
  for (const location of all) {
    const { locationId, isLimitChanged } = location;
    const shareOverLimit = isLimitChanged ? await judgeAgain(db, locationId, range) : location.shareOverLimit;
    judged.push({ ...location, shareOverLimit });
  }
  const locations = judged.sort(inOrder(by)).slice(0, limit);
  return { timezone, locations: locations.map(({ isLimitChanged: _, ...shown }) => shown) };
}

/**
 * The fraction above the limit for a location whose limit changed within the range: each speed is compared with the
 * limit at its time.
 */
async function judgeAgain(db: Parts['db'], locationId: string, range: Interval): Promise<number | null> {
  const place = await getPlace(db, { locationId });
  const cuts = place.limits.map(({ since }) => since);
  const rollups = await readRollups(db, place, cutSegments(segmentsOf(range), cuts), { histograms: true });
  return shareOf(wholeOf(rollups, place.limits).judged);
}

/** In descending order, those without a value last; on a tie, the greater id first. */
function inOrder(by: TopLocationsInput['by']) {
  return (a: TopLocation, b: TopLocation): number =>
    (b[by] ?? -1) - (a[by] ?? -1) || (a.locationId < b.locationId ? 1 : -1);
}

const QUARTER_MS = HOUR_MS / 4;

const NO_PEAK = { peakHour: null, peakHourFactor: null };

/**
 * The peak hour with its factor, for which that hour is read again by quarter hours, as far as they are in the range.
 * @param bounds of the buckets, which are at most an hour long
 * @param hours the bounds of the hours
 */
async function readPeak(
  db: Executor,
  place: Place,
  {
    buckets,
    bounds,
    hours,
  }: { buckets: readonly Bucket[]; bounds: readonly number[]; hours: readonly number[] },
  vehicleType: string | undefined,
): Promise<Pick<Flow, 'peakHour' | 'peakHourFactor'>> {
  const start = busiest(hours, hoursFrom(bounds, hours, volumesOf(buckets)));
  if (start === null) return NO_PEAK;
  const { from, until } = rangeOf(bounds);
  const within = { from: Math.max(start, from), until: Math.min(start + HOUR_MS, until) };
  const quarters = [0, 1, 2, 3, 4].map((n) => start + n * QUARTER_MS);
  const segments = [{ minutes: slotsWithin([...quarters, within.from, within.until]), ...within }];
  const rollups = await readRollups(db, place, segments, { vehicleType });
  const volumes = volumesOf(bucketsOf(rollups, quarters, []));
  const volume = volumes.reduce((sum, n) => sum + n, 0);
  const most = Math.max(...volumes);
  return {
    peakHour: { start: new Date(start), volume },
    peakHourFactor: most > 0 ? Math.round((volume / (4 * most)) * 10_000) / 10_000 : null,
  };
}

function volumesOf(buckets: readonly Bucket[]): number[] {
  return buckets.map(({ speeds }) => speeds.volume);
}

/** Buckets of an hour: the buckets themselves, or sums of shorter ones. */
function hoursFrom(
  bounds: readonly number[],
  hours: readonly number[],
  volumes: readonly number[],
): number[] {
  const sums = hours.slice(1).map(() => 0);
  let hour = 0;
  for (const [n, volume] of volumes.entries()) {
    while ((bounds[n] ?? 0) >= (hours[hour + 1] ?? Number.POSITIVE_INFINITY)) hour++;
    sums[hour] = (sums[hour] ?? 0) + volume;
  }
  return sums;
}

/** The start of the hour with most vehicles, the first one on a tie; null without vehicles. */
function busiest(bounds: readonly number[], volumes: readonly number[]): number | null {
  const most = Math.max(0, ...volumes);
  return most === 0 ? null : (bounds[volumes.indexOf(most)] ?? null);
}

/**
 * The traffic of a sensor or a location by hour of the local week, over the hours that have ended.
 * @throws AppError as `getFlow` does
 */
export async function getHourOfWeek(
  { db, settings, clock }: Parts,
  input: HourOfWeekInput,
): Promise<HourOfWeek> {
  const { timezone: zone } = settings.current();
  const range = requireRange(input, zone);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, 60, zone);
  const now = clock.now();
  const [buckets, completeness] = await Promise.all([
    readBuckets(db, place, bounds, { vehicleType: input.vehicleType }),
    readCompleteness(db, place, bounds, now),
  ]);
  const cells = Array.from({ length: 7 * 24 }, (): Speeds[] => []);
  for (const [n, { speeds }] of buckets.entries()) {
    const isOver = (bounds[n + 1] ?? 0) <= now;
    const isGap = speeds.volume === 0 && (completeness.shares[n] ?? 0) === 0;
    if (!isOver || isGap) continue;
    const { weekday, hour } = DateTime.fromMillis(bounds[n] ?? 0, { zone });
    cells[(weekday % 7) * 24 + hour]?.push(speeds);
  }
  const described = cells.map((hours, n) => {
    const speeds = sumOfSpeeds(hours);
    return {
      hour: n % 24,
      hours: hours.length,
      meanVolume: hours.length > 0 ? Math.round((speeds.volume / hours.length) * 1_000) / 1_000 : null,
      meanSpeed: meanSpeed(speeds),
    };
  });
  return {
    timezone: zone,
    days: [0, 1, 2, 3, 4, 5, 6].map((weekday) => ({
      weekday,
      hours: described.slice(weekday * 24, (weekday + 1) * 24),
    })),
  };
}

/**
 * The speeds at a sensor or a location.
 * @throws AppError as `getFlow` does
 */
export async function getSpeedDistribution(
  { db, settings, clock }: Parts,
  input: SpeedDistributionInput & WantedPlace,
): Promise<SpeedDistribution> {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const place = await getPlace(db, input);
  const segments = cutSegments(
    segmentsOf(range),
    place.limits.map(({ since }) => since),
  );
  const bounds = [segments[0]?.from ?? range.from, segments.at(-1)?.until ?? range.until];
  const [rollups, { whole: completeness }] = await Promise.all([
    readRollups(db, place, segments, { vehicleType: input.vehicleType, histograms: true }),
    readCompleteness(db, place, bounds, clock.now()),
  ]);
  const { speeds, judged } = wholeOf(rollups, place.limits);
  const width = input.binWidth;
  const counts = new Map<number, number>();
  for (const [i, bin] of speeds.histogram.bins.entries()) {
    const count = speeds.histogram.counts[i] ?? 0;
    if (count <= 0) continue;
    const n = Math.max(0, Math.ceil(bin / width) - 1);
    counts.set(n, (counts.get(n) ?? 0) + count);
  }
  const [least = 0, most = -1] = [[...counts.keys()][0], [...counts.keys()].at(-1)];
  return {
    timezone,
    volume: speeds.volume,
    measured: speeds.measured,
    bins: Array.from({ length: most - least + 1 }, (_, n) => ({
      from: (least + n) * width,
      to: (least + n + 1) * width,
      count: counts.get(least + n) ?? 0,
    })),
    ...describeSpeeds(speeds, judged),
    completeness,
    speedLimit: place.speedLimit,
  };
}
