import { BATCH_ARRAY_TYPE, MAX_BATCH } from '@gantry/contract/envelope';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../context.ts';
import type { Call } from './call.ts';
import { WireError } from './errors.ts';
import { parseJson } from './json.ts';
import { reviveInput } from './superjson.ts';

/** How a batch is answered: keyed by position, as an array for stock batch links, or line by line for streaming ones. */
export type BatchForm = 'object' | 'array' | 'lines';

/** What a request to /trpc asks for. */
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

/** A function that does its work when it is first called, and from then on repeats the outcome, failures too. */
const once = <Result>(work: () => Result): (() => Result) => {
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
};

const queryText = (request: FastifyRequest, name: string): string | null => {
  const value: unknown = Reflect.get(request.query as object, name);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : null;
};

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Refuses a body that is not plain JSON in UTF-8; it is checked when the input is wanted, not before the token. */
const requireJson = (request: FastifyRequest): void => {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (encoding.toLowerCase() !== 'identity') {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding');
  }
  if (!JSON_TYPE.test(type)) {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json');
  }
  if (!/^utf-?8$/i.test(CHARSET.exec(type)?.[1] ?? 'utf-8')) {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body in UTF-8');
  }
};

const parseInput = (request: FastifyRequest, body: Buffer | null): unknown => {
  if (request.method !== 'POST') {
    const input = queryText(request, 'input');
    return input ? parseJson(Buffer.from(input)) : undefined;
  }
  if (body === null || body.length === 0) return undefined;
  requireJson(request);
  return parseJson(body);
};

const inputAt = (json: unknown, position: number): unknown => {
  if (json === undefined || json === null) return undefined;
  if (typeof json !== 'object' || Array.isArray(json)) {
    throw new WireError(
      'BAD_REQUEST',
      'Send the inputs of a batch as an object keyed by position: {"0": {"json": …}}',
    );
  }
  const key = String(position);
  return Object.hasOwn(json, key) ? (json as Record<string, unknown>)[key] : undefined;
};

/** `null` is how some clients say "no input". */
const orUndefined = (value: unknown): unknown => (value === null ? undefined : value);

const batchForm = ({ headers }: FastifyRequest): BatchForm => {
  const accept = headers.accept ?? '';
  if (accept.includes('application/jsonl') || headers['trpc-accept'] === 'application/jsonl') return 'lines';
  return accept.includes(BATCH_ARRAY_TYPE) ? 'array' : 'object';
};

/**
 * Understands a request to /trpc/<path>. Inputs are parsed when they are asked for, after the caller was admitted.
 * @param path what follows /trpc/, decoded
 * @throws WireError BAD_REQUEST for a batch that is too large or carries more than one login
 */
export const readRequest = (request: FastifyRequest, path: string, body: Buffer | null): TrpcRequest => {
  const json = once(() => parseInput(request, body));
  const method = methodTypes[request.method] ?? null;
  if (queryText(request, 'batch') !== '1') {
    return { calls: [{ method, path, input: once(() => orUndefined(reviveInput(json()))) }], batch: null };
  }
  const paths = path.split(',');
  if (paths.length > MAX_BATCH) {
    throw new WireError('BAD_REQUEST', `A batch may carry at most ${MAX_BATCH} calls`);
  }
  if (paths.filter((each) => each === 'auth.login').length > 1) {
    throw new WireError('BAD_REQUEST', 'A batch may carry at most one auth.login');
  }
  const calls = paths.map((each, position) => ({
    method,
    path: each,
    input: once(() => orUndefined(reviveInput(inputAt(json(), position)))),
  }));
  return { calls, batch: batchForm(request) };
};

/** Who is calling. */
export const callerOf = (request: FastifyRequest): Caller => ({
  requestId: request.id,
  address: request.ip,
  userAgent: request.headers['user-agent'] ?? null,
  authorization: request.headers.authorization ?? null,
});
