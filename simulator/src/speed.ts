import { limitKmh, type Place } from './places.ts';
import type { Random } from './random.ts';

/** Above the limit by more than this, in km/h, is reported as SPEEDING. */
export const TOLERANCE_KMH = 10;

/** Share of drivers who are in a hurry, and how far beyond the others they drive, as a mean share of the limit. */
const HURRIED = 0.04;
const HURRY = 0.25;

/** A measured speed in whole km/h: normal around the limit, slower on full roads, with a tail of fast drivers. */
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
