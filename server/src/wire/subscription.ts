import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../context.ts';
import { failureOf } from './errors.ts';

/** A stream of which nothing could be written for this long has nobody at its other end: something is said every 10 s. */
const STUCK_MS = 45_000;
/** How long a stream gets to say that it ends, before its connection is closed. */
const FAREWELL_MS = 2_000;

/** The names of the procedures that are subscribed to. */
export const subscriptionsOf = (router: AnyTRPCRouter): ReadonlySet<string> =>
  new Set(
    Object.entries<AnyTRPCProcedure>(router._def.procedures).flatMap(([path, procedure]) =>
      procedure._def.type === 'subscription' ? [path] : [],
    ),
  );

/** Whether the caller reads nothing but server-sent events. */
export const isEventSource = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/event-stream') ?? false;

/** Closes the connection when its other end does not read any more, or has read nothing of the farewell. */
const closeWhenStuck = ({ raw }: FastifyReply, draining: AbortSignal): void => {
  raw.setTimeout(STUCK_MS, () => raw.destroy());
  const farewell = () => void sleep(FAREWELL_MS, undefined, { ref: false }).then(() => raw.destroy());
  draining.addEventListener('abort', farewell, { once: true });
  raw.once('close', () => draining.removeEventListener('abort', farewell));
};

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
  closeWhenStuck(reply, ctx.app.realtime.ending);
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
