import { pipeline } from 'node:stream/promises';
import { IGNORED_HEADER, ignoredHeader, ignoredPaths } from '@gantry/contract/errors';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Core, RequestContext } from '../platform/context.ts';
import { bytesOf } from './budgets.ts';
import type { Answer, Dispatcher } from './dispatch.ts';
import { sendTexts } from './event-stream.ts';
import {
  Exchange,
  type FrontEnd,
  type Headers,
  JSON_TYPE,
  type RequestHandler,
  requireOneHost,
} from './exchange.ts';
import { metaText, ReadyAnswer, resultEnvelope } from './output.ts';
import { type BatchForm, readRequest, type Target, trpcTarget } from './request.ts';
import { isEventSource, openSubscription, STREAM_HEADERS, subscriptionsOf } from './subscription.ts';

export interface HandlerOptions<App> {
  readonly router: AnyTRPCRouter;
  readonly app: App;
  readonly frontEnd: FrontEnd;
  readonly dispatcher: Dispatcher<App>;
  /** Aborted when streams must end because the service is stopping. */
  readonly ending: AbortSignal;
}

/**
 * Creates the handler of requests to /trpc. It is called by Node's HTTP server directly: of the 85 µs that an event took,
 * Fastify took 8.
 */
export function createHandler<App extends Core>(options: HandlerOptions<App>): RequestHandler {
  const { router, app, frontEnd, dispatcher, ending } = options;
  const subscriptions = subscriptionsOf(router);
  const about = router._def._config.sse?.client ?? {};

  const answer = async (exchange: Exchange, target: Target): Promise<void> => {
    const { request, response, requestId } = exchange;
    const { method = '', headers } = request;
    requireOneHost(request);
    if (method !== 'POST') exchange.drain();
    const body = method === 'POST' ? await exchange.readBody() : null;
    const ctx: RequestContext<App> = { app, caller: frontEnd.callerOf(request, requestId) };
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
      const texts = isHead ? null : await openSubscription(dispatcher, ctx, { about, ending }, subscribing);
      exchange.beginStream(STREAM_HEADERS);
      if (texts) return sendTexts(texts, response);
      response.end();
      return;
    }
    const answered = refused ?? (await dispatcher.call(ctx, only, { response, isBatch: false }));
    exchange.send(answered.status, answered.headers, { type: JSON_TYPE, content: alone(answered) });
  };

  return (request, response) => {
    const target = trpcTarget(request.url ?? '');
    if (!target) return false;
    const exchange = new Exchange(frontEnd, request, response);
    answer(exchange, target).catch((error: unknown) => fail(exchange, error));
    return true;
  };
}

function fail(exchange: Exchange, error: unknown): void {
  const failure = exchange.failed(error);
  if (!failure) return;
  const { body, headers } = failure;
  const content = JSON.stringify({ error: { json: body } });
  exchange.send(body.data.httpStatus, headers, { type: JSON_TYPE, content });
}

async function answerBatch(
  exchange: Exchange,
  form: BatchForm,
  pending: readonly Promise<Answer>[],
): Promise<void> {
  if (form === 'lines') {
    exchange.beginStream({ 'content-type': LINES_TYPE });
    const sent = pipeline(streamLines(pending), exchange.response);
    const limited = Promise.all(pending).then((answers) => exchange.limitReading(sizeOf(answers)));
    await Promise.all([sent, limited]);
    return;
  }
  const { status, headers, json } = together(await Promise.all(pending), form);
  exchange.send(status, headers, { type: JSON_TYPE, content: json });
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

/** The media type of the lines, which tRPC's streaming link requests. */
const LINES_TYPE = 'application/jsonl';

/**
 * A batch in the format of tRPC's streaming link: a head that announces all answers, then each answer when it is
 * ready.
 */
async function* streamLines(answers: readonly Promise<Answer>[]): AsyncGenerator<string> {
  yield line(
    JSON.stringify(Object.fromEntries(answers.map((_, position) => [position, announced(position)]))),
  );
  const pending = new Map(
    answers.map((answer, position) => [position, answer.then((settled) => ({ position, settled }))]),
  );
  while (pending.size > 0) {
    const { position, settled } = await Promise.race(pending.values());
    pending.delete(position);
    yield lineOf(position, settled);
  }
}

function line(json: string, values: string | null = null): string {
  return `{"json":${json}${metaText(values)}}\n`;
}

// In tRPC's notation, [[0], [null, 0, 3]] announces a value that follows in the lines of number 3, and [3, 0,
// [[value]]] is such a line.
function announced(position: number) {
  return [[0], [null, 0, position]];
}

function lineOf(position: number, { outcome }: Answer): string {
  if ('error' in outcome) return line(`[${position},0,[[{"error":${JSON.stringify(outcome.error)}}]]]`);
  const { json, values } = outcome.result;
  return line(
    `[${position},0,[[{"result":{"data":${json}}}]]]`,
    values === null ? null : `{"2.0.0.result.data":${values}}`,
  );
}
