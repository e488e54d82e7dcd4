import { objectOf, textOf } from '../json-values.ts';

export type Json = Readonly<Record<string, unknown>>;

// DATEX II as JSON, whether it came as JSON of version 3 or as XML (see `asJson`): names of types are keys with the prefix of
// their namespace (`situationAccident`, `sitAccident`) or the attribute `xsi:type`, identifiers are `idG`, `_id` or `@id`.

/** All objects under the key anywhere in the value; arrays are taken apart. */
export function allUnder(value: unknown, key: string): Json[] {
  if (Array.isArray(value)) return value.flatMap((each) => allUnder(each, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    name === key ? listOf(each).map(objectOf) : allUnder(each, key),
  );
}

/** The first text under the key anywhere in the value, where its element may have attributes. */
export function wordUnder(value: unknown, key: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, each] of Object.entries(value)) {
    const word = name === key ? wordOf(each) : wordUnder(each, key);
    if (word !== null) return word;
  }
  return null;
}

/** The value as a list: empty if it is absent, of one element if it is not an array. */
export function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** The text of an element, an enumeration (`{value}`), or the first of several. */
export function wordOf(value: unknown): string | null {
  if (Array.isArray(value)) return wordOf(value[0]);
  if (typeof value !== 'object' || value === null) return textOf(value);
  const { value: word, '#text': text } = value as Json;
  return wordOf(word ?? text);
}

/** The identification of an object. */
export function idOf(given: Json): string | null {
  return textOf(given['@id'] ?? given.idG ?? given._id ?? given.id);
}

/** The version of an object, under any of the names that senders use; null without one. */
export function versionOf(given: Json): string | null {
  return textOf(given['@version'] ?? given.versionG ?? given._version ?? given.version);
}

/** The name of the type, without its prefix, and the fields of an object of one of several types. */
export function typed(given: Json): { readonly type: string; readonly fields: Json } {
  const attribute = textOf(given['@xsi:type'] ?? given['@type'] ?? given._type);
  if (attribute !== null) return { type: attribute.replace(/^.*:/, ''), fields: given };
  const [only, ...more] = Object.entries(given);
  if (only && more.length === 0 && typeof only[1] === 'object' && !Array.isArray(only[1])) {
    const type = only[0].replace(/^(?:situation|sit|roadTrafficData|roa|road)(?=[A-Z])/, '');
    return { type, fields: objectOf(only[1]) };
  }
  return { type: '', fields: given };
}
