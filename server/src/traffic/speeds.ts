/**
 * What is known of the vehicles of some time: it adds up over places and time.
 * The histogram counts speeds by whole km/h, upwards: bin b has those above b − 1 and up to b.
 */
export interface Speeds {
  /** Vehicles, with and without a speed. */
  volume: number;
  /** Vehicles with a speed. */
  measured: number;
  /** The sum of their speeds, in metres per hour. */
  speedSum: number;
  readonly histogram: Map<number, number>;
}

export const noSpeeds = (): Speeds => ({ volume: 0, measured: 0, speedSum: 0, histogram: new Map() });

/** Adds some counts to a histogram. */
export const addCounts = (
  histogram: Map<number, number>,
  bins: readonly number[],
  counts: readonly number[],
): void => {
  for (let i = 0; i < bins.length; i++) {
    const bin = bins[i] ?? 0;
    histogram.set(bin, (histogram.get(bin) ?? 0) + (counts[i] ?? 0));
  }
};

/** The bins that count anything, from the slowest on. */
export const sortedBins = ({ histogram }: Speeds): [bin: number, count: number][] =>
  [...histogram].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);

/** To a metre per hour. */
const rounded = (speed: number): number => Math.round(speed * 1_000) / 1_000;

/** Mean speed in km/h of so many speeds with this sum (metres per hour); null without speeds. */
export const meanOf = (measured: number, speedSum: number): number | null =>
  measured > 0 ? rounded(speedSum / measured / 1_000) : null;

export const meanSpeed = ({ measured, speedSum }: Speeds): number | null => meanOf(measured, speedSum);

/**
 * Percentiles in km/h, interpolated between ranks (Hyndman and Fan, type 7, as PostgreSQL's percentile_cont).
 * A bin stands for its upper end, less what its speeds are below that on average, which the exact sum tells: speeds
 * in whole km/h are exact, and the error is always below 1 km/h.
 */
export const speedPercentiles = (speeds: Speeds, shares: readonly number[]): (number | null)[] => {
  const bins = sortedBins(speeds);
  let total = 0;
  let sumOfBins = 0;
  const upTo = bins.map(([bin, count]) => {
    total += count;
    sumOfBins += bin * count;
    return total;
  });
  if (total === 0) return shares.map(() => null);
  const below = speeds.speedSum / 1_000 / total - sumOfBins / total;
  const at = (rank: number): number => bins[upTo.findIndex((count) => count > rank)]?.[0] ?? 0;
  return shares.map((share) => {
    const rank = share * (total - 1);
    const lower = at(Math.floor(rank));
    const upper = at(Math.min(Math.ceil(rank), total - 1));
    return Math.max(0, rounded(lower + (upper - lower) * (rank - Math.floor(rank)) + below));
  });
};

/** Share (0 to 1) of the speeds that are above the limit (km/h); null without a limit or speeds. */
export const shareOver = (speeds: Speeds, limit: number | null): number | null => {
  if (limit === null || speeds.measured <= 0) return null;
  let over = 0;
  for (const [bin, count] of speeds.histogram) if (bin > limit) over += count;
  return Math.round((over / speeds.measured) * 10_000) / 10_000;
};

/** All that is said of speeds, the same wherever it is. */
export const describeSpeeds = (speeds: Speeds, limit: number | null) => {
  const [v15 = null, v50 = null, v85 = null, v95 = null] = speedPercentiles(speeds, [0.15, 0.5, 0.85, 0.95]);
  return { meanSpeed: meanSpeed(speeds), v15, v50, v85, v95, shareOverLimit: shareOver(speeds, limit) };
};
