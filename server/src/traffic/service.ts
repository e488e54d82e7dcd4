import type {
  Flow,
  FlowInput,
  HourOfWeek,
  HourOfWeekInput,
  LiveTraffic,
  SpeedDistribution,
  SpeedDistributionInput,
  TopLocations,
  TopLocationsInput,
} from '@gantry/contract/traffic';
import { DateTime } from 'luxon';
import type { AppContext } from '../context.ts';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { completenessOf } from './completeness.ts';
import { addSpeeds, type Bucket, bucketsOf, busiest, describeBucket, sumOf } from './flow.ts';
import { levelOf } from './level.ts';
import { readLive } from './live-store.ts';
import { getPlace } from './places-store.ts';
import { findWatches, readOnlineSpans, readSightings } from './presence-store.ts';
import { localBounds, minutesOf, requireRange } from './range.ts';
import { type Place, readRollups } from './rollups-store.ts';
import { segmentsOf, slotsWithin } from './segments.ts';
import { describeSpeeds, meanOf, meanSpeed, noSpeeds, sortedBins } from './speeds.ts';
import { listTopLocations } from './top-store.ts';

type Parts = Pick<AppContext, 'db' | 'settings'>;

const HOUR_MS = 3_600_000;
const QUARTER_MS = HOUR_MS / 4;

const rangeOf = (bounds: readonly number[]): Interval => ({
  from: bounds[0] ?? 0,
  until: bounds.at(-1) ?? 0,
});

/** The shares of intervals that are known; the last is that of all of them together. */
const readCompleteness = async (db: Executor, place: Place, bounds: readonly number[]): Promise<number[]> => {
  const range = rangeOf(bounds);
  const watches = await findWatches(db, place, range);
  const sensorIds = watches.map(({ sensorId }) => sensorId);
  const [online, seen] = await Promise.all([
    readOnlineSpans(db, sensorIds, range),
    readSightings(db, sensorIds, range),
  ]);
  const presence = { watches, online, seen };
  const now = Date.now();
  const whole = completenessOf(presence, [range.from, range.until], now);
  return [...completenessOf(presence, bounds, now), ...whole];
};

const readBuckets = async (
  db: Executor,
  place: Place,
  bounds: readonly number[],
  vehicleType: string | undefined,
): Promise<Bucket[]> => {
  const segments = [{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }];
  return bucketsOf(await readRollups(db, place, segments, vehicleType), bounds, vehicleType !== undefined);
};

/** The peak hour with its factor, read once more by quarters of an hour, as far as they are in the range. */
const readPeak = async (
  db: Executor,
  place: Place,
  start: number,
  { from, until }: Interval,
  vehicleType: string | undefined,
) => {
  const quarters = [0, 1, 2, 3, 4].map((n) => start + n * QUARTER_MS);
  const within = { from: Math.max(start, from), until: Math.min(start + HOUR_MS, until) };
  const segments = [{ minutes: 5 as const, ...within }];
  const rollups = await readRollups(db, place, segments, vehicleType);
  const volumes = bucketsOf(rollups, quarters, vehicleType !== undefined).map(({ speeds }) => speeds.volume);
  const volume = volumes.reduce((sum, n) => sum + n, 0);
  const most = Math.max(...volumes);
  return {
    peakHour: { start: new Date(start), volume },
    peakHourFactor: most > 0 ? Math.round((volume / (4 * most)) * 10_000) / 10_000 : null,
  };
};

const NO_PEAK = { peakHour: null, peakHourFactor: null };

const volumesOf = (buckets: readonly Bucket[]): number[] => buckets.map(({ speeds }) => speeds.volume);

/** What is nearest to hours: the buckets themselves, or what makes hours of shorter ones. */
const hoursFrom = (
  bounds: readonly number[],
  hours: readonly number[],
  volumes: readonly number[],
): number[] => {
  const sums = hours.slice(1).map(() => 0);
  let hour = 0;
  for (const [n, volume] of volumes.entries()) {
    while ((bounds[n] ?? 0) >= (hours[hour + 1] ?? Number.POSITIVE_INFINITY)) hour++;
    sums[hour] = (sums[hour] ?? 0) + volume;
  }
  return sums;
};

/**
 * What passed a sensor or a location, interval by interval.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is too long
 */
