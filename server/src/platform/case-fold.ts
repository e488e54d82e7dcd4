import { caseFold } from '@gantry/contract/case-fold';

/** `caseFold` for a task in which few texts occur many times: it case-folds each once. */
export function memoizedCaseFold(): typeof caseFold {
  const known = new Map<string, string>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = caseFold(text);
      known.set(text, result);
    }
    return result;
  };
}

/** Letters that case-fold to the same letter, in lower case. */
const FORMS: Readonly<Record<string, readonly string[]>> = { i: ['i', 'ı', 'i\u0307'], σ: ['σ', 'ς'] };

/** Maximum number of spellings in the result. */
const MAX_SPELLINGS = 256;

/**
 * The texts in lower case that case-fold to the same text, for searching an index of texts in lower case. Complete if there are
 * up to 256, as for texts with up to five letters i; otherwise only the first such letters vary, and the text itself is
 * included.
 */
export function spellingsOf(text: string): string[] {
  let spellings = [''];
  for (const letter of caseFold(text)) {
    const forms = FORMS[letter] ?? [letter];
    const taken = spellings.length * forms.length > MAX_SPELLINGS ? [letter] : forms;
    spellings = spellings.flatMap((start) => taken.map((form) => start + form));
  }
  const own = [text.toLowerCase(), text.toLocaleLowerCase('tr')];
  return [
    ...new Set(
      [...spellings, ...own].flatMap((each) => [each, each.normalize('NFC'), each.normalize('NFD')]),
    ),
  ];
}

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
    const key = caseFold(name);
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
