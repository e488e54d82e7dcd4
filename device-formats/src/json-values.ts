type Json = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one otherwise, so that missing branches can be read. */
export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The value as an array; an empty one when it is none. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, trimmed; a number as text; null for anything else and for an empty text. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' ? value.trim() || null : null;
}

/** The value at a path of keys and indexes, `results.0.plate` for example; undefined when there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Json)[key];
  }
  return found;
}

/** The values that are numbers or texts, as trimmed texts; without empty texts and repetitions. */
export function namesOf(...values: readonly unknown[]): string[] {
  return [...new Set(values.map(textOf).filter((name) => name !== null))];
}

/**
 * Returns the function with a cache: each result is kept as long as the object for which it was computed. Each vehicle of
 * a message is read together with the whole message, which may be large and does not change.
 */
export function remembered<Result>(compute: (value: object) => Result): (value: object) => Result {
  const results = new WeakMap<object, Result>();
  return (value) => {
    const known = results.get(value);
    if (known !== undefined) return known;
    const result = compute(value);
    results.set(value, result);
    return result;
  };
}

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
