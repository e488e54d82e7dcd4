import { TooManyVehicles } from './format.ts';
import { remembered, textOf } from './json-values.ts';
import type { MessagePart } from './message.ts';
import { elementsNamed, asJson as jsonOf } from './xml.ts';

/** The spellings of "not recognised" in attributes such as the color of a vehicle, in lower case. */
const UNKNOWN =
  /^(?:unknown?|unkown|unidentified|unrecogni[sz]ed|none|nil|null|undefined|undetected|n\/a|not[ _-]?(?:available|applicable|detected|recogni[sz]ed|known|set)|unbekannt|inconnue?|desconocid[oa]|desconhecid[oa]|bilinmiyor|غير معروف|未知|未识别|无|[-/?*.\s]*)$/;

/** Maximum number of vehicles in a message, which no device exceeds, unless its format has another limit. */
const MAX_ITEMS = 100;
/** Maximum number of objects of a message that are checked; real messages contain a few hundred. */
const MAX_OBJECTS = 5_000;

/**
 * The value at a path such as `ANPR/vehicleInfo/speed` in JSON or in XML as JSON; undefined when there is none. Case,
 * blanks, `_`, `-` and `.` in names are ignored, because firmware versions differ in them. In a list, the first
 * element is used.
 */
export function fieldAt(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const name of path.split('/')) {
    const object = Array.isArray(found) ? found[0] : found;
    if (typeof object !== 'object' || object === null) return undefined;
    found = fieldNamed(object as Record<string, unknown>, name);
  }
  return found;
}

/** The text or number at the first of the paths that has one, as text; null when none has. */
export function fieldText(value: unknown, ...paths: string[]): string | null {
  for (const path of paths) {
    const text = textOfField(path === '' ? value : fieldAt(value, path));
    if (text !== null) return text;
  }
  return null;
}

/** The text, unless it is only a number: the code of a country, a make or a color, whose meaning the maker does not publish. */
export function nameOnly(text: string | null): string | null {
  return text !== null && /^[-+]?\d+$/.test(text) ? null : text;
}

/** As `fieldText`, but null for every spelling of "unknown". Without paths, the value itself is meant. */
export function knownText(value: unknown, ...paths: string[]): string | null {
  for (const path of paths.length === 0 ? [''] : paths) {
    const text = fieldText(value, path);
    if (text !== null && !UNKNOWN.test(text.toLowerCase())) return text;
  }
  return null;
}

/**
 * The elements at a path: of an array, of a list of `item` in XML, or a single value.
 * @throws TooManyVehicles when there are more than `most`
 */
export function fieldList(value: unknown, path: string, most = MAX_ITEMS): readonly unknown[] {
  const found = fieldAt(value, path);
  if (found === undefined || found === null || found === '') return [];
  const items = Array.isArray(found) ? found : fieldAt(found, 'item');
  return itemsOf(items ?? found, most);
}

/**
 * The elements of an array, or a single value.
 * @throws TooManyVehicles when there are more than `most`
 */
export function itemsOf(value: unknown, most = MAX_ITEMS): readonly unknown[] {
  if (!Array.isArray(value)) return [value];
  if (value.length > most) throw new TooManyVehicles(most);
  return value;
}

/** The objects of a value and of everything in it, outer ones first; at most 5,000. */
export function objectsIn(value: unknown): readonly Record<string, unknown>[] {
  return typeof value === 'object' && value !== null ? objectsOf(value) : [];
}

const objectsOf = remembered((value: object): readonly Record<string, unknown>[] => {
  const found: Record<string, unknown>[] = [];
  let level: unknown[] = [value];
  while (level.length > 0) {
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      if (!Array.isArray(each) && found.push(each as Record<string, unknown>) >= MAX_OBJECTS) return found;
      for (const value of Object.values(each)) next.push(value);
    }
    level = next;
  }
  return found;
});

/**
 * The known text (see `knownText`) under the first of the names that has one, in the first object of the value with any of
 * the names. Outer objects are checked first; null when no object has one.
 */
export function anyText(value: unknown, ...names: string[]): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const known = textsOf(value);
  const question = names.join();
  const before = known.get(question);
  if (before !== undefined) return before;
  let text: string | null = null;
  for (const object of objectsIn(value)) {
    text = knownText(object, ...names);
    if (text !== null) break;
  }
  known.set(question, text);
  return text;
}

/** The results of `anyText` for a value, by names. They are kept because every vehicle of a message asks for the same. */
const textsOf = remembered((_: object) => new Map<string, string | null>());

/** The JSON values of a message, XML as JSON; for a form, one object with its fields. */
export function valuesOf(parts: readonly MessagePart[]): unknown[] {
  const values = parts.flatMap(({ content }) =>
    content.kind === 'json' ? [content.value] : content.kind === 'xml' ? [jsonOf(content.root)] : [],
  );
  if (values.length > 0) return values;
  const fields = parts.flatMap(({ name, content }) =>
    name !== null && content.kind === 'text' ? [[name, content.text] as const] : [],
  );
  return fields.length > 0 ? [Object.fromEntries(fields)] : [];
}

/** The XML elements with the name anywhere in the message, as JSON. */
export function elementsOf(parts: readonly MessagePart[], name: string): unknown[] {
  return parts.flatMap(({ content }) => {
    if (content.kind !== 'xml') return [];
    const { root } = content;
    return (root.name === name ? [root] : elementsNamed(root, name)).map(jsonOf);
  });
}

/**
 * Why the parts contain nothing readable, as a sentence.
 * @param expected what the format reads: `JSON from a Milesight camera` for example
 */
export function unreadableReason(parts: readonly MessagePart[], expected: string): string {
  for (const { content } of parts) if (content.kind === 'unreadable') return content.reason;
  return `The message is not ${expected}`;
}

function fieldNamed(object: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  return byPlainName(object).get(plainName(name));
}

const byPlainName = remembered((object: object): ReadonlyMap<string, unknown> => {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(object)) {
    const plain = plainName(name);
    if (!values.has(plain)) values.set(plain, value);
  }
  return values;
});

function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, '');
}

/** The text of a field. An XML element with attributes is an object that contains its text in `#text`. */
function textOfField(value: unknown): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  const text = typeof first === 'object' && first !== null ? fieldNamed(first as never, '#text') : first;
  return typeof text === 'boolean' ? String(text) : textOf(text);
}

/** The addresses of images in a value, in the order in which they occur. */
export function addressesIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return /^\s*\/images\/[0-9a-f]{64}\s*$/.test(value) ? [value.trim()] : [];
  return typeof value === 'object' && value !== null ? addressesOf(value) : [];
}

const addressesOf = remembered((value: object): readonly string[] => [
  ...new Set(Object.values(value).flatMap(addressesIn)),
]);

/** The addresses of the images among the parts of a message, sorted by the rank that `rankOf` gives their names; 0 is the best. */
export function imagesIn(
  parts: readonly MessagePart[],
  rankOf: (name: string) => number = () => 0,
): string[] {
  const images = parts.flatMap(({ name, fileName, content }) =>
    content.kind === 'image'
      ? [{ address: content.address, rank: rankOf(`${fileName ?? ''} ${name ?? ''}`) }]
      : [],
  );
  return [...new Set(images.sort((a, b) => a.rank - b.rank).map(({ address }) => address))];
}
