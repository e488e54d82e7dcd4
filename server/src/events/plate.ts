import { plateKey } from '@gantry/contract/plate';

/**
 * A plate filter: one exact key or, with `*`, a LIKE pattern (escaped with a backslash). If only the end is given,
 * the pattern applies to the reversed key.
 */
export type PlateFilter = { equals: string } | { like: string } | { backwardsLike: string };

export function plateFilter(filter: string): PlateFilter {
  const key = plateKey(filter);
  if (!key.includes('*')) return { equals: key };
  const [, end] = /^\*+([^*]+)$/.exec(key) ?? [];
  if (end !== undefined) return { backwardsLike: `${escaped([...end].reverse().join(''))}%` };
  return { like: escaped(key).replace(/\*+/g, '%') };
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
