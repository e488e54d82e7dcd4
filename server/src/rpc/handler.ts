import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { IGNORED_HEADER, ignoredHeader, ignoredPaths } from '@gantry/contract/errors';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Core, RequestContext } from '../platform/context.ts';
import { type AnswerLimits, bytesOf, limitReading } from './answer-budget.ts';
import { LINES_TYPE, streamLines } from './batch-lines.ts';
import { type BodyReader, drain } from './body.ts';
import type { CallerOf } from './caller.ts';
import type { Answer, Dispatcher } from './dispatch.ts';
import { failureOf } from './errors.ts';
import { sendTexts } from './event-stream.ts';
import { commonHeaders, headersForOrigin, requireOneHost } from './headers.ts';
import type { OriginCheck } from './origins.ts';
import { ReadyAnswer, resultEnvelope } from './output.ts';
import { type BatchForm, readRequest, type Target } from './request.ts';
import { isEventSource, openSubscription, STREAM_HEADERS, subscriptionsOf } from './subscription.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A request to /trpc and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

type Headers = Readonly<Record<string, string>>;

/** Handles requests to /trpc. */
export type Handler = (request: IncomingMessage, response: ServerResponse, target: Target) => void;

export interface HandlerOptions<App> {
  readonly router: AnyTRPCRouter;
  readonly app: App;
  /** All forms of requests share it, so that their bodies are limited together. */
  readonly bodies: BodyReader;
  /** Both forms of the API share it, so that their answers are limited together. */
  readonly dispatcher: Dispatcher<App>;
  readonly limits: AnswerLimits;
  readonly allowed: OriginCheck;
  readonly callerOf: CallerOf;
  /** Whether the service is stopping, so that no connection is kept for another request. */
  readonly isClosing: () => boolean;
  /** Aborted when streams must end because the service is stopping. */
  readonly ending: AbortSignal;
}

/**
 * Creates the handler of requests to /trpc. It is called by Node's HTTP server directly: of the 85 µs that an event took,
 * Fastify took 8.
 */
