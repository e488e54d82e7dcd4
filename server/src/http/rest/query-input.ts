import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring';
import { WireError } from '../../rpc/errors.ts';
import type { JsonSchema } from '../docs/procedures.ts';

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * The fields of a query string, converted to the types in the schema: numbers, booleans, arrays of repeated fields. A
 * text that does not have the form of its type remains a text, which the schema refuses.
 * @throws WireError BAD_REQUEST for a field that does not exist, because a misspelt filter would return everything, and
 * for a repeated field that is not a list
 */
export function readQuery(query: string, schema: JsonSchema | null): Record<string, unknown> {
  const given: ParsedUrlQuery = query === '' ? {} : parseQuery(query);
  const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!Object.hasOwn(properties, name)) throw unknownField(name, Object.keys(properties));
      return [name, fieldOf(name, value, properties[name] ?? {})];
    }),
  );
}

function unknownField(name: string, known: readonly string[]): WireError {
  const path = name.slice(0, 100).toWellFormed();
  const rest = known.length === 0 ? 'this address has no parameters' : `there are ${known.join(', ')}`;
  return new WireError('BAD_REQUEST', `There is no parameter "${path}": ${rest}`, {
    issues: [{ path, message: 'There is no such parameter' }],
  });
}

function repeatedField(name: string): WireError {
  return new WireError('BAD_REQUEST', `Send ${name} once: it is not a list`, {
    issues: [{ path: name, message: 'Send it once: it is not a list' }],
  });
}

function fieldOf(name: string, value: string | string[] | undefined, schema: JsonSchema): unknown {
  const forms = formsOf(schema);
  if (Array.isArray(value)) {
    const items = itemsOf(forms);
    if (items.length === 0) throw repeatedField(name);
    return value.map((each) => single(each, items));
  }
  const array = forms.every(({ type }) => type === 'array');
  return array ? [single(value ?? '', itemsOf(forms))] : single(value ?? '', forms);
}

/** The alternatives of a schema. */
function formsOf(schema: JsonSchema): JsonSchema[] {
  const choices = schema.anyOf ?? schema.oneOf;
  return Array.isArray(choices) ? (choices as JsonSchema[]).flatMap(formsOf) : [schema];
}

function itemsOf(forms: readonly JsonSchema[]): JsonSchema[] {
  return forms.flatMap(({ items }) => (items ? formsOf(items as JsonSchema) : []));
}

function single(text: string, forms: readonly JsonSchema[]): unknown {
  const types = new Set(forms.flatMap(({ type }) => type));
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
