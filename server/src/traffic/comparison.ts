import type { SpeedUnits } from '@gantry/contract/values';
import { roundTo } from './bin.ts';
import { percentileOf, sampleOf } from './speed-sample.ts';
import {
  MIN_MEASURED,
  momentsOf,
  overLimit,
  type SpeedStudy,
  type StudiedSpeeds,
  speedStudy,
} from './speed-study.ts';

/** The number of observations, their mean, and their standard deviation. */
export interface Moments {
  readonly n: number;
  readonly mean: number;
  readonly sd: number;
}

/** A part of a number of observations. */
export interface Proportion {
  readonly n: number;
  readonly count: number;
}

/**
 * A difference, before minus after, and whether it could be chance. All but the difference is null, and `reason` says
 * why, if there are too few observations.
 */
export interface Difference {
  readonly difference: number | null;
  /** The difference divided by its standard error; in small samples Student's t. */
  readonly z: number | null;
  /** The probability of such a difference in either direction if nothing had changed. */
  readonly p: number | null;
  /** Whether that is below 5 %. */
  readonly significant: boolean | null;
  readonly reason: string | null;
}

export interface Comparison {
  readonly before: SpeedStudy;
  readonly after: SpeedStudy;
  /** Of the mean speeds. */
  readonly mean: Difference;
  /** Of the shares over the limit. */
  readonly share: Difference;
  readonly v85: Difference;
}

/** Smaller samples are compared by the t-test. */
const MIN_NORMAL = 30;
const SIGNIFICANT_BELOW = 0.05;
/** √(p · (1 − p)) / φ(u) for p = 0.85, where φ is the density of the normal distribution and u its 85th percentile. */
const V85_ERROR = 1.5315;

/** Compares the speeds before and after a measure. Percentiles are those of the nearest rank. */
export function compareStudies(
  before: readonly StudiedSpeeds[],
  after: readonly StudiedSpeeds[],
  units: SpeedUnits,
): Comparison {
  const [first, second] = [sideOf(before, units), sideOf(after, units)];
  return {
    before: first.study,
    after: second.study,
    mean:
      first.moments && second.moments
        ? compareMeans(first.moments, second.moments)
        : unknown('Means need at least two speeds in each study'),
    share:
      first.over && second.over
        ? compareShares(first.over, second.over)
        : unknown('One of the studies has no speed with a limit'),
    v85:
      first.v85 && second.v85
        ? compareV85(first.v85, second.v85)
        : unknown(`V85 needs at least ${MIN_MEASURED} speeds in each study`),
  };
}

/** What is compared of a study, not rounded; null without enough speeds. */
function sideOf(parts: readonly StudiedSpeeds[], units: SpeedUnits) {
  const sample = sampleOf(parts, units);
  const { mean, sd } = momentsOf(sample);
  const moments: Moments | null = mean === null || sd === null ? null : { n: sample.n, mean, sd };
  const v85 = percentileOf(sample, 0.85, 'NEAREST_RANK');
  const [over] = overLimit(parts, units);
  return {
    study: speedStudy(parts, { units, method: 'NEAREST_RANK' }),
    moments,
    v85: moments && v85 !== null && sample.n >= MIN_MEASURED ? { n: sample.n, sd: moments.sd, v85 } : null,
    over: over && over.measured > 0 ? { n: over.measured, count: over.over } : null,
  };
}

/**
 * Two means by Welch's test: z = (m₁ − m₂) / √(s₁² / n₁ + s₂² / n₂), which is t with Satterthwaite's degrees of freedom
 * if one of the samples is smaller than 30.
 */
export function compareMeans(before: Moments, after: Moments): Difference {
  const difference = before.mean - after.mean;
  const [a, b] = [before, after].map(({ n, sd }) => sd ** 2 / n) as [number, number];
  const isSmall = Math.min(before.n, after.n) < MIN_NORMAL;
  const freedom = (a + b) ** 2 / (a ** 2 / (before.n - 1) + b ** 2 / (after.n - 1));
  return tested(difference, Math.sqrt(a + b), 1, isSmall ? (t) => tailsOfStudent(t, freedom) : tailsOfNormal);
}

/** Two shares by the z-test with the pooled share. */
export function compareShares(before: Proportion, after: Proportion): Difference {
  const pooled = (before.count + after.count) / (before.n + after.n);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / before.n + 1 / after.n));
  return tested(before.count / before.n - after.count / after.n, error, 4, tailsOfNormal);
}

/**
 * Two 85th percentiles by the asymptotic distribution of sample quantiles (Cramér), with speeds that are distributed
 * normally (Hou, Sun and Edara, Transportation Research Record 2279, pp. 47–53).
 */
export function compareV85(
  before: { readonly n: number; readonly sd: number; readonly v85: number },
  after: { readonly n: number; readonly sd: number; readonly v85: number },
): Difference {
  const error = V85_ERROR * Math.sqrt(before.sd ** 2 / before.n + after.sd ** 2 / after.n);
  return tested(before.v85 - after.v85, error, 1, tailsOfNormal);
}

function tested(
  difference: number,
  error: number,
  decimals: number,
  tails: (z: number) => number,
): Difference {
  const rounded = roundTo(difference, decimals);
  if (error === 0)
    return {
      ...unknown('All values of each study are equal, so nothing is known about chance'),
      difference: rounded,
    };
  const z = difference / error;
  const p = tails(z);
  return {
    difference: rounded,
    z: roundTo(z, 4),
    p: roundTo(p, 4),
    significant: p < SIGNIFICANT_BELOW,
    reason: null,
  };
}

function unknown(reason: string): Difference {
  return { difference: null, z: null, p: null, significant: null, reason };
}

/**
 * The probability that a value of the normal distribution is at least as far from 0: 1 − erf(|z| / √2), with the series
 * of the error function (NIST Digital Library of Mathematical Functions, 7.6.2).
 */
export function tailsOfNormal(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  if (x > 6) return 0;
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return Math.max(0, 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum);
}

/**
 * The probability that a value of Student's t distribution is at least as far from 0. With t = √ν · tan θ, its density
 * is in proportion to cos θ to the power of ν − 1, which is integrated by Simpson's rule.
 * @param freedom the degrees of freedom ν, at least 1
 */
export function tailsOfStudent(t: number, freedom: number): number {
  const density = (angle: number): number => Math.max(0, Math.cos(angle)) ** (freedom - 1);
  const from = Math.atan(Math.abs(t) / Math.sqrt(freedom));
  return integral(density, from, Math.PI / 2) / integral(density, 0, Math.PI / 2);
}

function integral(density: (at: number) => number, from: number, until: number): number {
  const steps = 2_000;
  const step = (until - from) / steps;
  let sum = density(from) + density(until);
  for (let n = 1; n < steps; n++) sum += (n % 2 === 1 ? 4 : 2) * density(from + n * step);
  return (sum * step) / 3;
}
