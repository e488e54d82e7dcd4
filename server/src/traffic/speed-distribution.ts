import type { SpeedDistribution, SpeedDistributionInput } from '@gantry/contract/traffic';
import { requireRange } from '../platform/time.ts';
import { type Parts, readCompleteness } from './figures.ts';
import { wholeOf } from './flow.ts';
import { getPlace, type WantedPlace } from './places-store.ts';
import { readRollups } from './rollups-store.ts';
import { cutSegments, segmentsOf } from './segments.ts';
import { describeSpeeds } from './speeds.ts';

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
