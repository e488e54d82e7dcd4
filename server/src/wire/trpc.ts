import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext, RequestContext } from '../context.ts';
import { createBodyReader, drain } from './body.ts';
import { type Answer, createCaller } from './call.ts';
import { metaText } from './output.ts';
import { type BatchForm, callerOf, readRequest } from './request.ts';
import { LINES_TYPE, streamLines } from './stream.ts';
import { isEventSource, serveSubscription, subscriptionsOf } from './subscription.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The status that all answers share, or 207 Multi-Status. */
const commonStatus = (answers: readonly Answer[]): number => {
  const [first] = answers;
  return first && answers.every(({ status }) => status === first.status) ? first.status : 207;
};

const send = (
  reply: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string>>,
  json: string,
): FastifyReply => reply.code(status).headers(headers).header('content-type', JSON_TYPE).send(json);

const envelopeOf = ({ outcome }: Answer): string => {
  if ('error' in outcome) return `{"error":{"json":${JSON.stringify(outcome.error)}}}`;
  const { json, values } = outcome.result;
  return `{"result":{"data":{"json":${json}${metaText(values)}}}}`;
};

const sendBatch = async (
  reply: FastifyReply,
  form: BatchForm,
  pending: readonly Promise<Answer>[],
): Promise<FastifyReply> => {
  if (form === 'lines') return reply.type(LINES_TYPE).send(Readable.from(streamLines(pending)));
  const answers = await Promise.all(pending);
  const envelopes = answers.map(envelopeOf);
  const headers = Object.assign({}, ...answers.map((answer) => answer.headers));
  const json =
    form === 'array'
      ? `[${envelopes.join(',')}]`
      : `{${envelopes.map((each, position) => `"${position}":${each}`).join(',')}}`;
  return send(reply, commonStatus(answers), headers, json);
};

const pathOf = (request: FastifyRequest): string => String(Reflect.get(request.params as object, '*') ?? '');

/**
 * Lets every method through to the handlers with its body unread: what is wrong with the type of a body must wait
 * for the token, and a method that no procedure takes is told so.
 */
const readNoBodies = (server: FastifyInstance): void => {
  for (const method of METHODS) {
    if (method !== 'CONNECT') server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
};

/** Serves the API under /trpc. */
export const serveTrpc = (
  server: FastifyInstance,
  router: AnyTRPCRouter,
  app: AppContext,
  timeoutMs: number,
): void => {
  const caller = createCaller(router, app, timeoutMs);
  const subscriptions = subscriptionsOf(router);
  const bodies = createBodyReader();

  readNoBodies(server);
  server.all('/trpc/*', async (request, reply) => {
    if (request.method !== 'POST') drain(request.raw, reply.raw);
    const body = request.method === 'POST' ? await bodies.read(request.raw, reply.raw) : null;
    const ctx: RequestContext = { app, caller: callerOf(request) };
    const { calls, batch } = readRequest(request, pathOf(request), body);
    const [only] = calls;
    if (batch || !only) {
      const pending = calls.map((each) => caller.call(ctx, each));
      return sendBatch(reply, batch ?? 'object', pending);
    }
    const isSubscription = only.method === 'query' && subscriptions.has(only.path);
    // An EventSource reads no answer but a stream, so it is told of a refusal in one.
    const refused = isSubscription && !isEventSource(request) ? await caller.refuse(ctx, only.path) : null;
    if (isSubscription && !refused) return serveSubscription(router, request, reply, ctx);
    const answer = refused ?? (await caller.call(ctx, only));
    return send(reply, answer.status, answer.headers, envelopeOf(answer));
  });
};
