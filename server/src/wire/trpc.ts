import { Readable } from 'node:stream';
import type { AnyTRPCRouter } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppContext, RequestContext } from '../context.ts';
import { type Answer, createCaller } from './call.ts';
import { failureOf } from './errors.ts';
import { callerOf, readRequest } from './request.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The status that all answers share, or 207 Multi-Status. */
const commonStatus = (answers: readonly Answer[]): number => {
  const [first] = answers;
  return first && answers.every(({ status }) => status === first.status) ? first.status : 207;
};

const envelopesOf = (answers: readonly Answer[], asArray: boolean): unknown => {
  const envelopes = answers.map(({ envelope }) => envelope);
  return asArray
    ? envelopes
    : Object.fromEntries(envelopes.map((envelope, position) => [position, envelope]));
};

const pathOf = (request: FastifyRequest): string => String(Reflect.get(request.params as object, '*') ?? '');

const send = (
  reply: FastifyReply,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
) => reply.code(status).headers(headers).header('content-type', JSON_TYPE).send(JSON.stringify(body));

/** Serves the API under /trpc. */
export const serveTrpc = (server: FastifyInstance, router: AnyTRPCRouter, app: AppContext): void => {
  const call = createCaller(router);

  /** Hands a streaming link to tRPC's own adapter, after the inputs passed the same checks as everybody's. */
  const stream = async (request: FastifyRequest, reply: FastifyReply, ctx: RequestContext) => {
    const url = new URL(request.url, 'http://localhost');
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (typeof value === 'string') headers.set(name, value);
    }
    const hasBody = request.method === 'POST' && request.body instanceof Buffer;
    const response = await fetchRequestHandler({
      endpoint: '/trpc',
      router,
      req: new Request(url, {
        method: request.method,
        headers,
        ...(hasBody && { body: new Uint8Array(request.body as Buffer) }),
      }),
      createContext: () => ctx,
      onError: ({ error, path }) => {
        if (failureOf(error).unexpected) {
          app.log.error({ err: error, requestId: ctx.caller.requestId, procedure: path }, 'a call failed');
        }
      },
    });
    reply.code(response.status).headers(Object.fromEntries(response.headers));
    return reply.send(response.body ? Readable.fromWeb(response.body as never) : null);
  };

  server.all('/trpc/*', async (request, reply) => {
    const ctx: RequestContext = { app, caller: callerOf(request) };
    const asked = readRequest(request, pathOf(request));
    if (asked.streamed) {
      for (const { input } of asked.calls) input();
      return stream(request, reply, ctx);
    }
    if (!asked.batch) {
      const [only] = asked.calls;
      const answer = await call(ctx, only ?? { method: null, path: '', input: () => undefined });
      return send(reply, answer.status, answer.headers, answer.envelope);
    }
    const answers = await Promise.all(asked.calls.map((each) => call(ctx, each)));
    const headers = Object.assign({}, ...answers.map((answer) => answer.headers));
    return send(reply, commonStatus(answers), headers, envelopesOf(answers, asked.asArray));
  });
};
