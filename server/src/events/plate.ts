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

/** How a plate filter is looked up: as one exact key, or, with `*`, as a LIKE pattern (escaped with a backslash). */
export const plateFilter = (filter: string): { equals: string } | { like: string } => {
  const key = plateKey(filter);
  if (!key.includes('*')) return { equals: key };
  return { like: key.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%') };
};
