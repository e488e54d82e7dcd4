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
  type TrafficLevel,
} from '@gantry/contract/traffic';
import type { SpeedUnits } from '@gantry/contract/values';
import { DateTime } from 'luxon';
import { memoizedCaseFold } from '../platform/case-fold.ts';
import type { Interval } from '../platform/time.ts';
import { requireRange } from '../platform/time.ts';
import {
  asWhole,
  coarserIf,
  inIntervals,
  type Parts,
  rangeOf,
  readTraffic,
  type Traffic,
} from './figures.ts';
import { bucketsOf, describeBucket, describeSpeeds, intoLonger, sumOf, wholeOf } from './flow.ts';
import { MIN_HOUR_COVERAGE } from './local-hours.ts';
import { busiestHour, peakHourFactor } from './peak-hours.ts';
import { getPlace, type LiveLocation, readLive, type WantedPlace } from './places-store.ts';
import { asKnown } from './quality/sensor-flags.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';
import { meanOf, meanSpeed, type Speeds, sumOfSpeeds } from './speeds.ts';
import { type Configured, unitsOf } from './studies.ts';

/**
 * The traffic of a sensor or a location by interval.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is too long
 */
export async function getFlow(app: Configured, input: FlowInput & WantedPlace): Promise<Flow> {
  const { db, settings, clock } = app;
  const { timezone } = settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone);
  requireFewPoints(range, minutes);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, minutes, timezone);
  const fine = minutes > 60 ? localBounds(rangeOf(bounds), 60, timezone) : bounds;
  const now = clock.now();
  const read = inIntervals(place, fine);
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, read, { now, vehicleType, excluding: asKnown(timezone) });
  const parts = bucketsOf(traffic.rollups, fine, place.limits);
  const buckets = intoLonger(parts, fine, bounds);
  const completeness = traffic.completenessOf(bounds);
  const isRejected = traffic.isRejectedIn(bounds);
  const { from, until } = rangeOf(bounds);
  const caseFoldName = memoizedCaseFold();
  const isGap = completeness.coverage.some((share, n) => share === 0 && (bounds[n + 1] ?? until) <= now);
  const longer = isGap ? await traffic.readLongPeriods() : [];
  return {
    timezone,
    interval: input.interval,
    points: buckets.map((bucket, n) => {
      const end = bounds[n + 1] ?? until;
      const start = bounds[n] ?? from;
      const known = {
        completeness: completeness.shares[n] ?? 0,
        coverage: completeness.coverage[n] ?? 0,
        isOver: end <= now,
        isRejected: isRejected[n] ?? false,
      };
      return {
        ...coarserIf(describeBucket(bucket, known, caseFoldName), { from: start, until: end }, longer),
        start: new Date(start),
        end: new Date(end),
      };
    }),
    ...describeBucket(
      sumOf(buckets),
      {
        completeness: completeness.whole,
        coverage: traffic.completenessOf([from, until]).coverage[0] ?? 0,
        isOver: until <= now,
        isRejected: isRejected.includes(true),
      },
      caseFoldName,
    ),
    ...(await readPeak(traffic, localBounds(range, 15, timezone), range)),
    speedLimit: place.speedLimit,
    units: await unitsOf(app, input),
  };
}

/**
 * The peak hour of quarter hours that are over, complete and wholly in the range, with its factor.
 * @param quarters the bounds of the quarter hours
 */
async function readPeak(
  { readVolumes }: Traffic,
  quarters: readonly number[],
  { from, until }: Interval,
): Promise<Pick<Flow, 'peakHour' | 'peakHourFactor'>> {
  const bounds = quarters.filter((bound) => bound >= from && bound <= until);
  const bins = bounds.length < 2 ? [] : await readVolumes(bounds);
  const hour = busiestHour(bins.filter(({ start, end }) => end - start === QUARTER_MS));
  if (hour === null) return { peakHour: null, peakHourFactor: null };
  const volumes = hour.map(({ volume }) => volume ?? 0);
  return {
    peakHour: {
      start: new Date(hour[0]?.start ?? 0),
      volume: volumes.reduce((sum, volume) => sum + volume, 0),
    },
    peakHourFactor: peakHourFactor(volumes),
  };
}

