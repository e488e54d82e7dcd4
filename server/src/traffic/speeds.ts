/**
 * Counts of speeds by whole km/h, rounded up: bin b contains those above b − 1 and up to b. The bins are in ascending
 * order.
 */
export interface Histogram {
  readonly bins: readonly number[];
  readonly counts: readonly number[];
}

/** Counts and speeds of the vehicles of a period. They can be added up over places and time. */
export interface Speeds {
  /** Vehicles, with and without a speed. */
  readonly volume: number;
  /** Vehicles with a speed. */
  readonly measured: number;
  /** The sum of their speeds, in metres per hour. */
  readonly speedSum: number;
  readonly histogram: Histogram;
}

/** The sum of all. Bins are whole km/h, so histograms are added up in an array with an element for each. */
export function sumOfSpeeds(all: readonly Speeds[]): Speeds {
  let [volume, measured, speedSum] = [0, 0, 0];
  const byBin: number[] = [];
  for (const speeds of all) {
    volume += speeds.volume;
    measured += speeds.measured;
    speedSum += speeds.speedSum;
    const { bins, counts } = speeds.histogram;
    for (let i = 0; i < bins.length; i++) {
      const bin = bins[i] ?? 0;
      while (byBin.length <= bin) byBin.push(0);
      byBin[bin] = (byBin[bin] ?? 0) + (counts[i] ?? 0);
    }
  }
  const bins = [...byBin.keys()].filter((bin) => byBin[bin] !== 0);
  return { volume, measured, speedSum, histogram: { bins, counts: bins.map((bin) => byBin[bin] ?? 0) } };
}

/** Mean speed in km/h, from the number of speeds and their sum (metres per hour); null without speeds. */
export function meanOf(measured: number, speedSum: number): number | null {
  return measured > 0 ? rounded(speedSum / measured / 1_000) : null;
}

/** The mean in km/h; null without a measured speed. */
export function meanSpeed({ measured, speedSum }: Speeds): number | null {
  return meanOf(measured, speedSum);
}

/** The number of speeds that were compared with a limit, and of those above it. They can be added up. */
export interface Judged {
  readonly measured: number;
  readonly over: number;
}

/**
 * Compares speeds with the limit (km/h) of their time; without a limit, none is compared. Speeds are stored by whole
 * km/h, so the limit is rounded up: no vehicle within the limit counts as above it.
 */
export function judge({ histogram: { bins, counts } }: Speeds, limit: number | null): Judged {
  if (limit === null) return { measured: 0, over: 0 };
  const whole = Math.ceil(limit);
  let [measured, over] = [0, 0];
  for (let i = 0; i < bins.length; i++) {
    measured += counts[i] ?? 0;
    if ((bins[i] ?? 0) > whole) over += counts[i] ?? 0;
  }
  return { measured, over };
}

/** The fraction (0 to 1) of the compared speeds above the limit; null when there are none. */
export function shareOf({ measured, over }: Judged): number | null {
  return measured > 0 ? Math.round((over / measured) * 10_000) / 10_000 : null;
}

/** Rounded to a metre per hour. */
function rounded(speed: number): number {
  return Math.round(speed * 1_000) / 1_000;
}
