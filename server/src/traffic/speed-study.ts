import type { SpeedUnits } from '@gantry/contract/values';
import { type BinStatus, roundTo } from './bin.ts';
import {
  countBelow,
  countByClass,
  countUpTo,
  inUnits,
  type PercentileMethod,
  percentileOf,
  requireClasses,
  type SpeedBasis,
  type SpeedClass,
  type SpeedSample,
  type SpeedSource,
  sampleOf,
  speedAtRank,
} from './speed-sample.ts';

/** Speeds from a time with one limit. */
export type StudiedSpeeds = SpeedSource & {
  /** km/h; null without a limit. */
  readonly limit: number | null;
};

export interface StudyOptions {
  readonly units: SpeedUnits;
  readonly method: PercentileMethod;
  /** The classes of `CLASSED` and of `bins`; by default, classes of five units, and bins of one. */
  readonly binEdges?: readonly SpeedClass[];
  /** Whether the range of the study has ended. */
  readonly isOver?: boolean;
}

/** The figures of a speed study. Speeds are in the units asked, rounded to 0.1; shares are from 0 to 1. */
export interface SpeedStudy {
  /** Vehicles with a speed. */
  readonly n: number;
  readonly units: SpeedUnits;
  readonly method: PercentileMethod;
  readonly basis: SpeedBasis;
  readonly status: BinStatus;
  readonly reason: string | null;
  readonly mean: number | null;
  /** The standard deviation of the sample. */
  readonly sd: number | null;
  readonly v15: number | null;
  readonly v50: number | null;
  readonly v85: number | null;
  readonly v95: number | null;
  readonly v98: number | null;
  readonly max: number | null;
  /** The limit; null if there is none, or it was changed. */
  readonly limit: number | null;
  /** The ten units that contain most vehicles, `to` excluded; the lowest of several. */
  readonly pace: {
    readonly from: number;
    readonly to: number;
    readonly share: number;
    readonly below: number;
    readonly above: number;
  } | null;
  /** The shares of vehicles that were faster than the limit of their time plus `by`; null without limits. */
  readonly over: { readonly by: number; readonly share: number | null }[];
  /** The 95 % confidence interval of V85. */
  readonly v85Confidence: { readonly low: number; readonly high: number } | null;
  /** The number of speeds with which V85 is known to `margin` units. */
  readonly sampleSize: { readonly needed: number; readonly margin: number } | null;
  /** Vehicles by whole units, both bounds included. */
  readonly bins: { readonly from: number; readonly to: number; readonly count: number }[];
}

/** The smallest sample of which a percentile is given. */
export const MIN_MEASURED = 30;
/** Smaller samples are called small. */
const MIN_USUAL = 100;
const OVER_BY = [0, 5, 10, 15, 20] as const;
const PACE_WIDTH = 10;
/** The 97.5th percentile of the normal distribution. */
const Z95 = 1.96;
/** The 85th percentile of the normal distribution, with the precision of the published formula. */
const U85 = 1.04;
/** How exactly V85 should be known, in units. */
const MARGIN = { KMH: 2, MPH: 1 } as const;

/**
 * The figures of a speed study.
 * @throws AppError `badRequest` for classes that are not whole, not in order or overlap
 */
export function speedStudy(parts: readonly StudiedSpeeds[], options: StudyOptions): SpeedStudy {
  const { units, method, binEdges, isOver = true } = options;
  if (binEdges) requireClasses(binEdges);
  const sample = sampleOf(parts, units);
  const { n } = sample;
  const isEnough = n >= MIN_MEASURED;
  const percentile = (share: number): number | null =>
    isEnough ? rounded(percentileOf(sample, share, method, binEdges)) : null;
  const { mean, sd } = momentsOf(sample);
  const limits = new Set(parts.map(({ limit }) => limit));
  const [limit = null] = limits.size === 1 ? limits : [];
  return {
    n,
    units,
    method,
    basis: sample.basis,
    status: isEnough ? (isOver ? 'VALID' : 'PROVISIONAL') : 'INSUFFICIENT',
    reason: reasonOf(n),
    mean: rounded(mean),
    sd: rounded(sd),
    v15: percentile(0.15),
    v50: percentile(0.5),
    v85: percentile(0.85),
    v95: percentile(0.95),
    v98: percentile(0.98),
    max: n > 0 ? rounded(speedAtRank(sample, n)) : null,
    limit: limit === null ? null : roundTo(inUnits(limit, units), 1),
    pace: paceOf(sample),
    over: overLimit(parts, units).map(({ by, over, measured }) => ({
      by,
      share: measured > 0 ? roundTo(over / measured, 4) : null,
    })),
    v85Confidence: isEnough ? confidenceOf(sample, 0.85) : null,
    sampleSize: sd === null ? null : { needed: neededSample(sd, MARGIN[units]), margin: MARGIN[units] },
    bins: binsOf(sample, binEdges),
  };
}

