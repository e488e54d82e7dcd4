/** A plate as it is compared: upper case, without blanks and hyphens. Letters of every script stay what they are. */
export const plateKey = (plate: string): string =>
  plate
    .normalize('NFC')
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase();

/** How a plate filter is looked up: as one exact key, or, with `*`, as a LIKE pattern (escaped with a backslash). */
export const plateFilter = (filter: string): { equals: string } | { like: string } => {
  const key = plateKey(filter);
  if (!key.includes('*')) return { equals: key };
  return { like: key.replace(/[\\%_]/g, '\\$&').replace(/\*+/g, '%') };
};
