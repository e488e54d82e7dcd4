import type { FlowPoint } from '@gantry/contract/traffic';
import type { Rollups } from './rollups-store.ts';
import { addSpeeds, describeSpeeds, noSpeeds, type Speeds } from './speeds.ts';

/** What passed in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  /** Vehicles by type, '' for none. */
  readonly types: Map<string, number>;
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

const addSlot = (speeds: Speeds, rollups: Rollups, n: number): void =>
  addSpeeds(speeds, {
    volume: rollups.volumes[n] ?? 0,
    measured: rollups.measured[n] ?? 0,
    speedSum: rollups.speedSums[n] ?? 0,
    histogram: { bins: rollups.bins[n] ?? [], counts: rollups.counts[n] ?? [] },
  });

const addType = (types: Map<string, number>, type: string, volume: number): void => {
  types.set(type, (types.get(type) ?? 0) + volume);
};

/** The speeds of everything. */
export const speedsOf = (rollups: Rollups): Speeds => {
  const speeds = noSpeeds();
  for (let n = 0; n < rollups.slots.length; n++) addSlot(speeds, rollups, n);
  return speeds;
};

/**
 * Adds rollups up by intervals.
 * @param bounds the starts of the intervals and the end of the last one
 */
export const bucketsOf = (rollups: Rollups, bounds: readonly number[]): Bucket[] => {
  const { slots, types, typeCounts } = rollups;
  const buckets = Array.from({ length: bounds.length - 1 }, emptyBucket);
  for (let n = 0; n < slots.length; n++) {
    const bucket = buckets[indexOf(bounds, slots[n] ?? 0)];
    if (!bucket) continue;
    addSlot(bucket.speeds, rollups, n);
    const volumes = typeCounts[n] ?? [];
    for (const [at, type] of (types[n] ?? []).entries()) addType(bucket.types, type, volumes[at] ?? 0);
  }
  return buckets;
};

/** All of the buckets in one. */
export const sumOf = (buckets: readonly Bucket[]): Bucket => {
  const sum = emptyBucket();
  for (const bucket of buckets) {
    addSpeeds(sum.speeds, bucket.speeds);
    for (const [type, volume] of bucket.types) addType(sum.types, type, volume);
  }
  return sum;
};

const typesOf = (types: ReadonlyMap<string, number>): FlowPoint['byVehicleType'] =>
  [...types]
    .filter(([, volume]) => volume > 0)
    .sort(([a, most], [b, next]) => next - most || (a < b ? -1 : 1))
    .map(([type, volume]) => ({ vehicleType: type || null, volume }));

/** What is said of an interval. Without vehicles and without a sensor that was not silent its volume is unknown. */
export const describeBucket = ({ speeds, types }: Bucket, completeness: number, limit: number | null) => ({
  volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
  ...describeSpeeds(speeds, limit),
  byVehicleType: typesOf(types),
  completeness,
});
