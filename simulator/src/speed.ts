import { limitKmh, type Place } from './places.ts';
import type { Random } from './random.ts';

/** Speeds above the limit by more than this, in km/h, are reported as SPEEDING. */
const TOLERANCE_KMH = 10;

/** The fraction of fast drivers, and how much faster they drive on average, as a fraction of the limit. */
const HURRIED = 0.04;
const HURRY = 0.25;

/**
 * A measured speed in whole km/h: normally distributed around the limit, lower on full roads, with a tail of fast
 * drivers.
 */
export function measuredSpeed(random: Random, place: Place, fullness: number): number {
  const limit = limitKmh(place);
  const flowing = random.normal(limit * (1 - 0.3 * fullness ** 2), limit * 0.11);
  const hurry = random.chance(HURRIED) ? random.exponential(limit * HURRY) : 0;
  return Math.round(Math.min(230, Math.max(5, flowing + hurry)));
}

/** Whether the speed, in km/h, is a violation at the place. */
export function isSpeeding(speed: number, place: Place): boolean {
  return speed > limitKmh(place) + TOLERANCE_KMH;
}
