import type { FlowPoint } from '@gantry/contract/traffic';
import type { Rollups } from './rollups-store.ts';
import { addSpeeds, describeSpeeds, noSpeeds, type Speeds, sumOfSpeeds } from './speeds.ts';

/** Vehicles of each type, '' for none: how many there were stands at the same place. */
interface VolumesByType {
  readonly types: readonly string[];
  readonly volumes: readonly number[];
}

/** What passed in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  byType: VolumesByType;
}

const NO_TYPES: VolumesByType = { types: [], volumes: [] };

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

/** All of them in one; one of them itself when the others are empty, which is most often so for short intervals. */
const sumByType = (all: readonly VolumesByType[]): VolumesByType => {
  const some = all.filter(({ types }) => types.length > 0);
  if (some.length < 2) return some[0] ?? NO_TYPES;
  const sums = new Map<string, number>();
  for (const { types, volumes } of some)
    for (let i = 0; i < types.length; i++) {
      const type = types[i] ?? '';
      sums.set(type, (sums.get(type) ?? 0) + (volumes[i] ?? 0));
    }
  return { types: [...sums.keys()], volumes: [...sums.values()] };
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
  const buckets = Array.from(
    { length: bounds.length - 1 },
    (): Bucket => ({ speeds: noSpeeds(), byType: NO_TYPES }),
  );
  for (let n = 0; n < slots.length; n++) {
    const bucket = buckets[indexOf(bounds, slots[n] ?? 0)];
    if (!bucket) continue;
    addSlot(bucket.speeds, rollups, n);
    bucket.byType = sumByType([bucket.byType, { types: types[n] ?? [], volumes: typeCounts[n] ?? [] }]);
  }
  return buckets;
};

/** All of the buckets in one. */
export const sumOf = (buckets: readonly Bucket[]): Bucket => ({
  speeds: sumOfSpeeds(buckets.map(({ speeds }) => speeds)),
  byType: sumByType(buckets.map(({ byType }) => byType)),
});

const listByType = ({ types, volumes }: VolumesByType): FlowPoint['byVehicleType'] =>
  types
    .map((type, n) => ({ vehicleType: type || null, volume: volumes[n] ?? 0 }))
    .filter(({ volume }) => volume > 0)
    .sort((a, b) => b.volume - a.volume || ((a.vehicleType ?? '') < (b.vehicleType ?? '') ? -1 : 1));

/** What is said of an interval. Without vehicles and without a sensor that was not silent its volume is unknown. */
export const describeBucket = ({ speeds, byType }: Bucket, completeness: number, limit: number | null) => ({
  volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
  ...describeSpeeds(speeds, limit),
  byVehicleType: listByType(byType),
  completeness,
});
