import type { IncomingHttpHeaders } from 'node:http';
import { type ParsedUrlQuery, parse as parseQuery } from 'node:querystring';
import { BATCH_ARRAY_TYPE, MAX_BATCH } from '@gantry/contract/envelope';
import type { Call } from './dispatch.ts';
import { WireError } from './errors.ts';
import { parseJson, reviveInput } from './json.ts';

/**
 * The format of the answer to a batch: an object keyed by position, an array for tRPC's standard batch link, or lines for
 * its streaming link.
 */
export type BatchForm = 'object' | 'array' | 'lines';

/** A request to /trpc as received. */
export interface RawRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly target: Target;
  /** null if there is none. */
  readonly body: Buffer | null;
}

/** The address of a request to /trpc or /v1. */
export interface Target {
  /** The part after the prefix, still encoded. */
  readonly path: string;
  /** The part after the question mark; empty if there is none. */
  readonly query: string;
}

/** A parsed request to /trpc. */
export interface TrpcRequest {
  readonly calls: readonly Call[];
  /** null for a single call. */
  readonly batch: BatchForm | null;
}

const methodTypes: Readonly<Record<string, Call['method']>> = {
  GET: 'query',
  HEAD: 'query',
  POST: 'mutation',
};

const PREFIX = '/trpc/';

/** The part before the path in the address of a request, if a client treats the service as a proxy. */
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/** The address of a procedure below /trpc; null for another address. */
export function trpcTarget(url: string): Target | null {
  return targetUnder(url, PREFIX);
}

/** The address below a prefix that ends with a slash; null for another address. */
export function targetUnder(url: string, prefix: string): Target | null {
  const local = url.startsWith('/') ? url : url.replace(ORIGIN, '');
  if (!local.startsWith(prefix)) return null;
  const end = local.search(/[?#]/);
  return end === -1
    ? { path: local.slice(prefix.length), query: '' }
    : { path: local.slice(prefix.length, end), query: local.slice(end + 1) };
}

const NO_QUERY: ParsedUrlQuery = {};

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/**
 * Parses a request to /trpc/<path>. Inputs are parsed later, after the caller was admitted.
 * @throws WireError BAD_REQUEST for a path that cannot be decoded, and a batch that is too large or contains more
 * than one login
 */
export function readRequest(received: RawRequest): TrpcRequest {
  const { method: verb, headers, target } = received;
  const path = decode(target.path);
  const query = target.query === '' ? NO_QUERY : parseQuery(target.query);
  const method = methodTypes[verb] ?? null;
  if (textOf(query, 'batch') !== '1') {
    const input = once(() => orUndefined(reviveInput(parseInput(received, query))));
    return { calls: [{ method, path, input }], batch: null };
  }
  const paths = path.split(',');
  if (paths.length > MAX_BATCH) {
    throw new WireError('BAD_REQUEST', `A batch may contain at most ${MAX_BATCH} calls`);
  }
  if (paths.filter((each) => each === 'auth.login').length > 1) {
    throw new WireError('BAD_REQUEST', 'A batch may contain at most one auth.login');
  }
  const inputs = once(() => parseInput(received, query));
  const calls = paths.map((each, position) => ({
    method,
    path: each,
    input: once(() => orUndefined(reviveInput(inputAt(inputs(), position)))),
  }));
  return { calls, batch: batchForm(headers) };
}

function decode(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new WireError('BAD_REQUEST', 'Malformed URL');
  }
}

/** A function that runs on its first call and then repeats its result or error. */
export function once<Result>(work: () => Result): () => Result {
  let outcome: { value: Result } | { error: unknown } | null = null;
  return () => {
    if (!outcome) {
      try {
        outcome = { value: work() };
      } catch (error) {
        outcome = { error };
      }
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}

function textOf(query: ParsedUrlQuery, name: string): string | undefined {
  const value = query[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Refuses a body that is not plain JSON in UTF-8. Called when the input is needed, after the token was checked. */
export function requireJson(headers: IncomingHttpHeaders): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (type === 'application/json' && encoding === 'identity') return;
  if (encoding.toLowerCase() !== 'identity') {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding');
  }
  if (!JSON_TYPE.test(type)) {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json');
  }
  if (!/^utf-?8$/i.test(CHARSET.exec(type)?.[1] ?? 'utf-8')) {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body in UTF-8');
  }
}

function parseInput({ method, headers, body }: RawRequest, query: ParsedUrlQuery): unknown {
  if (method !== 'POST') {
    const input = textOf(query, 'input');
    return input ? parseJson(Buffer.from(input)) : undefined;
  }
  if (body === null || body.length === 0) return undefined;
  requireJson(headers);
  return parseJson(body);
}

function inputAt(json: unknown, position: number): unknown {
  if (json === undefined || json === null) return undefined;
  if (typeof json !== 'object' || Array.isArray(json)) {
    throw new WireError(
      'BAD_REQUEST',
      'Send the inputs of a batch as an object keyed by position: {"0": {"json": …}}',
    );
  }
  const key = String(position);
  return Object.hasOwn(json, key) ? (json as Record<string, unknown>)[key] : undefined;
}

/** The input, with undefined in place of null, which some clients send for no input. */
function orUndefined(value: unknown): unknown {
  return value === null ? undefined : value;
}

function batchForm(headers: IncomingHttpHeaders): BatchForm {
  const accept = headers.accept ?? '';
  if (accept.includes('application/jsonl') || headers['trpc-accept'] === 'application/jsonl') return 'lines';
  return accept.includes(BATCH_ARRAY_TYPE) ? 'array' : 'object';
}
