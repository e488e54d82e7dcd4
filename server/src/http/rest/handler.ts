import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Core, RequestContext } from '../../platform/context.ts';
import { limitReading } from '../../rpc/answer-budget.ts';
import { drain } from '../../rpc/body.ts';
import type { Answer, Call } from '../../rpc/dispatch.ts';
import { failureOf, WireError } from '../../rpc/errors.ts';
import { sendTexts, writePlainFrames } from '../../rpc/event-stream.ts';
import { type HandlerOptions, JSON_TYPE } from '../../rpc/handler.ts';
import { commonHeaders, headersForOrigin, REST_EXPOSED_HEADERS, requireOneHost } from '../../rpc/headers.ts';
import { once, type Target, targetUnder } from '../../rpc/request.ts';
import { describeFailure, STREAM_HEADERS, subscribe } from '../../rpc/subscription.ts';
import { describeProcedure, type ProcedureDocument } from '../docs/procedures.ts';
import { allowedMethods, findPath } from './find-route.ts';
import { isArray, readInput } from './input.ts';
import { PROBLEM_TYPE, problemOf } from './problem.ts';
import type { Route } from './routes.ts';

const PREFIX = '/v1/';

/** The address of the REST form itself, at which there is no resource. */
const ROOT = /^\/v1(?:\?|$)/;

