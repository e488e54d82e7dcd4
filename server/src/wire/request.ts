import { BATCH_ARRAY_TYPE, MAX_BATCH } from '@gantry/contract/envelope';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../context.ts';
import type { Call } from './call.ts';
import { WireError } from './errors.ts';
import { parseJson } from './json.ts';
import { reviveInput } from './superjson.ts';

/** What a request to /trpc asks for. */
export interface TrpcRequest {
  readonly calls: readonly Call[];
  /** Whether the answer is keyed by position, even for one call. */
  readonly batch: boolean;
  /** Whether the caller wants a batch answered as an array, as stock batch links do. */
  readonly asArray: boolean;
  /** Whether a streaming link of tRPC is calling, which tRPC's own adapter answers. */
  readonly streamed: boolean;
}

const methodTypes: Readonly<Record<string, Call['method']>> = {
  GET: 'query',
  HEAD: 'query',
  POST: 'mutation',
};

const queryText = (request: FastifyRequest, name: string): string | null => {
  const value: unknown = Reflect.get(request.query as object, name);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && typeof value[0] === 'string' ? value[0] : null;
};

const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/** Refuses a body that is not plain JSON; it is checked when the input is wanted, not before the token. */
const requireJson = (request: FastifyRequest): void => {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without content-encoding');
  }
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new WireError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json');
  }
};

/** The parsed input of the whole request, parsed when it is first asked for and once. */
const lazyJson = (request: FastifyRequest): (() => unknown) => {
  const parse = (): unknown => {
    if (request.method !== 'POST') {
      const input = queryText(request, 'input');
      return input === null ? undefined : parseJson(Buffer.from(input));
    }
    const body = request.body as Buffer | undefined;
    if (!body || body.length === 0) return undefined;
    requireJson(request);
    return parseJson(body);
  };
  let parsed: { value: unknown } | null = null;
  return () => {
    parsed ??= { value: parse() };
    return parsed.value;
  };
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

const wantsStream = (request: FastifyRequest): boolean => {
  const accept = `${request.headers['trpc-accept'] ?? ''},${request.headers.accept ?? ''}`;
  return accept.includes('application/jsonl') || accept.includes('text/event-stream');
};

/**
 * Understands a request to /trpc/<path>.
 * @param path what follows /trpc/, decoded
 * @throws WireError BAD_REQUEST for a batch that is too large or carries more than one login
 */
export const readRequest = (request: FastifyRequest, path: string): TrpcRequest => {
  const batch = queryText(request, 'batch') === '1';
  const paths = batch ? path.split(',') : [path];
  if (paths.length > MAX_BATCH) {
    throw new WireError('BAD_REQUEST', `A batch may carry at most ${MAX_BATCH} calls`);
  }
  if (paths.filter((each) => each === 'auth.login').length > 1) {
    throw new WireError('BAD_REQUEST', 'A batch may carry at most one auth.login');
  }
  const json = lazyJson(request);
  const method = methodTypes[request.method] ?? null;
  return {
    calls: paths.map((each, position) => ({
      method,
      path: each,
      input: () => orUndefined(reviveInput(batch ? inputAt(json(), position) : json())),
    })),
    batch,
    asArray: (request.headers.accept ?? '').includes(BATCH_ARRAY_TYPE),
    streamed: wantsStream(request),
  };
};

/** Who is calling. */
export const callerOf = (request: FastifyRequest): Caller => ({
  requestId: request.id,
  address: request.ip,
  userAgent: request.headers['user-agent'] ?? null,
  authorization: request.headers.authorization ?? null,
});
