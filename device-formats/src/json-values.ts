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