/** Handles requests to /v1. */
export interface RestDoor {
  accepts(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
}

/** A request to /v1 and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

type Headers = Readonly<Record<string, string>>;

/** Creates the handler of the REST form of the API. It calls the same procedures as /trpc, in the same way. */
export function createRestDoor<App extends Core>(options: HandlerOptions<App>): RestDoor {
  const { router, app, bodies, dispatcher, allowed, callerOf, isClosing } = options;
  const documents = new Map<string, ProcedureDocument | null>();

  // Described on first use: describing all takes a good part of a second.
  const documentOf = (procedure: string): ProcedureDocument => {
    const known = documents.get(procedure) ?? describeProcedure(router, procedure);
    documents.set(procedure, known);
    if (!known) throw new WireError('NOT_FOUND', 'There is nothing at this address');
    return known;
  };

  /** The common headers. While the service is stopping, it also makes the connection end with the answer. */
  const beginOf = ({ request, response, requestId }: Exchange): string[] => {
    if (isClosing()) response.shouldKeepAlive = false;
    const ofOrigin = headersForOrigin(request.headers.origin, allowed, REST_EXPOSED_HEADERS);
    return [...commonHeaders(requestId), ...ofOrigin];
  };

  const send = (
    exchange: Exchange,
    status: number,
    headers: Headers,
    content: { readonly type: string; readonly json: string } | null,
  ): void => {
    const { request, response } = exchange;
    const head = beginOf(exchange);
    for (const [name, value] of Object.entries(headers)) head.push(name, value);
    const bytes = content ? Buffer.byteLength(content.json) : 0;
    if (content) head.push('content-type', content.type);
    if (status !== 204) head.push('content-length', String(bytes));
    response.writeHead(status, head);
    response.end(request.method === 'HEAD' ? undefined : content?.json);
    limitReading(response, bytes, options.limits);
  };

  const refuse = (exchange: Exchange, { status, outcome, headers }: Answer): void => {
    if (!('error' in outcome)) return;
    const problem = problemOf(outcome.error, exchange.requestId);
    const challenge: Headers = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
    send(
      exchange,
      status,
      { ...headers, ...challenge },
      { type: PROBLEM_TYPE, json: JSON.stringify(problem) },
    );
  };

  const stream = async (
    exchange: Exchange,
    ctx: RequestContext<App>,
    target: Target,
    call: Call,
  ): Promise<void> => {
    const { request, response, requestId } = exchange;
    const subscribing = { request, response, target, call };
    const messages = await begun(await subscribe(dispatcher, ctx, options.ending, subscribing));
    const head = beginOf(exchange);
    for (let at = 0; at < head.length; at += 2) response.setHeader(head[at] ?? '', head[at + 1] ?? '');
    response.writeHead(200, STREAM_HEADERS);
    // The answer to HEAD has no body, and the stream would never end.
    if (request.method === 'HEAD') return void response.end();
    const describe = (error: unknown) => problemOf(describeFailure(ctx, call.path, error), requestId);
    await sendTexts(writePlainFrames({ messages, describe }), response);
  };

  const answer = async (exchange: Exchange, target: Target): Promise<void> => {
    const { request, response, requestId } = exchange;
    const { method = '' } = request;
    requireOneHost(request);
    const found = findPath(`${PREFIX}${target.path}`);
    if (!found) {
      throw new WireError('NOT_FOUND', 'There is nothing at this address: all are described at /docs');
    }
    const allow = allowedMethods(found.routes);
    if (method === 'OPTIONS') return send(exchange, 204, { allow }, null);
    const route = found.routes.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
    if (!route) {
      throw new WireError('METHOD_NOT_SUPPORTED', `This address supports ${allow}`, { headers: { allow } });
    }
    const takesBody = route.input === 'body';
    if (!takesBody) drain(request, response);
    const body = takesBody ? await bodies.read(request, response) : null;
    const isBatch = route.ofArrays !== undefined && isArray(body);
    const procedure = isBatch && route.ofArrays ? route.ofArrays.procedure : route.procedure;
    const document = documentOf(procedure);
    const ctx: RequestContext<App> = { app, caller: callerOf(request, requestId) };
    const received = { request, query: target.query, body, fields: found.fields };
    const call: Call = {
      method: document.type === 'mutation' ? 'mutation' : 'query',
      path: procedure,
      input: once(() => readInput(route, document, received)),
      refusesUnknown: true,
    };
    if (document.type === 'subscription') return stream(exchange, ctx, target, call);
    const answered = await dispatcher.call(ctx, call, { response, isBatch: false });
    if (!('result' in answered.outcome)) return refuse(exchange, answered);
    const { json } = answered.outcome.result;
    const { status, headers } = isBatch ? ofBatch(json) : ofOne(route, target, json);
    send(exchange, status, headers, status === 204 ? null : { type: JSON_TYPE, json });
  };

  const fail = (exchange: Exchange, error: unknown): void => {
    const { request, response, requestId } = exchange;
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const { body, headers, unexpected } = failureOf(error);
    if (unexpected) app.log.error({ err: error, requestId }, 'a request failed');
    drain(request, response);
    refuse(exchange, { status: body.data.httpStatus, outcome: { error: body }, headers });
  };

  return {
    accepts: ({ url = '' }) => targetUnder(url, PREFIX) !== null || ROOT.test(url),
    handle(request, response) {
      const exchange = { request, response, requestId: randomUUID() };
      const target = targetUnder(request.url ?? '', PREFIX) ?? { path: '', query: '' };
      answer(exchange, target).catch((error: unknown) => fail(exchange, error));
    },
  };
}

/**
 * The messages of a subscription that was not refused at once, as it is when too many are open.
 * @throws the refusal
 */
async function begun(messages: AsyncIterable<unknown>): Promise<AsyncIterable<unknown>> {
  const rest = messages[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<unknown>> | null = rest.next();
  await Promise.race([first, setImmediate()]);
  const iterator = {
    next: () => {
      const next = first ?? rest.next();
      first = null;
      return next;
    },
    return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
  };
  return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<unknown> };
}

/** The status of the answer to a batch: 207 if some of its events were refused; the body says which. */
function ofBatch(json: string): { status: number; headers: Headers } {
  const { success } = JSON.parse(json) as { success: boolean };
  return { status: success ? 200 : 207, headers: {} };
}

function ofOne(
  { status = 200, created }: Route,
  { path }: Target,
  json: string,
): { status: number; headers: Headers } {
  if (!created) return { status, headers: {} };
  const id = encodeURIComponent(String((JSON.parse(json) as Record<string, unknown>)[created.field]));
  // A relative address replaces what follows the last slash of the address of the request.
  return { status, headers: { location: path.endsWith('/') ? id : `${created.under}/${id}` } };
}
