import type { HotlistRules } from '../watchlist/hotlist-rules.ts';

/** The characters that cameras confuse with one another, as in `confusableKey` of the contract. */
const CLASSES = ['0OQD', '1IL', '8B', '5S', '2Z'];
const ALIKE = new Map(CLASSES.flatMap((all) => [...all].map((each) => [each, [...all]] as const)));

/** Maximum number of spellings for which past events are searched. */
export const MAX_VARIANTS = 256;

/**
 * The keys that past events may have that hit an entry: the plate itself; with characters that cameras confuse, those with the
 * fewest differences first; for ONE_OFF, also without each of its characters. At most `MAX_VARIANTS`.
 */
export function variantsOf({ tolerance, maxDifferences }: HotlistRules, plateKey: string): string[] {
  const found = new Set([plateKey]);
  if (tolerance === 'EXACT') return [...found];
  const characters = [...plateKey];
  let last = [characters];
  for (let differences = 1; differences <= (tolerance === 'ONE_OFF' ? 1 : maxDifferences); differences++) {
    last = last.flatMap((each) => withOneMore(each, characters));
    for (const each of last) if (found.size < MAX_VARIANTS) found.add(each.join(''));
  }
  if (tolerance === 'ONE_OFF')
    for (const each of characters.keys()) found.add(characters.toSpliced(each, 1).join(''));
  return [...found].slice(0, MAX_VARIANTS);
}

/** The spellings with one more character that looks alike, of those that are still as listed. */
function withOneMore(spelling: readonly string[], listed: readonly string[]): string[][] {
  return spelling.flatMap((character, at) =>
    character !== listed[at]
      ? []
      : (ALIKE.get(character) ?? []).flatMap((other) =>
          other === character ? [] : [spelling.with(at, other)],
        ),
  );
}
