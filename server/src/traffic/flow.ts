import type { FlowPoint } from '@gantry/contract/traffic';
import type { Rollup } from './rollups-store.ts';
import { addCounts, describeSpeeds, noSpeeds, type Speeds } from './speeds.ts';

/** What passed in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  readonly types: Map<string | null, number>;
}

const emptyBucket = (): Bucket => ({ speeds: noSpeeds(), types: new Map() });

/** The last of the bounds that is not after the moment. */
const indexOf = (bounds: readonly number[], time: number): number => {
  let [low, high] = [0, bounds.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? 0) <= time) low = middle;
    else high = middle;
  }
  return low;
};

/** Adds a rollup of all vehicles, or of a type of which alone it is asked. */
export const addSpeeds = (speeds: Speeds, rollup: Rollup): void => {
  speeds.volume += rollup.volume;
  speeds.measured += rollup.measured;
  speeds.speedSum += rollup.speedSum;
  addCounts(speeds.histogram, rollup.bins, rollup.counts);
};

/**
 * Adds rollups up by intervals.
 * @param bounds the starts of the intervals and the end of the last one
 * @param ofOneType whether they are of one vehicle type alone, rather than of all and each
 */
export const bucketsOf = (
  rollups: readonly Rollup[],
  bounds: readonly number[],
  ofOneType: boolean,
): Bucket[] => {
  const buckets = Array.from({ length: bounds.length - 1 }, emptyBucket);
  for (const rollup of rollups) {
    const bucket = buckets[indexOf(bounds, rollup.slot)];
    if (!bucket) continue;
    if (ofOneType || rollup.vehicleType === undefined) addSpeeds(bucket.speeds, rollup);
    if (rollup.vehicleType !== undefined)
      bucket.types.set(rollup.vehicleType, (bucket.types.get(rollup.vehicleType) ?? 0) + rollup.volume);
  }
  return buckets;
};

/** All of the buckets in one. */
export const sumOf = (buckets: readonly Bucket[]): Bucket => {
  const sum = emptyBucket();
  for (const { speeds, types } of buckets) {
    sum.speeds.volume += speeds.volume;
    sum.speeds.measured += speeds.measured;
    sum.speeds.speedSum += speeds.speedSum;
    for (const [bin, count] of speeds.histogram)
      sum.speeds.histogram.set(bin, (sum.speeds.histogram.get(bin) ?? 0) + count);
    for (const [type, volume] of types) sum.types.set(type, (sum.types.get(type) ?? 0) + volume);
  }
  return sum;
};

const typesOf = (types: ReadonlyMap<string | null, number>): FlowPoint['byVehicleType'] =>
  [...types]
    .filter(([, volume]) => volume > 0)
    .sort(([a, m], [b, n]) => n - m || ((a ?? '') < (b ?? '') ? -1 : 1))
    .map(([vehicleType, volume]) => ({ vehicleType, volume }));

/** What is said of an interval. Without vehicles and without a sensor that was not silent its volume is unknown. */
export const describeBucket = ({ speeds, types }: Bucket, completeness: number, limit: number | null) => ({
  volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
  ...describeSpeeds(speeds, limit),
  byVehicleType: typesOf(types),
  completeness,
});

/** The start of the hour with most vehicles, of several the first; null without vehicles. */
export const busiest = (bounds: readonly number[], volumes: readonly number[]): number | null => {
  const most = Math.max(0, ...volumes);
  return most === 0 ? null : (bounds[volumes.indexOf(most)] ?? null);
};