export function createHandler<App extends Core>(options: HandlerOptions<App>): Handler {
  const { router, app, bodies, dispatcher, allowed, callerOf, isClosing } = options;
  const subscriptions = subscriptionsOf(router);
  const about = router._def._config.sse?.client ?? {};

  /** The common headers. While the service is stopping, it also makes the connection end with the answer. */
  const beginOf = ({ request, response, requestId }: Exchange): string[] => {
    if (isClosing()) response.shouldKeepAlive = false;
    return [...commonHeaders(requestId), ...headersForOrigin(request.headers.origin, allowed)];
  };

  const send = (exchange: Exchange, status: number, headers: Headers, json: string | Buffer): void => {
    const { response } = exchange;
    const bytes = Buffer.byteLength(json);
    const head = beginOf(exchange);
    for (const [name, value] of Object.entries(headers)) head.push(name, value);
    head.push('content-type', JSON_TYPE, 'content-length', String(bytes));
    response.writeHead(status, head);
    response.end(json);
    limitReading(response, bytes, options.limits);
  };

  const beginStream = (exchange: Exchange, headers: Headers): void => {
    const { response } = exchange;
    const head = beginOf(exchange);
    for (let at = 0; at < head.length; at += 2) response.setHeader(head[at] ?? '', head[at + 1] ?? '');
    // Headers of the stream override the common ones.
    response.writeHead(200, headers);
  };

  const fail = (exchange: Exchange, error: unknown): void => {
    const { request, response, requestId } = exchange;
    if (response.headersSent) {
      // The answer cannot be sent. Usually the client has left.
      if (!response.destroyed) app.log.error({ err: error, requestId }, 'a stream failed');
      response.destroy();
      return;
    }
    const { body, headers, unexpected } = failureOf(error);
    if (unexpected) app.log.error({ err: error, requestId }, 'a request failed');
    drain(request, response);
    send(exchange, body.data.httpStatus, headers, JSON.stringify({ error: { json: body } }));
  };

  const answerBatch = async (
    exchange: Exchange,
    form: BatchForm,
    pending: readonly Promise<Answer>[],
  ): Promise<void> => {
    const { response } = exchange;
    if (form === 'lines') {
      beginStream(exchange, { 'content-type': LINES_TYPE });
      const limitLines = (answers: readonly Answer[]): void =>
        limitReading(response, sizeOf(answers), options.limits);
      await Promise.all([pipeline(streamLines(pending), response), Promise.all(pending).then(limitLines)]);
      return;
    }
    const { status, headers, json } = together(await Promise.all(pending), form);
    send(exchange, status, headers, json);
  };

  const answer = async (exchange: Exchange, target: Target): Promise<void> => {
    const { request, response, requestId } = exchange;
    const { method = '', headers } = request;
    requireOneHost(request);
    if (method !== 'POST') drain(request, response);
    const body = method === 'POST' ? await bodies.read(request, response) : null;
    const ctx: RequestContext<App> = { app, caller: callerOf(request, requestId) };
    const { calls, batch } = readRequest({ method, headers, target, body });
    const [only] = calls;
    if (batch || !only) {
      dispatcher.weigh(calls);
      const place = { response, isBatch: true };
      const pending = calls.map((each) => dispatcher.call(ctx, each, place));
      return answerBatch(exchange, batch ?? 'object', pending);
    }
    const isSubscription = only.method === 'query' && subscriptions.has(only.path);
    // An EventSource accepts only a stream, so a refusal is sent within one.
    const refused = isSubscription && !isEventSource(request) ? await dispatcher.refuse(ctx, only) : null;
    if (isSubscription && !refused) {
      // The answer to HEAD has no body, and a stream would never end, so none is opened.
      const isHead = method === 'HEAD';
      const subscribing = { request, response, target, call: only };
      const texts = isHead
        ? null
        : await openSubscription(dispatcher, ctx, { about, ending: options.ending }, subscribing);
      beginStream(exchange, STREAM_HEADERS);
      if (texts) return sendTexts(texts, response);
      response.end();
      return;
    }
    const answered = refused ?? (await dispatcher.call(ctx, only, { response, isBatch: false }));
    send(exchange, answered.status, answered.headers, alone(answered));
  };

  return (request, response, target) => {
    const exchange = { request, response, requestId: randomUUID() };
    answer(exchange, target).catch((error: unknown) => fail(exchange, error));
  };
}

/** The status that all answers have in common, or 207 Multi-Status. */
function commonStatus(answers: readonly Answer[]): number {
  const [first] = answers;
  return first && answers.every(({ status }) => status === first.status) ? first.status : 207;
}

/** The size of the results of calls, in bytes. Errors are small and not counted. */
function sizeOf(answers: readonly Answer[]): number {
  return answers.reduce((sum, { outcome }) => sum + ('result' in outcome ? bytesOf(outcome.result) : 0), 0);
}

function envelopeOf({ outcome }: Answer): string {
  if ('error' in outcome) return `{"error":{"json":${JSON.stringify(outcome.error)}}}`;
  return resultEnvelope(outcome.result);
}

/** The body for a request with a single call. A body that is sent to many clients is not built again. */
function alone(answer: Answer): string | Buffer {
  return 'result' in answer.outcome && answer.outcome.result instanceof ReadyAnswer
    ? answer.outcome.result.envelope
    : envelopeOf(answer);
}

/** The headers of the answers of a batch. Of fields that were ignored, each is named with the position of its call. */
function headersOf(answers: readonly Answer[]): Headers {
  const headers = Object.assign({}, ...answers.map((answer) => answer.headers));
  if (!(IGNORED_HEADER in headers)) return headers;
  const paths = answers.flatMap((answer, position) =>
    ignoredPaths(answer.headers[IGNORED_HEADER] ?? '').map((path) => `${position}.${path}`),
  );
  return { ...headers, [IGNORED_HEADER]: ignoredHeader(paths) };
}

/** The answers of a batch as one. */
function together(answers: readonly Answer[], form: 'object' | 'array') {
  const envelopes = answers.map(envelopeOf);
  const json =
    form === 'array'
      ? `[${envelopes.join(',')}]`
      : `{${envelopes.map((each, position) => `"${position}":${each}`).join(',')}}`;
  return {
    status: commonStatus(answers),
    headers: headersOf(answers),
    json,
  };
}
