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
import type { SpeedUnits } from '@gantry/contract/values';
import { DateTime } from 'luxon';
import { memoizedCaseFold } from '../platform/case-fold.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { requireRange } from '../platform/time.ts';
import { coarserIf, type Parts, rangeOf, readTraffic, segmentsWithin, type Traffic } from './figures.ts';
import { bucketsOf, describeBucket, describeSpeeds, intoLonger, sumOf, wholeOf } from './flow.ts';
import { MIN_HOUR_COVERAGE } from './local-hours.ts';
import { busiestHour, peakHourFactor } from './peak-hours.ts';
import {
  getPlace,
  type LiveLocation,
  listTopLocations,
  readLive,
  readSharesOverLimit,
  type TopLocation,
  type WantedPlace,
} from './places-store.ts';
import type { Excluding } from './quality/sensor-flags.ts';
import { findDoubtedLocations } from './quality/store.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';
import { cutSegments, segmentsOf } from './segments.ts';
import { meanOf, meanSpeed, type Speeds, shareOf, sumOfSpeeds } from './speeds.ts';
import { type Configured, unitsOf } from './studies.ts';

/**
 * How these figures leave out rejected data. A long time without a vehicle is as known as the status of the sensor says: on a
 * quiet road it is usual, and nothing was counted in it that would have to be left out.
 */
function asKnown(zone: string): Excluding {
  return { zone, isSilenceJudged: false };
}

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
  const segments = segmentsWithin(place, fine);
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, segments, { now, vehicleType, excluding: asKnown(timezone) });
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
 * The locations with most traffic, the highest speeds, or most vehicles above the limit.
 * @throws AppError `badRequest` for a range that ends before it starts, or is too long
 */
export async function getTopLocations(
  { db, settings, clock, config }: Configured,
  { by, limit, minimumVolume, ...input }: TopLocationsInput,
): Promise<TopLocations> {
  const { timezone } = settings.current();
  const range = requireRange(input, timezone);
  const at = { zone: timezone, now: clock.now() };
  const all: Ranked[] = [];
  const doubted = await findDoubtedLocations(db, range);
  for (const { isMixed, ...known } of await listTopLocations(db, range)) {
    const location = { ...known, isMixed: isMixed || doubted.has(known.locationId) };
    all.push(
      location.isMixed ? await readLocation(db, location, range, at, by === 'shareOverLimit') : location,
    );
  }
  const known = all.filter(
    ({ volume, measured }) => volume > 0 && (by === 'volume' || measured >= minimumVolume),
  );
  // Shares are read from histograms, so only of the locations that are shown, if possible.
  const ranked =
    by === 'shareOverLimit'
      ? (await withShares(db, known, range, at)).sort(inOrder(by)).slice(0, limit)
      : await withShares(db, known.sort(inOrder(by)).slice(0, limit), range, at);
  return {
    timezone,
    locations: ranked.map(({ isMixed: _, isLimitChanged: __, units, ...shown }) => ({
      shareOverLimit: null,
      ...shown,
      units: units ?? config.SPEED_UNITS,
    })),
  };
}

/** A location, with its share above the limit if that is known already. */
type Ranked = TopLocation & { readonly shareOverLimit?: number | null };

async function withShares(
  db: Executor,
  locations: readonly Ranked[],
  range: Interval,
  at: { zone: string; now: number },
): Promise<Ranked[]> {
  const simple = locations.filter(({ isMixed, isLimitChanged }) => !isMixed && !isLimitChanged);
  const ids = simple.map(({ locationId }) => locationId);
  const shares = await readSharesOverLimit(db, ids, range);
  const judged: Ranked[] = [];
  for (const location of locations) {
    const { locationId, isMixed, isLimitChanged, shareOverLimit } = location;
    if (shareOverLimit !== undefined) judged.push(location);
    else if (isMixed || isLimitChanged) judged.push(await readLocation(db, location, range, at));
    else judged.push({ ...location, shareOverLimit: shares.get(locationId) ?? null });
  }
  return judged;
}

/**
 * The figures of a location whose limit changed within the range, or at which sensors of several types stand.
 * @param hasShare false to leave out the share above the limit, for which all speeds would be read
 */
async function readLocation(
  db: Executor,
  location: TopLocation,
  range: Interval,
  { zone, now }: { zone: string; now: number },
  hasShare = true,
): Promise<Ranked> {
  const place = await getPlace(db, { locationId: location.locationId });
  const cuts = place.limits.map(({ since }) => since);
  const { rollups } = await readTraffic(db, place, cutSegments(segmentsOf(range), cuts), {
    now,
    detail: hasShare ? 'speeds' : 'sums',
    excluding: asKnown(zone),
  });
  const { speeds, judged } = wholeOf(rollups, place.limits);
  return {
    ...location,
    volume: speeds.volume,
    measured: speeds.measured,
    meanSpeed: meanSpeed(speeds),
    ...(hasShare && { shareOverLimit: shareOf(judged) }),
  };
}

/** In descending order, those without a value last; on a tie, the greater id first. */
function inOrder(by: TopLocationsInput['by']) {
  return (a: Ranked, b: Ranked): number =>
    (b[by] ?? -1) - (a[by] ?? -1) || (a.locationId < b.locationId ? 1 : -1);
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
  const segments = segmentsWithin(place, bounds);
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, segments, { now, vehicleType, excluding: asKnown(zone) });
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
  const segments = cutSegments(
    segmentsOf(range),
    place.limits.map(({ since }) => since),
  );
  const bounds = [segments[0]?.from ?? range.from, segments.at(-1)?.until ?? range.until];
  const { vehicleType } = input;
  const traffic = await readTraffic(db, place, segments, {
    now: clock.now(),
    vehicleType,
    excluding: asKnown(timezone),
  });
  const { whole: completeness } = traffic.completenessOf(bounds);
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