export const getFlow = async ({ db, settings }: Parts, input: FlowInput): Promise<Flow> => {
  const { timezone } = settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone, minutes);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, minutes, timezone);
  const fine = minutes > 60 ? localBounds(rangeOf(bounds), 60, timezone) : bounds;
  const [parts, completeness] = await Promise.all([
    readBuckets(db, place, fine, input.vehicleType),
    readCompleteness(db, place, bounds),
  ]);
  const hours = localBounds(rangeOf(bounds), 60, timezone);
  const start = busiest(hours, hoursFrom(fine, hours, volumesOf(parts)));
  const peak =
    start === null ? NO_PEAK : await readPeak(db, place, start, rangeOf(bounds), input.vehicleType);
  const buckets = minutes > 60 ? intoLonger(parts, fine, bounds) : parts;
  return {
    timezone,
    interval: input.interval,
    points: buckets.map((bucket, n) => ({
      start: new Date(bounds[n] ?? 0),
      end: new Date(bounds[n + 1] ?? 0),
      ...describeBucket(bucket, completeness[n] ?? 0, place.speedLimit),
    })),
    ...describeBucket(sumOf(buckets), completeness.at(-1) ?? 0, place.speedLimit),
    ...peak,
    speedLimit: place.speedLimit,
  };
};

/** Buckets of hours as buckets of days. */
const intoLonger = (parts: readonly Bucket[], fine: readonly number[], bounds: readonly number[]): Bucket[] =>
  bounds.slice(1).map((end, n) => {
    const first = fine.indexOf(bounds[n] ?? 0);
    return sumOf(parts.slice(first, fine.indexOf(end, first)));
  });

/**
 * The speeds of what passed a sensor or a location.
 * @throws AppError as `getFlow` does
 */
export const getSpeedDistribution = async (
  { db, settings }: Parts,
  input: SpeedDistributionInput,
): Promise<SpeedDistribution> => {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const place = await getPlace(db, input);
  const speeds = noSpeeds();
  for (const rollup of await readRollups(db, place, segmentsOf(range), input.vehicleType))
    if (input.vehicleType !== undefined || rollup.vehicleType === undefined) addSpeeds(speeds, rollup);
  const width = input.binWidth;
  const counts = new Map<number, number>();
  for (const [bin, count] of sortedBins(speeds)) {
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
    ...describeSpeeds(speeds, place.speedLimit),
    speedLimit: place.speedLimit,
  };
};

/**
 * What passes a sensor or a location in the hours of the week, local.
 * @throws AppError as `getFlow` does
 */
export const getHourOfWeek = async ({ db, settings }: Parts, input: HourOfWeekInput): Promise<HourOfWeek> => {
  const { timezone: zone } = settings.current();
  const range = requireRange(input, zone);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, 60, zone);
  const [buckets, completeness] = await Promise.all([
    readBuckets(db, place, bounds, input.vehicleType),
    readCompleteness(db, place, bounds),
  ]);
  const cells = Array.from({ length: 7 * 24 }, () => ({ hours: 0, speeds: noSpeeds() }));
  for (const [n, { speeds }] of buckets.entries()) {
    if (speeds.volume === 0 && (completeness[n] ?? 0) === 0) continue;
    const { weekday, hour } = DateTime.fromMillis(bounds[n] ?? 0, { zone });
    const cell = cells[(weekday - 1) * 24 + hour];
    if (!cell) continue;
    cell.hours += 1;
    cell.speeds.volume += speeds.volume;
    cell.speeds.measured += speeds.measured;
    cell.speeds.speedSum += speeds.speedSum;
  }
  const described = cells.map(({ hours, speeds }, n) => ({
    hour: n % 24,
    hours,
    meanVolume: hours > 0 ? Math.round((speeds.volume / hours) * 1_000) / 1_000 : null,
    meanSpeed: meanSpeed(speeds),
  }));
  return {
    timezone: zone,
    days: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({
      weekday,
      hours: described.slice((weekday - 1) * 24, weekday * 24),
    })),
  };
};

const MINUTE_MS = 60_000;

/** How every location is in these five minutes of the clock. */
export const getLive = async ({ db }: Parts): Promise<LiveTraffic> => {
  const until = Math.floor(Date.now() / MINUTE_MS + 1) * MINUTE_MS;
  const since = until - 5 * MINUTE_MS;
  const rows = await readLive(db, { from: since, until });
  return {
    since: new Date(since),
    locations: rows.map((row) => {
      const speed = meanOf(row.measured, row.speed_sum);
      const usualSpeed = row.speed_limit ?? meanOf(row.usual_measured, row.usual_sum);
      const isWatched = row.watched;
      return {
        locationId: row.id,
        locationName: row.name,
        volume: row.n > 0 || isWatched ? row.n : null,
        meanSpeed: speed,
        usualSpeed,
        speedLimit: row.speed_limit,
        level: levelOf({ volume: row.n, meanSpeed: speed, usualSpeed, isWatched }),
      };
    }),
  };
};

/**
 * The locations with most traffic, the quickest, or the most above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export const getTopLocations = async (
  { db, settings }: Parts,
  input: TopLocationsInput,
): Promise<TopLocations> => {
  const { timezone } = settings.current();
  return { timezone, locations: await listTopLocations(db, requireRange(input, timezone), input) };
};
