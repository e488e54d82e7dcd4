import { confusableKey } from '@gantry/contract/plate';
import type { HotlistRules } from '../watchlist/hotlist-rules.ts';

/** The letters and digits that a plate of any country may have. */
const LATIN = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Those that plates of countries with other scripts have besides. */
const SCRIPTS = [
  { isOf: /\p{Script=Cyrillic}/u, letters: [...'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁІЇЄҐЎЈЉЊЋЂЏЅ'] },
  { isOf: /\p{Script=Greek}/u, letters: [...'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ'] },
  { isOf: /\p{Script=Arabic}/u, letters: [...'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'] },
];

/** Maximum number of spellings for which past events are searched. */
export const MAX_VARIANTS = 2_000;

/**
 * The keys that past events may have that hit an entry, those with the fewest differences first: the plate itself; with
 * characters that look alike, Latin, Cyrillic, Greek and Arabic ones; for ONE_OFF, with one character of these scripts, as far as
 * the plate has letters of them, that is wrong or additional, and without each of its own. At most `MAX_VARIANTS`.
 */
export function variantsOf({ tolerance, maxDifferences }: HotlistRules, plateKey: string): string[] {
  const characters = [...plateKey];
  if (tolerance === 'EXACT') return [plateKey];
  if (tolerance === 'ONE_OFF')
    return [...new Set([plateKey, ...withOneWrong(characters)])].slice(0, MAX_VARIANTS);
  const found = new Set([plateKey]);
  let last = [characters];
  for (let differences = 1; differences <= maxDifferences; differences++) {
    last = last.flatMap((each) => withOneMore(each, characters));
    for (const each of last) if (found.size < MAX_VARIANTS) found.add(each.join(''));
  }
  return [...found];
}

/** The spellings with one more character that looks alike, of those that are still as listed. */
function withOneMore(spelling: readonly string[], listed: readonly string[]): string[][] {
  return spelling.flatMap((character, at) =>
    character !== listed[at]
      ? []
      : alike(character).flatMap((other) => (other === character ? [] : [spelling.with(at, other)])),
  );
}

let classes: ReadonlyMap<string, readonly string[]> | undefined;

/** The characters that look like one, with itself. */
function alike(character: string): readonly string[] {
  classes ??= classesOf([...LATIN, ...SCRIPTS.flatMap(({ letters }) => letters)]);
  return classes.get(confusableKey(character)) ?? [];
}

function classesOf(characters: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const each of characters) {
    const key = confusableKey(each);
    found.set(key, [...(found.get(key) ?? []), each]);
  }
  return found;
}

function withOneWrong(characters: readonly string[]): string[] {
  const key = characters.join('');
  const others = [...LATIN, ...SCRIPTS.flatMap(({ isOf, letters }) => (isOf.test(key) ? letters : []))];
  return [...characters.keys(), characters.length].flatMap((at) => [
    characters.toSpliced(at, 1).join(''),
    ...others.flatMap((other) => [
      characters.toSpliced(at, 1, other).join(''),
      characters.toSpliced(at, 0, other).join(''),
    ]),
  ]);
}
