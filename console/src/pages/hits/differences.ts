import { plateKey } from '@gantry/contract/plate';

/** A character of a plate, and whether the other plate has another one in its place. */
export interface PlatePart {
  readonly text: string;
  readonly isDifferent: boolean;
  readonly key: string;
}

/** Two plates character by character. Separators and case do not count, as everywhere. */
export function differences(
  one: string,
  other: string,
): readonly [readonly PlatePart[], readonly PlatePart[]] {
  const [a, b] = [[...one], [...other]];
  const same = commonPairs(a.map(plateKey), b.map(plateKey));
  const parts = (characters: readonly string[], kept: ReadonlySet<number>): PlatePart[] =>
    characters.map((text, at) => ({
      text,
      isDifferent: plateKey(text) !== '' && !kept.has(at),
      key: `${at}${text}`,
    }));
  return [parts(a, new Set(same.map(([at]) => at))), parts(b, new Set(same.map(([, at]) => at)))];
}

/** The positions of the longest common subsequence. Plates have at most some fifty characters. */
function commonPairs(a: readonly string[], b: readonly string[]): [number, number][] {
  const length = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = length[i];
      if (row) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** The size of an image, in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The sizes of the images that are shown, by their references; null for those that cannot be. */
export type Sizes = Readonly<Record<string, Size | null>>;

/** The image that shows the plate alone, which many cameras send beside that of the vehicle: wide, and much smaller than another. */
export function cutOutOf(images: readonly string[], sizes: Sizes): string | undefined {
  const area = (size: Size | null | undefined): number => (size ? size.width * size.height : 0);
  const largest = Math.max(...images.map((each) => area(sizes[each])));
  return images.find((each) => {
    const size = sizes[each];
    return size && size.width >= 1.9 * size.height && 4 * area(size) <= largest;
  });
}
