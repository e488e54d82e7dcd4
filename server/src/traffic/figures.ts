import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { type Completeness, completenessOf } from './completeness.ts';
import { type Bucket, bucketsOf } from './flow.ts';
import type { LimitedPlace } from './places-store.ts';
import { findWatches, readOnlineSpans, readSightings } from './presence-store.ts';
import { type Place, type RollupFields, readRollups } from './rollups-store.ts';
import { cutSegments, slotsWithin } from './segments.ts';

/** The services that traffic figures need. */
export type Parts = Pick<Core, 'db' | 'settings'> & { readonly clock: Pick<Core['clock'], 'now'> };

/** From the start of the first interval to the end of the last one. */
export function rangeOf(bounds: readonly number[]): Interval {
  return {
    from: bounds[0] ?? 0,
    until: bounds.at(-1) ?? 0,
  };
}

/**
 * The completeness of each interval and in total.
 * @param now the time in Unix milliseconds: what comes after it is not missing
 */
export async function readCompleteness(
  db: Executor,
  place: Place,
  bounds: readonly number[],
  now: number,
): Promise<Completeness> {
  const range = rangeOf(bounds);
  const watches = await findWatches(db, place, range);
  const sensorIds = watches.map(({ sensorId }) => sensorId);
  const [online, seen] = await Promise.all([
    readOnlineSpans(db, sensorIds, range),
    readSightings(db, sensorIds, range),
  ]);
  return completenessOf({ watches, online, seen }, bounds, now);
}

/** The traffic in each interval, read from the longest possible slots. */
export async function readBuckets(
  db: Executor,
  place: LimitedPlace,
  bounds: readonly number[],
  asked: RollupFields,
): Promise<Bucket[]> {
  const segments = cutSegments(
    [{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }],
    place.limits.map(({ since }) => since),
  );
  return bucketsOf(await readRollups(db, place, segments, asked), bounds, place.limits);
}
