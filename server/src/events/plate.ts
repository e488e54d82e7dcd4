/**
 * A plate as it is compared: in one case, without blanks and hyphens. Letters of every script stay what they are,
 * however they are composed.
 */
export const plateKey = (plate: string): string =>
  plate
    .replace(/[\s\p{Pd}]/gu, '')
    // Upper case alone leaves some letters apart from their own other case: ẞ and ß, İ and i̇.
    .toLowerCase()
    .toUpperCase()
    .normalize('NFC');

/**
 * How a plate filter is looked up: as one exact key, or, with `*`, as a LIKE pattern (escaped with a backslash). One of
 * which only the end is given is looked up from its end: the pattern is for the key read backwards.
 */
export type PlateFilter = { equals: string } | { like: string } | { backwardsLike: string };

const escaped = (key: string): string => key.replace(/[\\%_]/g, '\\$&');

export const plateFilter = (filter: string): PlateFilter => {
  const key = plateKey(filter);
  if (!key.includes('*')) return { equals: key };
  const [, end] = /^\*+([^*]+)$/.exec(key) ?? [];
  if (end !== undefined) return { backwardsLike: `${escaped([...end].reverse().join(''))}%` };
  return { like: escaped(key).replace(/\*+/g, '%') };
};
