import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { RequestContext } from '../platform/context.ts';
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
export const isEventSource = ({ headers }: IncomingMessage): boolean =>
  headers.accept?.includes('text/event-stream') ?? false;

/** Closes the connection when its other end does not read any more, or has read nothing of the farewell. */
const closeWhenStuck = (response: ServerResponse, draining: AbortSignal): void => {
  response.setTimeout(STUCK_MS, () => response.destroy());
  const farewell = () => void sleep(FAREWELL_MS, undefined, { ref: false }).then(() => response.destroy());
  draining.addEventListener('abort', farewell, { once: true });
  response.once('close', () => draining.removeEventListener('abort', farewell));
};

/** What the head of a stream says beyond that of every answer. */
export const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  vary: 'trpc-accept, accept',
  'x-accel-buffering': 'no',
};

/** A stream of server-sent events, and the head of the answer that carries it. */
export interface OpenSubscription {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: Readable;
}

/** Opens server-sent events the way tRPC's subscription link reads them, which tRPC's own adapter knows best. */
export const openSubscription = async (
  { router, ending }: { readonly router: AnyTRPCRouter; readonly ending: AbortSignal },
  request: IncomingMessage,
  response: ServerResponse,
  ctx: RequestContext,
): Promise<OpenSubscription> => {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === 'string') headers.set(name, value);
  }
  const left = new AbortController();
  response.once('close', () => left.abort());
  closeWhenStuck(response, ending);
  const opened = await fetchRequestHandler({
    endpoint: '/trpc',
    router,
    req: new Request(new URL(request.url ?? '', 'http://localhost'), { headers, signal: left.signal }),
    createContext: () => ctx,
    onError: ({ error, path }) => {
      if (failureOf(error).unexpected) {
        ctx.app.log.error({ err: error, requestId: ctx.caller.requestId, procedure: path }, 'a call failed');
      }
    },
  });
  return {
    status: opened.status,
    headers: Object.fromEntries(opened.headers),
    source: opened.body ? Readable.fromWeb(opened.body as never) : Readable.from([]),
  };
};
