import { fold } from '../../platform/fold-case.ts';

/**
 * Adds counts up whose names differ in case only, as the filters do not tell them apart. The most frequent spelling stands
 * for all of them, of several the first in the order of code points.
 * @param counts names with their counts; a name may come several times
 * @returns names with their sums, the greatest first, of equal ones in the order of code points
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
