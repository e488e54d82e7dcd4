import type { IncomingMessage } from 'node:http';
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring';
import { AppError } from '../../platform/error.ts';
import { WireError } from '../../rpc/errors.ts';
import { parseJson } from '../../rpc/json.ts';
import { requireJson } from '../../rpc/request.ts';
import type { JsonSchema, ProcedureDocument } from '../docs/procedures.ts';
import type { Route } from './routes.ts';

/** The parts of a request that determine the input of a procedure. */
export interface Received {
  readonly request: IncomingMessage;
  readonly query: string;
  /** null if there is none. */
  readonly body: Buffer | null;
  /** The fields that the path contains. */
  readonly fields: Readonly<Record<string, string>>;
}

const BEARER = /^Bearer +(\S+) *$/i;
const OPEN_BRACKET = 0x5b;

/** Whether a body is an array. It is not parsed for this, because the request may be refused before that. */
export function isArray(body: Buffer | null): boolean {
  return body?.find((byte) => byte > 0x20) === OPEN_BRACKET;
}

/**
 * The input of the procedure.
 * @throws WireError BAD_REQUEST or PARSE_ERROR for what cannot be read; UNSUPPORTED_MEDIA_TYPE
 * @throws AppError `unauthorized` when a device sends no key
 */
export function readInput(
  { input: from, ofArrays }: Route,
  { path, meta, input }: ProcedureDocument,
  received: Received,
): unknown {
  const given = from === 'body' ? readBody(received, ofArrays) : readQuery(received.query, input);
  const fields = {
    ...given,
    ...received.fields,
    ...(ofArrays && idempotency(received, given, path === ofArrays.procedure)),
  };
  if (meta.access !== 'device') return fields;
  const key = keyOf(received.request) ?? ('apiKey' in given ? given.apiKey : undefined);
  if (key === undefined) {
    throw new AppError(
      'unauthorized',
      'Send the API key of the sensor in the header x-api-key or as Authorization: Bearer',
    );
  }
  return { ...fields, apiKey: key };
}

/** The key of a device that its headers contain. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key;
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

/**
 * The field `idempotencyKey` from the header Idempotency-Key, which is usual in other APIs.
 * @throws WireError BAD_REQUEST for an array, which one key cannot identify, and for a key that differs from the body's
 */
function idempotency(
  { request: { headers } }: Received,
  given: Record<string, unknown>,
  isBatch: boolean,
): { idempotencyKey?: string } {
  const key = headers['idempotency-key'];
  if (typeof key !== 'string') return {};
  if (isBatch) {
    throw new WireError(
      'BAD_REQUEST',
      'The header Idempotency-Key is for a single event: give each event of the array an idempotencyKey of its own',
    );
  }
  if (typeof given.idempotencyKey === 'string' && given.idempotencyKey !== key) {
    throw new WireError(
      'BAD_REQUEST',
      'The header Idempotency-Key and idempotencyKey differ: send one of them',
    );
  }
  return { idempotencyKey: key };
}

function readBody({ request, query, body }: Received, ofArrays: Route['ofArrays']): Record<string, unknown> {
  readQuery(query, null);
  if (body === null || body.length === 0) return {};
  requireJson(request.headers);
  const value = parseJson(body);
  if (Array.isArray(value) && ofArrays) return { [ofArrays.field]: value };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new WireError(
    'BAD_REQUEST',
    ofArrays ? 'Send a JSON object, or an array of them' : 'Send a JSON object',
  );
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * The fields of a query string, converted to the types in the schema: numbers, booleans, arrays of repeated fields. A
 * text that does not have the form of its type remains a text, which the schema refuses.
 * @throws WireError BAD_REQUEST for a field that does not exist, because a misspelt filter would return everything, and
 * for a repeated field that is not a list
 */
function readQuery(query: string, schema: JsonSchema | null): Record<string, unknown> {
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
