import { objectOf } from './json-values.ts';

/** Finds the first of some keys that has a value. */
export type Fields = (...names: readonly string[]) => unknown;

/**
 * Reads an object whose keys may be written in any case, with or without underscores, hyphens and blanks: versions of
 * a maker's firmware differ in that. Null and empty texts count as absent.
 */
export function fieldsOf(value: unknown): Fields {
  const byKey = new Map<string, unknown>();
  for (const [key, each] of Object.entries(objectOf(value))) {
    if (each === null || each === undefined || each === '') continue;
    if (!byKey.has(plain(key))) byKey.set(plain(key), each);
  }
  return (...names) => {
    for (const name of names) {
      const found = byKey.get(plain(name));
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function plain(key: string): string {
  return key.toLowerCase().replaceAll(/[\s_-]/g, '');
}
