import { Readable } from 'node:stream';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../context.ts';
import { failureOf } from './errors.ts';

/** The names of the procedures that are subscribed to. */
export const subscriptionsOf = (router: AnyTRPCRouter): ReadonlySet<string> =>
  new Set(
    Object.entries<AnyTRPCProcedure>(router._def.procedures).flatMap(([path, procedure]) =>
      procedure._def.type === 'subscription' ? [path] : [],
    ),
  );

/** Serves server-sent events the way tRPC's subscription link reads them, which tRPC's own adapter knows best. */
export const serveSubscription = async (
  router: AnyTRPCRouter,
  request: FastifyRequest,
  reply: FastifyReply,
  ctx: RequestContext,
): Promise<FastifyReply> => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  const response = await fetchRequestHandler({
    endpoint: '/trpc',
    router,
    req: new Request(new URL(request.url, 'http://localhost'), { headers, signal: left.signal }),
    createContext: () => ctx,
    onError: ({ error, path }) => {
      if (failureOf(error).unexpected) {
        ctx.app.log.error({ err: error, requestId: ctx.caller.requestId, procedure: path }, 'a call failed');
      }
    },
  });
  reply.code(response.status).headers(Object.fromEntries(response.headers));
  return reply.send(response.body ? Readable.fromWeb(response.body as never) : null);
};
