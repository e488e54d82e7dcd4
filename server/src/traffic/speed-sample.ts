import type { SpeedUnits } from '@gantry/contract/values';
import { invalidInput } from '../platform/error.ts';
import { type Speeds, sumOfSpeeds } from './speeds.ts';

// Speeds of vehicles in the order of their ranks, from which the figures of a study follow.

/**
 * How a percentile is read:
 *
 * - `NEAREST_RANK`: the speed of vehicle number round(n · p), half up, counted from the slowest.
 * - `LINEAR`: interpolated between ranks (Hyndman and Fan, type 7).
 * - `CLASSED`: interpolated within the class that contains it, from its first to its last whole unit.
 */
export type PercentileMethod = 'NEAREST_RANK' | 'LINEAR' | 'CLASSED';

/** The first and last whole unit of a class of speeds. A speed belongs to the class of its whole units. */
export type SpeedClass = readonly [from: number, to: number];

/**
 * How well the speeds are known:
 *
 * - `EXACT`: each speed is known.
 * - `WHOLE_UNITS`: the devices report whole km/h or mph, so each is known, too.
 * - `INTERPOLATED`: vehicles are spread evenly over their km/h.
 * - `SHIFTED`: as in the other figures of traffic, for small samples: all are as far below the upper end of their km/h
 *   as they are on average.
 */
export type SpeedBasis = 'EXACT' | 'WHOLE_UNITS' | 'INTERPOLATED' | 'SHIFTED';

/** Speeds as counts by km/h, or each of them in km/h. */
export type SpeedSource = { readonly speeds: Speeds } | { readonly values: readonly number[] };

