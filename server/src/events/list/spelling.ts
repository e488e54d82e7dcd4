import { fold } from '@gantry/contract/fold';

/**
 * Adds up the counts of names that differ only in case, which the filters do not distinguish. The most frequent
 * spelling represents them; on a tie, the first in the order of code points.
 * @param counts names with their counts; a name may occur several times
 * @returns names with their sums in descending order; equal sums in the order of code points
 */
export function sumsBySpelling(counts: Iterable<readonly [name: string, n: number]>): [string, number][] {
  const spellings = new Map<string, number>();
  for (const [name, n] of counts) spellings.set(name, (spellings.get(name) ?? 0) + n);
  const sums = new Map<string, { name: string; most: number; sum: number }>();
  for (const [name, n] of spellings) {
    const key = fold(name);
    const known = sums.get(key);
    if (known === undefined) {
      sums.set(key, { name, most: n, sum: n });
      continue;
    }
    known.sum += n;
    if (n > known.most || (n === known.most && name < known.name)) {
      known.name = name;
      known.most = n;
    }
  }
  return [...sums.values()]
    .sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1))
    .map(({ name, sum }) => [name, sum]);
}
