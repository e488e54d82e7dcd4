import { STATUS_CODES } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { ErrorBody } from '@gantry/contract/envelope';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Core, RequestContext } from '../../platform/context.ts';
import type { Answer, Call, Dispatcher } from '../../rpc/dispatch.ts';
import { WireError } from '../../rpc/errors.ts';
import { sendTexts, writePlainFrames } from '../../rpc/event-stream.ts';
import {
  Exchange,
  type FrontEnd,
  type Headers,
  JSON_TYPE,
  type RequestHandler,
  requireOneHost,
} from '../../rpc/exchange.ts';
import type { HandlerOptions } from '../../rpc/handler.ts';
import { REST_EXPOSED_HEADERS } from '../../rpc/headers.ts';
import { once, type Target, targetUnder } from '../../rpc/request.ts';
import { describeFailure, STREAM_HEADERS, subscribe } from '../../rpc/subscription.ts';
import { describeProcedure, type ProcedureDocument } from '../docs/procedures.ts';
import { isArray, readInput } from './input.ts';
import { allowedMethods, findPath, type Route } from './routes.ts';

const PREFIX = '/v1/';

/** The URL of the REST form itself, at which there is no resource. */
const ROOT = /^\/v1(?:\?|$)/;

/** Creates the handler of the REST form of the API. It calls the same procedures as /trpc, in the same way. */
export function createRestHandler<App extends Core>(options: HandlerOptions<App>): RequestHandler {
  const rest = new RestForm(options);
  return (request, response) => {
    const { url = '' } = request;
    const target = targetUnder(url, PREFIX) ?? (ROOT.test(url) ? { path: '', query: '' } : null);
    if (!target) return false;
    const exchange = new Exchange(options.frontEnd, request, response, REST_EXPOSED_HEADERS);
    rest.answer(exchange, target).catch((error: unknown) => fail(exchange, error));
    return true;
  };
}

class RestForm<App extends Core> {
  readonly #router: AnyTRPCRouter;
  readonly #app: App;
  readonly #frontEnd: FrontEnd;
  readonly #dispatcher: Dispatcher<App>;
  readonly #ending: AbortSignal;
  readonly #documents = new Map<string, ProcedureDocument>();

  constructor({ router, app, frontEnd, dispatcher, ending }: HandlerOptions<App>) {
    this.#router = router;
    this.#app = app;
    this.#frontEnd = frontEnd;
    this.#dispatcher = dispatcher;
    this.#ending = ending;
  }

  async answer(exchange: Exchange, target: Target): Promise<void> {
    const { request, response, requestId } = exchange;
    const { method = '' } = request;
    requireOneHost(request);
    const found = findPath(`${PREFIX}${target.path}`);
    if (!found) throw unknownPath();
    const allow = allowedMethods(found.routes);
    if (method === 'OPTIONS') return exchange.send(204, { allow }, null);
    const route = found.routes.find((each) => each.method === (method === 'HEAD' ? 'GET' : method));
    if (!route) {
      throw new WireError('METHOD_NOT_SUPPORTED', `This address supports ${allow}`, { headers: { allow } });
    }
    const takesBody = route.input === 'body';
    if (!takesBody) exchange.drain();
    const body = takesBody ? await exchange.readBody() : null;
    const isBatch = route.ofArrays !== undefined && isArray(body);
    const procedure = isBatch && route.ofArrays ? route.ofArrays.procedure : route.procedure;
    const document = this.#documentOf(procedure);
    const ctx: RequestContext<App> = {
      app: this.#app,
      caller: this.#frontEnd.callerOf(request, requestId),
    };
    const received = { request, query: target.query, body, fields: found.fields };
    const call: Call = {
      method: document.type === 'mutation' ? 'mutation' : 'query',
      path: procedure,
      input: once(() => readInput(route, document, received)),
      refusesUnknown: true,
    };
    if (document.type === 'subscription') return this.#stream(exchange, ctx, target, call);
    const answered = await this.#dispatcher.call(ctx, call, { response, isBatch: false });
    if (!('result' in answered.outcome)) return refuse(exchange, answered);
    const { json } = answered.outcome.result;
    const { status, headers } = isBatch ? ofBatch(json) : ofOne(route, target, json);
    exchange.send(status, headers, status === 204 ? null : { type: JSON_TYPE, content: json });
  }

  async #stream(exchange: Exchange, ctx: RequestContext<App>, target: Target, call: Call): Promise<void> {
    const { request, response, requestId } = exchange;
    const subscribing = { request, response, target, call };
    const messages = await started(await subscribe(this.#dispatcher, ctx, this.#ending, subscribing));
    exchange.beginStream(STREAM_HEADERS);
    // The answer to HEAD has no body, and the stream would never end.
    if (request.method === 'HEAD') return void response.end();
    const describe = (error: unknown) => problemOf(describeFailure(ctx, call.path, error), requestId);
    await sendTexts(writePlainFrames({ messages, describe }), response);
  }

  /** The description of a procedure, made on first use: describing all takes a good part of a second. */
  #documentOf(procedure: string): ProcedureDocument {
    const document = this.#documents.get(procedure) ?? describeProcedure(this.#router, procedure);
    if (!document) throw unknownPath();
    this.#documents.set(procedure, document);
    return document;
  }
}

function unknownPath(): WireError {
  return new WireError('NOT_FOUND', 'Not found: see /docs for all endpoints');
}

function fail(exchange: Exchange, error: unknown): void {
  const failure = exchange.failed(error);
  if (!failure) return;
  const { body, headers } = failure;
  refuse(exchange, { status: body.data.httpStatus, outcome: { error: body }, headers });
}

/** Answers with a problem. */
function refuse(exchange: Exchange, { status, outcome, headers }: Answer): void {
  if (!('error' in outcome)) return;
  const content = JSON.stringify(problemOf(outcome.error, exchange.requestId));
  const challenge: Headers = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  exchange.send(status, { ...headers, ...challenge }, { type: PROBLEM_TYPE, content });
}

/**
 * The messages of a subscription that was not refused at once, as it is when too many are open.
 * @throws the refusal
 */
async function started(messages: AsyncIterable<unknown>): Promise<AsyncIterable<unknown>> {
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

/** The media type of RFC 9457. */
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** An error in the form of RFC 9457. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The code of the error, as in answers of /trpc. */
  readonly code: string;
  readonly requestId: string;
  readonly issues?: readonly { path: string; message: string }[];
}

/** Converts the body of an error to a problem. */
function problemOf({ message, data }: ErrorBody, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: STATUS_CODES[data.httpStatus] ?? 'Error',
    status: data.httpStatus,
    detail: message,
    code: data.code,
    requestId,
    ...(data.issues && { issues: data.issues }),
  };
}
