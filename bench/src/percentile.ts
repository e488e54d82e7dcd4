/**
 * The value that a fraction `share` (0 to 1) of the samples do not exceed, by nearest rank; NaN without samples.
 * @param sorted samples in ascending order
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The median of some values; the average of the middle two for an even number; NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
