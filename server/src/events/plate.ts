const PLAIN = /^[A-Z0-9]*$/;

/**
 * A plate as it is compared: in one case, without blanks and hyphens. Letters of every script stay what they are,
 * however they are composed.
 */
export function plateKey(plate: string): string {
  if (PLAIN.test(plate)) return plate;
  return (
    plate
      .replace(/[\s\p{Pd}]/gu, '')
      // Upper case alone leaves some letters apart from their own other case: ẞ and ß, İ and i̇.
      .toLowerCase()
      .toUpperCase()
      .normalize('NFC')
  );
}

/**
 * How a plate filter is looked up: as one exact key, or, with `*`, as a LIKE pattern (escaped with a backslash). One of
 * which only the end is given is looked up from its end: the pattern is for the key read backwards.
 */
export type PlateFilter = { equals: string } | { like: string } | { backwardsLike: string };

export function plateFilter(filter: string): PlateFilter {
  const key = plateKey(filter);
  if (!key.includes('*')) return { equals: key };
  const [, end] = /^\*+([^*]+)$/.exec(key) ?? [];
  if (end !== undefined) return { backwardsLike: `${escaped([...end].reverse().join(''))}%` };
  return { like: escaped(key).replace(/\*+/g, '%') };
}

/** Whether a plate's key is of the form of a pattern's key, in which `*` stands for any run of characters. */
export function matchesPattern(patternKey: string): (key: string) => boolean {
  const [start = '', ...rest] = patternKey.split('*');
  const end = rest.pop();
  if (end === undefined) return (key) => key === start;
  return (key) => {
    if (key.length < start.length + end.length || !key.startsWith(start) || !key.endsWith(end)) return false;
    // What stands between two * is sought from the left, as early as it can be found.
    let at = start.length;
    for (const part of rest) {
      const found = key.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= key.length - end.length;
  };
}

function escaped(key: string): string {
  return key.replace(/[\\%_]/g, '\\$&');
}
