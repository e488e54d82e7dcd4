import type { SpeedDistribution } from '@gantry/contract/traffic';

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly counts: readonly [number, number];
}

/**
 * Merges the bins of both distributions, in ascending order. There are no gaps between them, and they reach to the limit
 * of `first`, so that it has a place on the axis.
 */
export function binsOf(first: SpeedDistribution, second: SpeedDistribution | null): Bin[] {
  const all = [...first.bins, ...(second?.bins ?? [])];
  const [any] = all;
  if (!any) return [];
  const width = any.to - any.from;
  const limits = first.speedLimit === null ? [] : [first.speedLimit];
  const least = Math.floor(Math.min(...all.map(({ from }) => from), ...limits) / width);
  const most = Math.ceil(Math.max(...all.map(({ to }) => to), ...limits) / width);
  const countsOf = (of: SpeedDistribution | null) =>
    new Map(of?.bins.map(({ from, count }) => [from, count]));
  const [ofFirst, ofSecond] = [countsOf(first), countsOf(second)];
  return Array.from({ length: most - least }, (_, n) => {
    const from = (least + n) * width;
    return { from, to: from + width, counts: [ofFirst.get(from) ?? 0, ofSecond.get(from) ?? 0] };
  });
}
