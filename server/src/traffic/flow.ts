import type { caseFold } from '@gantry/contract/case-fold';
import type { FlowPoint } from '@gantry/contract/traffic';
import { sumsBySpelling } from '../platform/case-fold.ts';
import { type History, heldAt } from '../platform/history.ts';
import { binStatus, COMPLETE_COVERAGE, roundTo } from './bin.ts';
import type { Rollups } from './counting.ts';
import { indexOf } from './segments.ts';
import { percentileOf, sampleOf } from './speed-sample.ts';
import { MIN_MEASURED } from './speed-study.ts';
import { type Judged, judge, meanSpeed, type Speeds, shareOf, sumOfSpeeds } from './speeds.ts';

/** Vehicles by type, '' for none. Both arrays have the same order. */
interface VolumesByType {
  readonly types: readonly string[];
  readonly volumes: readonly number[];
}

/** The traffic in one interval. */
export interface Bucket {
  readonly speeds: Speeds;
  /** The speeds, each compared with the limit at its time. */
  readonly judged: Judged;
  readonly byType: VolumesByType;
}

/** The sum of all buckets. */
export function sumOf(buckets: readonly Bucket[]): Bucket {
  const [only] = buckets;
  if (only && buckets.length === 1) return only;
  return {
    speeds: sumOfSpeeds(buckets.map(({ speeds }) => speeds)),
    judged: {
      measured: buckets.reduce((sum, { judged }) => sum + judged.measured, 0),
      over: buckets.reduce((sum, { judged }) => sum + judged.over, 0),
    },
    byType: sumByType(buckets.map(({ byType }) => byType)),
  };
}

/** All rollups as one bucket. @param limits as for `bucketsOf` */
export function wholeOf(rollups: Rollups, limits: History<number | null>): Bucket {
  return sumOf(rollups.slots.map((_, n) => bucketOf(rollups, n, limits)));
}

/**
 * Adds up rollups by interval.
 * @param bounds the starts of the intervals and the end of the last one
 * @param limits the speed limits (km/h) over time, which do not change within a slot
 */
export function bucketsOf(
  rollups: Rollups,
  bounds: readonly number[],
  limits: History<number | null>,
): Bucket[] {
  const parts = Array.from({ length: bounds.length - 1 }, (): Bucket[] => []);
  for (const [n, slot] of rollups.slots.entries())
    parts[indexOf(bounds, slot)]?.push(bucketOf(rollups, n, limits));
  return parts.map(sumOf);
}

/** What is known about an interval. */
export interface Known {
  /** The fraction of the time in which sensors were there, and of the whole interval, with known counts. */
  readonly completeness: number;
  readonly coverage: number;
  readonly isOver: boolean;
  /** Whether any data were rejected. */
  readonly isRejected: boolean;
}

/**
 * The figures of an interval. The volume is unknown (null) when no vehicle was counted and the completeness is 0.
 * @param caseFoldName `caseFold`, with a cache of its results
 */
export function describeBucket(
  { speeds, judged, byType }: Bucket,
  { completeness, coverage, isOver, isRejected }: Known,
  caseFoldName: typeof caseFold,
) {
  const isExcluded = isRejected && coverage === 0 && speeds.volume === 0;
  return {
    ...describeSpeeds(speeds, judged),
    volume: speeds.volume > 0 || completeness > 0 ? speeds.volume : null,
    byVehicleType: listByType(byType, caseFoldName),
    completeness,
    coverage,
    isComplete: isOver && coverage >= COMPLETE_COVERAGE,
    status: binStatus({ isOver, coverage, volume: speeds.volume, isExcluded }),
  };
}

const SHARES = [0.15, 0.5, 0.85, 0.95];

/**
 * The figures of speeds, the same in all answers. Fewer than `MIN_MEASURED` speeds have no percentiles; these are
 * interpolated between ranks, in km/h to 0.1.
 */
export function describeSpeeds(speeds: Speeds, judged: Judged) {
  const isEnough = speeds.measured >= MIN_MEASURED;
  const sample = isEnough ? sampleOf([{ speeds }], 'KMH') : null;
  const [v15 = null, v50 = null, v85 = null, v95 = null] = SHARES.map((share) => {
    const speed = sample && percentileOf(sample, share, 'LINEAR');
    return speed === null ? null : roundTo(speed, 1);
  });
  return {
    measured: speeds.measured,
    meanSpeed: meanSpeed(speeds),
    v15,
    v50,
    v85,
    v95,
    percentileStatus: isEnough ? ('VALID' as const) : ('INSUFFICIENT' as const),
    shareOverLimit: shareOf(judged),
  };
}

/** Combines buckets into longer ones. @param fine the bounds of the buckets, which contain those of the longer ones */
export function intoLonger(
  parts: readonly Bucket[],
  fine: readonly number[],
  bounds: readonly number[],
): Bucket[] {
  let next = 0;
  return bounds.slice(1).map((end, n) => {
    while ((fine[next] ?? end) < (bounds[n] ?? end)) next++;
    const first = next;
    while ((fine[next] ?? end) < end) next++;
    return sumOf(parts.slice(first, next));
  });
}

function sumByType(all: readonly VolumesByType[]): VolumesByType {
  const sums = new Map<string, number>();
  for (const { types, volumes } of all)
    for (let i = 0; i < types.length; i++) {
      const type = types[i] ?? '';
      sums.set(type, (sums.get(type) ?? 0) + (volumes[i] ?? 0));
    }
  return { types: [...sums.keys()], volumes: [...sums.values()] };
}

/** The speeds of the rollup at a position. */
export function speedsAt(rollups: Rollups, n: number): Speeds {
  return {
    volume: rollups.volumes[n] ?? 0,
    measured: rollups.measured[n] ?? 0,
    speedSum: rollups.speedSums[n] ?? 0,
    histogram: { bins: rollups.bins[n] ?? [], counts: rollups.counts[n] ?? [] },
  };
}

function bucketOf(rollups: Rollups, n: number, limits: History<number | null>): Bucket {
  const speeds = speedsAt(rollups, n);
  return {
    speeds,
    judged: judge(speeds, heldAt(limits, rollups.slots[n] ?? 0) ?? null),
    byType: { types: rollups.types[n] ?? [], volumes: rollups.typeCounts[n] ?? [] },
  };
}

/** Lists types as `sumsBySpelling` does, but without its sums where no type has two spellings, which is usual. */
function listByType(
  { types, volumes }: VolumesByType,
  caseFoldName: typeof caseFold,
): FlowPoint['byVehicleType'] {
  if (isSpelledTwice(types, caseFoldName))
    return sumsBySpelling(types.map((type, n) => [type, volumes[n] ?? 0] as const))
      .filter(([, volume]) => volume > 0)
      .map(([type, volume]) => ({ vehicleType: type || null, volume }));
  const listed: FlowPoint['byVehicleType'] = [];
  for (let n = 0; n < types.length; n++) {
    const volume = volumes[n] ?? 0;
    if (volume > 0) listed.push({ vehicleType: types[n] || null, volume });
  }
  return listed.sort(
    (a, b) => b.volume - a.volume || ((a.vehicleType ?? '') < (b.vehicleType ?? '') ? -1 : 1),
  );
}

function isSpelledTwice(types: readonly string[], caseFoldName: typeof caseFold): boolean {
  for (let n = 1; n < types.length; n++)
    for (let before = 0; before < n; before++)
      if (caseFoldName(types[before] ?? '') === caseFoldName(types[n] ?? '')) return true;
  return false;
}
