import { HOUR_MS } from '@gantry/contract/durations';
import type { Flow } from '@gantry/contract/traffic';
import type { Executor } from '../platform/database/transaction.ts';
import { rangeOf } from './figures.ts';
import { type Bucket, bucketsOf } from './flow.ts';
import { type Place, readRollups } from './rollups-store.ts';
import { slotsWithin } from './segments.ts';

const QUARTER_MS = HOUR_MS / 4;

const NO_PEAK = { peakHour: null, peakHourFactor: null };

/**
 * The peak hour with its factor, for which that hour is read again by quarter hours, as far as they are in the range.
 * @param bounds of the buckets, which are at most an hour long
 * @param hours the bounds of the hours
 */
export async function readPeak(
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
