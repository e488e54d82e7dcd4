import type { FlowPoint } from '@gantry/contract/traffic';
import type { Rollups } from './rollups-store.ts';
import { addSpeeds, describeSpeeds, noSpeeds, type Speeds } from './speeds.ts';

/** What passed in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  readonly types: VolumeOfType[];
}

interface VolumeOfType {
  readonly vehicleType: string | null;
  volume: number;
}

const emptyBucket = (): Bucket => ({ speeds: noSpeeds(), types: [] });

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

/** The speeds of everything, when rollups are of all vehicles and each type, or of one type alone. */
export const speedsOf = (rollups: readonly Rollups[], ofOneType: boolean): Speeds => {
  const speeds = noSpeeds();
  for (const one of rollups)
    if (ofOneType || one.vehicleType === undefined)
      for (let n = 0; n < one.slots.length; n++) addSlot(speeds, one, n);
  return speeds;
};

/**
 * Adds rollups up by intervals.
 * @param bounds the starts of the intervals and the end of the last one
 * @param ofOneType whether they are of one vehicle type alone, rather than of all and each
 */
export const bucketsOf = (
  rollups: readonly Rollups[],
  bounds: readonly number[],
  ofOneType: boolean,
): Bucket[] => {
  const buckets = Array.from({ length: bounds.length - 1 }, emptyBucket);
  for (const one of rollups) {
    const { vehicleType, slots, volumes } = one;
    for (let n = 0; n < slots.length; n++) {
      const bucket = buckets[indexOf(bounds, slots[n] ?? 0)];
      if (!bucket) continue;
      if (ofOneType || vehicleType === undefined) addSlot(bucket.speeds, one, n);
      if (vehicleType === undefined) continue;
      // One type comes after the other, so it is the last one or a new one.
      const last = bucket.types.at(-1);
      if (last?.vehicleType === vehicleType) last.volume += volumes[n] ?? 0;
      else bucket.types.push({ vehicleType, volume: volumes[n] ?? 0 });
    }
  }
  return buckets;
};

/** All of the buckets in one. */
export const sumOf = (buckets: readonly Bucket[]): Bucket => {
  const speeds = noSpeeds();
  const volumes = new Map<string | null, number>();
  for (const bucket of buckets) {
    addSpeeds(speeds, bucket.speeds);
    for (const { vehicleType, volume } of bucket.types)
      volumes.set(vehicleType, (volumes.get(vehicleType) ?? 0) + volume);
  }
  return { speeds, types: Array.from(volumes, ([vehicleType, volume]) => ({ vehicleType, volume })) };
};

const typesOf = (types: readonly VolumeOfType[]): FlowPoint['byVehicleType'] =>
  types
    .filter(({ volume }) => volume > 0)
    .sort((a, b) => b.volume - a.volume || ((a.vehicleType ?? '') < (b.vehicleType ?? '') ? -1 : 1));

/** What is said of an interval. Without vehicles and without a sensor that was not silent its volume is unknown. */
export const describeBucket = ({ speeds, types }: Bucket, completeness: number, limit: number | null) => ({
  volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
  ...describeSpeeds(speeds, limit),
  byVehicleType: typesOf(types),
  completeness,
});
