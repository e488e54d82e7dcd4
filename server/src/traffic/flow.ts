import type { FlowPoint } from '@gantry/contract/traffic';
import { sumsBySpelling } from '../events/spelling.ts';
import type { Rollups } from './rollups-store.ts';
import { describeSpeeds, type Speeds, sumOfSpeeds } from './speeds.ts';

/** Vehicles of each type, '' for none: how many there were stands at the same place. */
interface VolumesByType {
  readonly types: readonly string[];
  readonly volumes: readonly number[];
}

/** What passed in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  readonly byType: VolumesByType;
}

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

const sumByType = (all: readonly VolumesByType[]): VolumesByType => {
  const sums = new Map<string, number>();
  for (const { types, volumes } of all)
    for (let i = 0; i < types.length; i++) {
      const type = types[i] ?? '';
      sums.set(type, (sums.get(type) ?? 0) + (volumes[i] ?? 0));
    }
  return { types: [...sums.keys()], volumes: [...sums.values()] };
};

/** All of the buckets in one. */
export const sumOf = (buckets: readonly Bucket[]): Bucket => {
  const [only] = buckets;
  if (only && buckets.length === 1) return only;
  return {
    speeds: sumOfSpeeds(buckets.map(({ speeds }) => speeds)),
    byType: sumByType(buckets.map(({ byType }) => byType)),
  };
};

const bucketOf = (rollups: Rollups, n: number): Bucket => ({
  speeds: {
    volume: rollups.volumes[n] ?? 0,
    measured: rollups.measured[n] ?? 0,
    speedSum: rollups.speedSums[n] ?? 0,
    histogram: { bins: rollups.bins[n] ?? [], counts: rollups.counts[n] ?? [] },
  },
  byType: { types: rollups.types[n] ?? [], volumes: rollups.typeCounts[n] ?? [] },
});

/** Everything in one. */
export const wholeOf = (rollups: Rollups): Bucket => sumOf(rollups.slots.map((_, n) => bucketOf(rollups, n)));

/**
 * Adds rollups up by intervals.
 * @param bounds the starts of the intervals and the end of the last one
 */
export const bucketsOf = (rollups: Rollups, bounds: readonly number[]): Bucket[] => {
  const parts = Array.from({ length: bounds.length - 1 }, (): Bucket[] => []);
  for (const [n, slot] of rollups.slots.entries()) parts[indexOf(bounds, slot)]?.push(bucketOf(rollups, n));
  return parts.map(sumOf);
};

const listByType = ({ types, volumes }: VolumesByType): FlowPoint['byVehicleType'] =>
  sumsBySpelling(types.map((type, n) => [type, volumes[n] ?? 0] as const))
    .filter(([, volume]) => volume > 0)
    .map(([type, volume]) => ({ vehicleType: type || null, volume }));

/** What is said of an interval. Without vehicles and without a sensor that was not silent its volume is unknown. */
export const describeBucket = ({ speeds, byType }: Bucket, completeness: number, limit: number | null) => ({
  ...describeSpeeds(speeds, limit),
  volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
  byVehicleType: listByType(byType),
  completeness,
});
