import { plateKey } from '@gantry/contract/plate';

/**
 * A plate filter: one exact key or, with `*`, a LIKE pattern (escaped with a backslash). If only the end is given,
 * the pattern applies to the reversed key.
 */
export type PlateFilter = { equals: string } | { like: string } | { backwardsLike: string };

/** @param keyOf the rules by which the stored keys were made */
export function plateFilter(filter: string, keyOf = plateKey): PlateFilter {
  const key = keyOf(filter);
  if (!key.includes('*')) return { equals: key };
  const [, end] = /^\*+([^*]+)$/.exec(key) ?? [];
  if (end !== undefined) return { backwardsLike: `${escaped([...end].reverse().join(''))}%` };
  return { like: escaped(key).replace(/\*+/g, '%') };
}

/** The key of a plate by the rules before version 2, which stored events have until `plate-keys` has passed them. */
export function formerPlateKey(plate: string): string {
  return plate
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .toLowerCase()
    .toUpperCase()
    .normalize('NFC');
}

/** Whether a plate's key matches a pattern's key, in which `*` stands for any sequence of characters. */
export function matchesPattern(patternKey: string): (key: string) => boolean {
  const [start = '', ...rest] = patternKey.split('*');
  const end = rest.pop();
  if (end === undefined) return (key) => key === start;
  return (key) => {
    if (key.length < start.length + end.length || !key.startsWith(start) || !key.endsWith(end)) return false;
    // Each part between two `*` is matched at the first possible position.
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