const QUARTER_MS = 15 * MINUTE_MS;

/** The traffic at every location in the last five minutes, the current minute included. */
export async function getLive({ db, clock, config }: Configured): Promise<LiveTraffic> {
  const until = Math.floor(clock.now() / MINUTE_MS + 1) * MINUTE_MS;
  const since = until - 5 * MINUTE_MS;
  const rows = await readLive(db, { from: since, until });
  return { since: new Date(since), locations: rows.map((row) => describeLive(row, config.SPEED_UNITS)) };
}

/** From this number of motor vehicles with a speed on, the level depends on their speeds. */
const MIN_LIVE_SAMPLE = 5;

/** A location's last minutes, of the type of sensors that covers most of them (`chooseTypes` in counting.ts). */
function describeLive(
  { id, name, speed_limit, units, types, working, ...usually }: LiveLocation,
  usualUnits: SpeedUnits,
): LiveTraffic['locations'][number] {
  const [counted, ...others] = [...types].sort(
    (a, b) =>
      Number(a.silent) - Number(b.silent) ||
      b.covered - a.covered ||
      Number(b.measured > 0) - Number(a.measured > 0) ||
      (a.type < b.type ? -1 : 1),
  );
  const [quickest] = others.sort((a, b) => b.measured - a.measured);
  const measuring = (counted?.measured ?? 0) > 0 ? counted : (quickest ?? counted);
  const isMonitored = types.some(({ monitored }) => monitored);
  const volume = counted?.n ?? 0;
  const measured = measuring?.measured ?? 0;
  const speed = measuring ? meanOf(measured, measuring.speed_sum) : null;
  const usual = speed_limit ?? meanOf(usually.usual_measured, usually.usual_sum);
  return {
    locationId: id,
    locationName: name,
    volume: volume > 0 || isMonitored ? volume : null,
    measured,
    meanSpeed: speed,
    usualSpeed: usual,
    speedLimit: speed_limit,
    units: units ?? usualUnits,
    level: levelOf({ measured, meanSpeed: speed, usualSpeed: usual, isMonitored: working }),
  };
}

/** The figures of a location's last minutes; speeds in km/h. */
interface LiveFigures {
  readonly measured: number;
  readonly meanSpeed: number | null;
  readonly usualSpeed: number | null;
  /** Whether any of its counting sensors is ONLINE. */
  readonly isMonitored: boolean;
}

/** The traffic level, by the table in the contract. */
function levelOf({ measured, meanSpeed, usualSpeed, isMonitored }: LiveFigures): TrafficLevel {
  if (measured < MIN_LIVE_SAMPLE) return isMonitored ? 'FREE' : 'NO_DATA';
  if (meanSpeed === null || usualSpeed === null || usualSpeed === 0) return 'NO_DATA';
  return LEVELS.find(({ from }) => meanSpeed / usualSpeed >= from)?.level ?? 'CONGESTED';
}

/**
 * The traffic of a sensor or a location by hour of the local week, over the hours that have ended and are known well
 * enough.
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
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, inIntervals(place, bounds), {
    now,
    vehicleType,
    excluding: asKnown(zone),
  });
  const buckets = bucketsOf(traffic.rollups, bounds, place.limits);
  const { coverage } = traffic.completenessOf(bounds);
  const cells = Array.from({ length: 7 * 24 }, (): Speeds[] => []);
  for (const [n, { speeds }] of buckets.entries()) {
    const [start, end] = [bounds[n] ?? 0, bounds[n + 1] ?? 0];
    if (end > now || end - start < HOUR_MS || (coverage[n] ?? 0) < MIN_HOUR_COVERAGE) continue;
    const { weekday, hour } = DateTime.fromMillis(start, { zone });
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
  const read = asWhole(place, range);
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, read, {
    now: clock.now(),
    vehicleType,
    excluding: asKnown(timezone),
  });
  const { whole: completeness } = traffic.completenessOf(read.edges);
  const { speeds, judged } = wholeOf(traffic.rollups, place.limits);
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
