import type { Flow, FlowInput } from '@gantry/contract/traffic';
import { memoizedCaseFold } from '../platform/case-fold.ts';
import { requireRange } from '../platform/time.ts';
import { type Parts, rangeOf, readBuckets, readCompleteness } from './figures.ts';
import { type Bucket, describeBucket, sumOf } from './flow.ts';
import { readPeak } from './peak.ts';
import { getPlace, type WantedPlace } from './places-store.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';

/**
 * The traffic of a sensor or a location by interval.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or is too long
 */
export async function getFlow({ db, settings, clock }: Parts, input: FlowInput & WantedPlace): Promise<Flow> {
  const { timezone } = settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone);
  requireFewPoints(range, minutes);
  const place = await getPlace(db, input);
  const bounds = localBounds(range, minutes, timezone);
  const hours = localBounds(rangeOf(bounds), 60, timezone);
  const fine = minutes > 60 ? hours : bounds;
  const [parts, completeness] = await Promise.all([
    readBuckets(db, place, fine, { vehicleType: input.vehicleType, byType: true, histograms: true }),
    readCompleteness(db, place, bounds, clock.now()),
  ]);
  const peak = await readPeak(db, place, { buckets: parts, bounds: fine, hours }, input.vehicleType);
  const buckets = minutes > 60 ? intoLonger(parts, fine, bounds) : parts;
  const times = bounds.map((bound) => new Date(bound));
  const caseFoldName = memoizedCaseFold();
  return {
    timezone,
    interval: input.interval,
    points: buckets.map((bucket, n) => ({
      ...describeBucket(bucket, completeness.shares[n] ?? 0, caseFoldName),
      start: times[n] ?? new Date(0),
      end: times[n + 1] ?? new Date(0),
    })),
    ...describeBucket(sumOf(buckets), completeness.whole, caseFoldName),
    ...peak,
    speedLimit: place.speedLimit,
  };
}

/** Combines buckets of hours into buckets of days. */
function intoLonger(parts: readonly Bucket[], fine: readonly number[], bounds: readonly number[]): Bucket[] {
  return bounds.slice(1).map((end, n) => {
    const first = fine.indexOf(bounds[n] ?? 0);
    return sumOf(parts.slice(first, fine.indexOf(end, first)));
  });
}