function reasonOf(n: number): string | null {
  if (n === 0) return 'No vehicle has a speed';
  if (n < MIN_MEASURED) return `Percentiles need at least ${MIN_MEASURED} speeds, and there are ${n}`;
  return n < MIN_USUAL ? `Small sample: ${n} speeds` : null;
}

/** The mean and the standard deviation of a sample, not rounded; null if there are too few speeds. */
export function momentsOf({ n, sum, groups }: SpeedSample): { mean: number | null; sd: number | null } {
  if (n === 0) return { mean: null, sd: null };
  const mean = sum / n;
  if (n === 1) return { mean, sd: null };
  // About the mean of the groups, which is not exactly that of the speeds where these are spread.
  const centre = groups.reduce((all, { low, high, count }) => all + ((low + high) / 2) * count, 0) / n;
  const squares = groups.reduce((all, { low, high, count }) => {
    const spread = ((high - low) ** 2 * (1 - 1 / count ** 2)) / 12;
    return all + count * (((low + high) / 2 - centre) ** 2 + spread);
  }, 0);
  return { mean, sd: Math.sqrt(squares / (n - 1)) };
}

/**
 * The numbers of vehicles with a limit, and of those faster than the limit of their time plus 0 to 20 units. Limits are
 * rounded to 0.1 units.
 */
export function overLimit(
  parts: readonly StudiedSpeeds[],
  units: SpeedUnits,
): { by: number; over: number; measured: number }[] {
  const limited = parts.flatMap((part) =>
    part.limit === null
      ? []
      : [{ sample: sampleOf([part], units), limit: roundTo(inUnits(part.limit, units), 1) }],
  );
  const measured = limited.reduce((sum, { sample }) => sum + sample.n, 0);
  return OVER_BY.map((by) => ({
    by,
    measured,
    over: limited.reduce(
      (sum, { sample, limit }) => sum + sample.n - countUpTo(sample, roundTo(limit + by, 1)),
      0,
    ),
  }));
}

function paceOf(sample: SpeedSample): SpeedStudy['pace'] {
  const { n } = sample;
  if (n === 0) return null;
  let [from, most] = [0, -1];
  const fastest = Math.floor(speedAtRank(sample, n));
  const slower = Array.from({ length: fastest + 1 + PACE_WIDTH }, (_, speed) => countBelow(sample, speed));
  for (let start = 0; start <= fastest; start++) {
    const inside = (slower[start + PACE_WIDTH] ?? n) - (slower[start] ?? 0);
    if (inside > most) [from, most] = [start, inside];
  }
  const below = slower[from] ?? 0;
  const share = (count: number): number => roundTo(count / n, 4);
  return {
    from,
    to: from + PACE_WIDTH,
    share: share(most),
    below: share(below),
    above: share(n - below - most),
  };
}

/**
 * The 95 % confidence interval of a percentile by order statistics: the speeds of the vehicles n · p ± 1.96 · √(n · p ·
 * (1 − p)), with ranks rounded outwards.
 */
function confidenceOf(sample: SpeedSample, share: number): { low: number; high: number } {
  const [low, high] = confidenceRanks(sample.n, share);
  const at = (rank: number): number => roundTo(speedAtRank(sample, rank), 1);
  return { low: at(low), high: at(high) };
}

/** The ranks, from 1 to n, between which a percentile lies with a confidence of 95 %. */
export function confidenceRanks(n: number, share: number): [low: number, high: number] {
  const half = Z95 * Math.sqrt(n * share * (1 - share));
  return [Math.max(1, Math.floor(n * share - half)), Math.min(n, Math.ceil(n * share + half))];
}

/**
 * The sample with which V85 is known to `margin` units with a confidence of 95 %, not rounded: s² · z² · (2 + u²) / (2 ·
 * e²) (Buckholz, University of North Florida, TTE 4004).
 */
export function sampleSizeFor(sd: number, margin: number): number {
  return (sd ** 2 * Z95 ** 2 * (2 + U85 ** 2)) / (2 * margin ** 2);
}

/** The sample that a study needs: a whole number, and at least 30. */
export function neededSample(sd: number, margin: number): number {
  return Math.max(MIN_MEASURED, Math.ceil(sampleSizeFor(sd, margin)));
}

function binsOf(sample: SpeedSample, binEdges?: readonly SpeedClass[]): SpeedStudy['bins'] {
  const { n } = sample;
  if (n === 0 && !binEdges) return [];
  const first = Math.floor(speedAtRank(sample, 1));
  const last = Math.floor(speedAtRank(sample, n));
  const classes =
    binEdges ?? Array.from({ length: last - first + 1 }, (_, i): SpeedClass => [first + i, first + i]);
  const counts = countByClass(sample, classes);
  return classes.map(([from, to], i) => ({ from, to, count: counts[i] ?? 0 }));
}

/** Rounded to 0.1 units. */
function rounded(speed: number | null): number | null {
  return speed === null ? null : roundTo(speed, 1);
}