/** Vehicles whose speeds are spread evenly from `low` to `high`, or equal if these are. */
interface Group {
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

export interface SpeedSample {
  readonly units: SpeedUnits;
  /** Vehicles with a speed. */
  readonly n: number;
  /** The exact sum of the speeds. */
  readonly sum: number;
  readonly basis: SpeedBasis;
  /** In ascending order. */
  readonly groups: readonly Group[];
}

export const KMH_PER_MPH = 1.609344;

/** A speed that is this close to a whole unit was reported as that, and converted. */
const WHOLE_WITHIN = 0.002 + 1e-9;

/** In smaller samples, the even spread over a km/h is a worse estimate than the mean distance from its end. */
const MIN_INTERPOLATED = 200;

/** The highest speed of a vehicle that is believed, in km/h. */
export const MAX_SPEED = 250;

/** Whether a speed (km/h) can be that of a vehicle (rule R14). Others are not in any figure of speeds. */
export function isPlausibleSpeed(speed: number): boolean {
  return speed > 0 && speed <= MAX_SPEED;
}

/** A speed in km/h in other units; within 0.002 of a whole unit, it is that unit. */
export function inUnits(speed: number, units: SpeedUnits): number {
  const converted = units === 'MPH' ? speed / KMH_PER_MPH : speed;
  const whole = Math.round(converted);
  return Math.abs(converted - whole) <= WHOLE_WITHIN ? whole : converted;
}

/** The plausible speeds of all sources together. */
export function sampleOf(sources: readonly SpeedSource[], units: SpeedUnits): SpeedSample {
  const counted = sampleOfHistogram(
    plausibleSpeeds(sumOfSpeeds(sources.flatMap((source) => ('speeds' in source ? [source.speeds] : [])))),
    units,
  );
  const each = sampleOfValues(
    sources.flatMap((source) => ('values' in source ? source.values : [])),
    units,
  );
  if (each.n === 0) return counted;
  if (counted.n === 0) return each;
  return {
    units,
    n: counted.n + each.n,
    sum: counted.sum + each.sum,
    basis: counted.basis,
    groups: [...counted.groups, ...each.groups].sort((a, b) => a.low + a.high - b.low - b.high),
  };
}

function sampleOfValues(values: readonly number[], units: SpeedUnits): SpeedSample {
  const counts = new Map<number, number>();
  let [n, sum] = [0, 0];
  for (const value of values) {
    if (!isPlausibleSpeed(value)) continue;
    const speed = inUnits(value, units);
    counts.set(speed, (counts.get(speed) ?? 0) + 1);
    n++;
    sum += speed;
  }
  const groups = [...counts].map(([speed, count]) => ({ low: speed, high: speed, count }));
  return { units, n, sum, basis: 'EXACT', groups: groups.sort((a, b) => a.low - b.low) };
}

/** Without the speeds that no vehicle has. Of those above the highest, only their km/h is known. */
export function plausibleSpeeds(speeds: Speeds): Speeds {
  const { bins, counts } = speeds.histogram;
  if (bins.every(isPlausibleSpeed)) return speeds;
  const kept = bins.flatMap((bin, i) => (isPlausibleSpeed(bin) ? [{ bin, count: counts[i] ?? 0 }] : []));
  return {
    volume: speeds.volume,
    measured: kept.reduce((sum, { count }) => sum + count, 0),
    speedSum: bins.reduce(
      (sum, bin, i) => (bin > MAX_SPEED ? sum - bin * 1_000 * (counts[i] ?? 0) : sum),
      speeds.speedSum,
    ),
    histogram: { bins: kept.map(({ bin }) => bin), counts: kept.map(({ count }) => count) },
  };
}

function sampleOfHistogram(speeds: Speeds, units: SpeedUnits): SpeedSample {
  const { bins, counts } = speeds.histogram;
  const n = counts.reduce((sum, count) => sum + count, 0);
  const sum = speeds.speedSum / 1_000;
  const wholes = wholeSpeeds(speeds, n);
  const below = n === 0 ? 0 : bins.reduce((all, bin, i) => all + bin * (counts[i] ?? 0), -sum) / n;
  const isSpread = wholes === null && n >= MIN_INTERPOLATED;
  const groups = bins.map((bin, i) => {
    const high = wholes?.[i] ?? (isSpread ? bin : Math.max(0, bin - below));
    const low = isSpread ? Math.max(0, bin - 1) : high;
    return { low: inUnits(low, units), high: inUnits(high, units), count: counts[i] ?? 0 };
  });
  const basis = wholes ? 'WHOLE_UNITS' : isSpread ? 'INTERPOLATED' : 'SHIFTED';
  return { units, n, sum: units === 'MPH' ? sum / KMH_PER_MPH : sum, basis, groups };
}

/**
 * The speed (km/h) of each bin if all devices report whole km/h or all report whole mph: then their sum, which is
 * exact, is that of whole units. Whole mph are in different bins of 1 km/h. Otherwise null.
 */
function wholeSpeeds({ speedSum, histogram: { bins, counts } }: Speeds, n: number): readonly number[] | null {
  const isSum = (speeds: readonly number[], unit: number): boolean => {
    const sum = speeds.reduce((all, speed, i) => all + speed * (counts[i] ?? 0), 0);
    return Math.abs(sum - speedSum / 1_000) <= WHOLE_WITHIN * unit * n;
  };
  if (isSum(bins, 1)) return bins;
  const miles = bins.map((bin) => Math.floor(inUnits(bin, 'MPH')));
  if (miles.some((speed, i) => Math.ceil(inUnits(speed * KMH_PER_MPH, 'KMH')) !== bins[i])) return null;
  const speeds = miles.map((speed) => speed * KMH_PER_MPH);
  return isSum(speeds, KMH_PER_MPH) ? speeds : null;
}

/** The speed of a vehicle. @param rank counted from the slowest, from 1 to n */
export function speedAtRank({ groups }: SpeedSample, rank: number): number {
  let before = 0;
  for (const { low, high, count } of groups) {
    if (rank <= before + count) return low + ((high - low) * (rank - before - 0.5)) / count;
    before += count;
  }
  return groups.at(-1)?.high ?? 0;
}

/** The number of vehicles that are not faster. */
export function countUpTo({ groups }: SpeedSample, speed: number): number {
  let sum = 0;
  for (const { low, high, count } of groups)
    if (speed >= high) sum += count;
    else if (speed > low) sum += Math.min(count, Math.floor(((speed - low) / (high - low)) * count + 0.5));
  return sum;
}

/** The number of vehicles that are slower. */
export function countBelow({ groups }: SpeedSample, speed: number): number {
  let sum = 0;
  for (const { low, high, count } of groups)
    if (speed > high) sum += count;
    else if (speed > low) sum += Math.min(count, Math.ceil(((speed - low) / (high - low)) * count + 0.5) - 1);
  return sum;
}

/** The vehicles in each class. */
export function countByClass(sample: SpeedSample, classes: readonly SpeedClass[]): number[] {
  return classes.map(([from, to]) => countBelow(sample, to + 1) - countBelow(sample, from));
}

/**
 * A percentile, or null without speeds.
 * @param share from 0 to 1
 * @param classes for `CLASSED`
 */
export function percentileOf(
  sample: SpeedSample,
  share: number,
  method: PercentileMethod,
  classes: readonly SpeedClass[] = USUAL_CLASSES,
): number | null {
  if (sample.n === 0) return null;
  if (method === 'CLASSED') return classedPercentile(classes, countByClass(sample, classes), share);
  if (method === 'NEAREST_RANK') return speedAtRank(sample, nearestRank(sample.n, share));
  const rank = 1 + share * (sample.n - 1);
  const lower = speedAtRank(sample, Math.floor(rank));
  return lower + (speedAtRank(sample, Math.ceil(rank)) - lower) * (rank % 1);
}

/** round(n · share), half up, from 1 to n. Products such as 30 · 0.95 are not exact, and must not fall below the half. */
function nearestRank(n: number, share: number): number {
  return Math.min(n, Math.max(1, Math.floor(n * share + 0.5 + 1e-9)));
}

/**
 * A percentile of counts by class: vehicles are spread evenly from the first to the last whole unit of their class, as
 * in the city of Toronto's MOVE. Null without vehicles.
 */
export function classedPercentile(
  classes: readonly SpeedClass[],
  counts: readonly number[],
  share: number,
): number | null {
  const wanted = share * counts.reduce((sum, count) => sum + count, 0);
  let before = 0;
  let last: number | null = null;
  for (const [i, [from, to]] of classes.entries()) {
    const count = counts[i] ?? 0;
    if (count === 0) continue;
    if (before + count >= wanted) return from + ((to - from) * (wanted - before)) / count;
    before += count;
    last = to;
  }
  return last;
}

/** Classes of equal width, the first of which also contains 0: 0 to 5, 6 to 10, and so on. */
function classesOf(width: number): SpeedClass[] {
  return Array.from({ length: Math.ceil(MAX_SPEED / width) }, (_, n) => [
    n === 0 ? 0 : n * width + 1,
    (n + 1) * width,
  ]);
}

const USUAL_CLASSES: readonly SpeedClass[] = classesOf(5);

/**
 * Refuses classes that are not whole, not in order or overlap.
 * @throws AppError `badRequest`
 */
export function requireClasses(classes: readonly SpeedClass[]): void {
  for (const [i, [from, to]] of classes.entries()) {
    const named = `[${from}, ${to}]`;
    if (![from, to].every((edge) => Number.isInteger(edge) && edge >= 0))
      throw invalidInput('binEdges', `${named} has to name whole speeds from 0, such as [31, 35]`);
    if (from > to) throw invalidInput('binEdges', `${named} ends before it begins: swap its edges`);
    const [, before] = classes[i - 1] ?? [0, -1];
    if (from <= before)
      throw invalidInput(
        'binEdges',
        `${named} has to begin above ${before}: list classes in order and without overlap`,
      );
  }
}
